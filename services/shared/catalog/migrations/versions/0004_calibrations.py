"""Calibrations of indexes, and the questions that a calibration under way asks."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """A calibration goes with its index, and questions under way with their job."""
    op.create_table(
        "calibrations",
        sa.Column("space_id", KEY, nullable=False, primary_key=True),
        sa.Column("index_id", KEY, nullable=False, primary_key=True),
        sa.Column("content", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_calibrations_space"),
        sa.ForeignKeyConstraint(["index_id"], ["indexes.id"], name="fk_calibrations_index", ondelete="CASCADE"),
    )
    op.create_table(
        "calibration_cases",
        sa.Column("job_id", KEY, nullable=False, primary_key=True),
        sa.Column("n", sa.Integer(), nullable=False, primary_key=True),
        sa.Column("asked", JSON, nullable=False),
        sa.Column("seen", JSON, nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_calibration_cases_job", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """The releases before decided by hand-set values only."""
    op.drop_table("calibration_cases")
    op.drop_table("calibrations")
