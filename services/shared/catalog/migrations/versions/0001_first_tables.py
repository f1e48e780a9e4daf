"""The first tables: spaces, documents, versions, chunks, changes, jobs and indexes."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True)
WORD = sa.String(16)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Makes every table, those that others refer to first."""
    _spaces_and_documents()
    _versions()
    _chunks_and_changes()
    _jobs()
    _indexes()


def downgrade() -> None:
    """There is nothing before the first tables."""
    for name in ("indexes", "job_items", "jobs", "changes", "chunks", "versions", "documents", "spaces"):
        op.drop_table(name)


def _must(name: str, type_: TypeEngine[Any], **more: Any) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=False, **more)


def _may(name: str, type_: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=True)


def _spaces_and_documents() -> None:
    op.create_table(
        "spaces",
        _must("id", KEY, primary_key=True),
        _must("seq", sa.BigInteger(), server_default=sa.text("0")),
        _must("created_at", MOMENT),
    )
    op.create_table(
        "documents",
        _must("space_id", KEY, primary_key=True),
        _must("id", KEY, primary_key=True),
        _must("last_revision", sa.Integer()),
        _may("last_version_id", KEY),
        _may("live_revision", sa.Integer()),
        _may("live_version_id", KEY),
        _must("deleted_revision", sa.Integer(), server_default=sa.text("0")),
        _may("origin", KEY),
        _must("created_at", MOMENT),
        _must("updated_at", MOMENT),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_documents_space"),
    )


def _versions() -> None:
    op.create_table(
        "versions",
        _must("space_id", KEY, primary_key=True),
        _must("document_id", KEY, primary_key=True),
        _must("id", KEY, primary_key=True),
        _must("blob_sha256", KEY),
        _may("filename", sa.Text()),
        _must("media_type", sa.Text()),
        _must("size_bytes", sa.BigInteger()),
        _must("title", sa.Text()),
        _may("type", KEY),
        _must("tags", JSON),
        _may("source", sa.Text()),
        _must("metadata", JSON),
        _may("language", sa.Text()),
        _must("text", sa.Text()),
        _must("chunk_count", sa.Integer()),
        _must("has_chunks", sa.Boolean()),
        _may("published_at", MOMENT),
        _must("created_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["space_id", "document_id"], ["documents.space_id", "documents.id"], name="fk_versions_document"
        ),
    )
    op.create_index("ix_versions_blob", "versions", ["blob_sha256"])


def _chunks_and_changes() -> None:
    op.create_table(
        "chunks",
        _must("space_id", KEY, primary_key=True),
        _must("id", KEY, primary_key=True),
        _must("document_id", KEY),
        _must("version_id", KEY),
        _must("ordinal", sa.Integer()),
        _must("text", sa.Text()),
        _must("lead", sa.Integer()),
        _must("start", sa.Integer()),
        _must("end", sa.Integer()),
        _must("section", sa.Text()),
        _must("kind", WORD),
        _must("search_text", sa.Text()),
        sa.ForeignKeyConstraint(
            ["space_id", "document_id", "version_id"],
            ["versions.space_id", "versions.document_id", "versions.id"],
            name="fk_chunks_version",
        ),
    )
    op.create_index("ix_chunks_version", "chunks", ["space_id", "version_id", "ordinal"])
    op.create_table(
        "changes",
        _must("space_id", KEY, primary_key=True),
        _must("seq", sa.BigInteger(), primary_key=True),
        _must("kind", WORD),
        _must("document_id", KEY),
        _may("version_id", KEY),
        _may("old_version_id", KEY),
        _must("at", MOMENT),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_changes_space"),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        _must("id", KEY, primary_key=True),
        _must("space_id", KEY),
        _must("kind", WORD),
        _must("queue", WORD),
        _must("state", WORD),
        _may("stage", sa.Text()),
        _must("done", sa.Integer()),
        _may("total", sa.Integer()),
        _must("attempts", sa.Integer()),
        _may("reason", sa.Text()),
        _may("warning", sa.Text()),
        _may("document_id", KEY),
        _may("revision", sa.Integer()),
        _must("payload", JSON),
        _may("result", JSON),
        _may("lease_owner", KEY),
        _may("lease_until", MOMENT),
        _must("cancel_requested", sa.Boolean(), server_default=sa.false()),
        _may("rung_at", MOMENT),
        _must("request_id", sa.Text()),
        _must("created_at", MOMENT),
        _must("updated_at", MOMENT),
    )
    op.create_index("ix_jobs_waiting", "jobs", ["state", "queue", "created_at"])
    op.create_index("ix_jobs_listed", "jobs", ["space_id", "created_at", "id"])
    op.create_index("ix_jobs_document", "jobs", ["space_id", "document_id"])
    op.create_table(
        "job_items",
        _must("job_id", KEY, primary_key=True),
        _must("n", sa.Integer(), primary_key=True),
        _may("document_id", KEY),
        _must("state", WORD),
        _must("unchanged", sa.Boolean()),
        _may("reason", sa.Text()),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_job_items_job", ondelete="CASCADE"),
    )


def _indexes() -> None:
    op.create_table(
        "indexes",
        _must("id", KEY, primary_key=True),
        _must("space_id", KEY),
        _must("state", WORD),
        _must("embedder", JSON),
        _must("collection", sa.Text()),
        _must("created_at", MOMENT),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_indexes_space"),
    )
    serving = sa.text("state = 'serving'")
    op.create_index(
        "uq_indexes_serving", "indexes", ["space_id"], unique=True, sqlite_where=serving, postgresql_where=serving
    )
