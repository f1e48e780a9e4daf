"""The tables of the catalog, the same for SQLite and PostgreSQL.

The migrations make them; a test proves that both say the same. Every key begins with the space, because
version and chunk ids follow from content: two spaces that hold the same document hold the same ids.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)

from services.shared.catalog.columns import KEY, STORED_JSON, UtcDateTime

tables = MetaData()

spaces = Table(
    "spaces",
    tables,
    Column("id", KEY, primary_key=True),
    Column("seq", BigInteger, nullable=False, server_default=text("0")),
    Column("created_at", UtcDateTime, nullable=False),
)

documents = Table(
    "documents",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("last_revision", Integer, nullable=False),
    # What last_revision is to become; null after a deletion.
    Column("last_version_id", KEY),
    Column("live_revision", Integer),
    Column("live_version_id", KEY),
    Column("deleted_revision", Integer, nullable=False, server_default=text("0")),
    Column("origin", KEY),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    # When last_revision was said: a batch says all its lines at the moment when it was sent.
    Column("last_sent_at", UtcDateTime),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_documents_space"),
)

versions = Table(
    "versions",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("document_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("blob_sha256", KEY, nullable=False),
    Column("filename", Text),
    Column("media_type", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("title", Text, nullable=False),
    Column("type", KEY),
    Column("tags", STORED_JSON, nullable=False),
    Column("source", Text),
    Column("metadata", STORED_JSON, nullable=False),
    Column("language", Text),
    Column("warning", Text),
    Column("text", Text, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    # Its chunk rows are there: it is staged or live.
    Column("has_chunks", Boolean, nullable=False),
    # Null while it was never live, so that nothing can cite it.
    Column("published_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "document_id"], ["documents.space_id", "documents.id"], name="fk_versions_document"
    ),
    Index("ix_versions_blob", "blob_sha256"),
)

chunks = Table(
    "chunks",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("document_id", KEY, nullable=False),
    Column("version_id", KEY, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("lead", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("section", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("search_text", Text, nullable=False),
    # Pages, rows or parts of the original that it covers: [[offset, label], …]; null where there are none.
    Column("places", STORED_JSON),
    ForeignKeyConstraint(
        ["space_id", "document_id", "version_id"],
        ["versions.space_id", "versions.document_id", "versions.id"],
        name="fk_chunks_version",
    ),
    Index("ix_chunks_version", "space_id", "version_id", "ordinal"),
)

changes = Table(
    "changes",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("document_id", KEY, nullable=False),
    Column("version_id", KEY),
    Column("old_version_id", KEY),
    Column("at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_changes_space"),
)

jobs = Table(
    "jobs",
    tables,
    Column("id", KEY, primary_key=True),
    Column("space_id", KEY, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("queue", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("stage", Text),
    Column("done", Integer, nullable=False),
    Column("total", Integer),
    Column("attempts", Integer, nullable=False),
    Column("reason", Text),
    Column("warning", Text),
    Column("document_id", KEY),
    Column("revision", Integer),
    Column("payload", STORED_JSON, nullable=False),
    Column("result", STORED_JSON),
    Column("lease_owner", KEY),
    Column("lease_until", UtcDateTime),
    Column("cancel_requested", Boolean, nullable=False, server_default=false()),
    Column("rung_at", UtcDateTime),
    Column("request_id", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("ix_jobs_waiting", "state", "queue", "created_at"),
    Index("ix_jobs_listed", "space_id", "created_at", "id"),
    Index("ix_jobs_document", "space_id", "document_id"),
)

job_items = Table(
    "job_items",
    tables,
    Column("job_id", KEY, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("document_id", KEY),
    Column("state", String(16), nullable=False),
    Column("unchanged", Boolean, nullable=False),
    Column("reason", Text),
    ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_items_job", ondelete="CASCADE"),
    Index("ix_job_items_document", "document_id"),
)

_SERVING = text("state = 'serving'")

indexes = Table(
    "indexes",
    tables,
    Column("id", KEY, primary_key=True),
    Column("space_id", KEY, nullable=False),
    Column("state", String(16), nullable=False),
    Column("embedder", STORED_JSON, nullable=False),
    Column("collection", Text, nullable=False),
    # The change up to which it is level with the content; of no meaning while it serves.
    Column("seq", BigInteger, nullable=False, server_default=text("0")),
    # While it is built: the last chunk that has its vector. Null before and after.
    Column("built_to", KEY),
    Column("vectors", Integer, nullable=False, server_default=text("0")),
    Column("truncated", Integer, nullable=False, server_default=text("0")),
    Column("comparison", STORED_JSON),
    Column("job_id", KEY),
    Column("reason", Text),
    # asked, forced: to be promoted as soon as it is level; null is not.
    Column("promotion", String(16)),
    Column("promoted_at", UtcDateTime),
    Column("created_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_indexes_space"),
    Index("uq_indexes_serving", "space_id", unique=True, sqlite_where=_SERVING, postgresql_where=_SERVING),
)

api_keys = Table(
    "api_keys",
    tables,
    Column("id", KEY, primary_key=True),
    # SHA-256 of the secret, in hex; the secret itself is nowhere.
    Column("hash", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("role", String(16), nullable=False),
    # Of a read or write key; it may name a space that nothing was written to yet.
    Column("space", KEY),
    Column("public", Boolean, nullable=False),
    Column("allowed_origins", STORED_JSON, nullable=False),
    Column("requests_per_minute", BigInteger),
    Column("daily_tokens", BigInteger),
    # Made by a process of Ragstone for itself.
    Column("internal", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
)
