"""An index that finds a document's lines in batches, which a deletion looks for."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Lines that are recorded already are found by it as well."""
    op.create_index("ix_job_items_document", "job_items", ["document_id"])


def downgrade() -> None:
    """The releases before read all lines."""
    op.drop_index("ix_job_items_document", "job_items")
