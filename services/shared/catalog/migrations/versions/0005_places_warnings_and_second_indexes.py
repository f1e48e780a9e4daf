"""Places in the original, warnings about how a file was read, and indexes beside the serving one."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)
OF_INDEXES = (
    sa.Column("seq", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
    sa.Column("built_to", KEY, nullable=True),
    sa.Column("vectors", sa.Integer(), nullable=False, server_default=sa.text("0")),
    sa.Column("truncated", sa.Integer(), nullable=False, server_default=sa.text("0")),
    sa.Column("comparison", JSON, nullable=True),
    sa.Column("job_id", KEY, nullable=True),
    sa.Column("reason", sa.Text(), nullable=True),
    sa.Column("promotion", sa.String(16), nullable=True),
    sa.Column("promoted_at", sa.DateTime(timezone=True), nullable=True),
)


def upgrade() -> None:
    """What is stored already has no places and no warnings, and each index serves."""
    op.add_column("chunks", sa.Column("places", JSON, nullable=True))
    op.add_column("versions", sa.Column("warning", sa.Text(), nullable=True))
    for column in OF_INDEXES:
        op.add_column("indexes", column.copy())


def downgrade() -> None:
    """The releases before know the serving index only."""
    op.execute("DELETE FROM calibrations WHERE index_id IN (SELECT id FROM indexes WHERE state <> 'serving')")
    op.execute("DELETE FROM indexes WHERE state <> 'serving'")
    for column in reversed(OF_INDEXES):
        op.drop_column("indexes", column.name)
    op.drop_column("versions", "warning")
    op.drop_column("chunks", "places")
