"""API keys."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """None yet: the gateway stays open to its own machine until its owner makes one."""
    op.create_table(
        "api_keys",
        sa.Column("id", KEY, nullable=False, primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("space", KEY, nullable=True),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("allowed_origins", JSON, nullable=False),
        sa.Column("requests_per_minute", sa.BigInteger(), nullable=True),
        sa.Column("daily_tokens", sa.BigInteger(), nullable=True),
        sa.Column("internal", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
    )


def downgrade() -> None:
    """The releases before ask nobody for a key."""
    op.drop_table("api_keys")
