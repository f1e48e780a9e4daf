"""Questions that the content does not answer, with their wordings; and what a judged answer rested on."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """None yet; feedback that is there keeps its answers without evidence."""
    op.create_table(
        "gaps",
        sa.Column("space_id", KEY, nullable=False, primary_key=True),
        sa.Column("id", KEY, nullable=False, primary_key=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("judged_bad", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("nearest", JSON, nullable=False),
        sa.Column("document_id", KEY, nullable=True),
        sa.Column("job_id", KEY, nullable=True),
        sa.Column("first_at", MOMENT, nullable=False),
        sa.Column("last_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_gaps_space"),
    )
    op.create_index("ix_gaps_listed", "gaps", ["space_id", "weight", "last_at", "id"])
    op.create_table(
        "gap_wordings",
        sa.Column("space_id", KEY, nullable=False, primary_key=True),
        sa.Column("key", KEY, nullable=False, primary_key=True),
        sa.Column("gap_id", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("judged_bad", sa.Integer(), nullable=False),
        sa.Column("first_at", MOMENT, nullable=False),
        sa.Column("last_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "gap_id"], ["gaps.space_id", "gaps.id"], name="fk_gap_wordings_gap", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_gap_wordings_gap", "gap_wordings", ["space_id", "gap_id"])
    op.create_index("ix_gap_wordings_last", "gap_wordings", ["last_at"])
    op.add_column("feedback", sa.Column("evidence", JSON, nullable=True))


def downgrade() -> None:
    """The releases before note nothing."""
    op.drop_column("feedback", "evidence")
    op.drop_table("gap_wordings")
    op.drop_table("gaps")
