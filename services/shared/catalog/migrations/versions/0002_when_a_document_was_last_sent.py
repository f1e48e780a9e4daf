"""When a document was last sent or deleted, so that a batch sent before that does not undo it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Null for what was sent before this release: nothing is known to be newer than a batch."""
    op.add_column("documents", sa.Column("last_sent_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """The first tables know no such time."""
    op.drop_column("documents", "last_sent_at")
