"""Golden questions with the passages that they name, feedback on answers, and evaluations with their outcomes."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Written out here rather than taken from schema.py, which later releases change.
KEY = sa.String().with_variant(sa.Text(collation="C"), "postgresql")
MOMENT = sa.DateTime(timezone=True)
WORD = sa.String(16)
JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Makes every table, those that others refer to first."""
    _golden()
    _feedback()
    _evaluations()


def downgrade() -> None:
    """The releases before knew none of them."""
    for name in (
        *("evaluation_outcomes", "evaluations"),
        *("feedback_sources", "feedback"),
        *("golden_spans", "golden"),
    ):
        op.drop_table(name)


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, KEY, nullable=False, primary_key=True)


def _must(name: str, type_: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=False)


def _may(name: str, type_: TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, type_, nullable=True)


def _of_space(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=f"fk_{table}_space")


def _part_of(parent: str, column: str, table: str, name: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id", column], [f"{parent}.space_id", f"{parent}.id"], name=f"fk_{table}_{name}", ondelete="CASCADE"
    )


def _golden() -> None:
    op.create_table(
        "golden",
        _key("space_id"),
        _key("id"),
        _must("question", JSON),
        _must("state", WORD),
        _must("origin", WORD),
        _may("flagged", sa.Text()),
        _must("updated_at", MOMENT),
        _of_space("golden"),
    )
    op.create_table(
        "golden_spans",
        _key("space_id"),
        _key("golden_id"),
        sa.Column("n", sa.Integer(), nullable=False, primary_key=True),
        _must("document_id", KEY),
        _may("quote", sa.Text()),
        _may("fault", sa.Text()),
        _part_of("golden", "golden_id", "golden_spans", "golden"),
    )
    op.create_index("ix_golden_spans_document", "golden_spans", ["space_id", "document_id"])


def _feedback() -> None:
    op.create_table(
        "feedback",
        _key("space_id"),
        _key("id"),
        _must("answer_id", KEY),
        _must("question", sa.Text()),
        _must("answer_text", sa.Text()),
        _must("answer_status", WORD),
        _must("verdict", WORD),
        _may("comment", sa.Text()),
        _must("state", WORD),
        _may("golden_id", KEY),
        _must("created_at", MOMENT),
        _of_space("feedback"),
    )
    op.create_index("ix_feedback_listed", "feedback", ["space_id", "created_at", "id"])
    op.create_index("ix_feedback_answer", "feedback", ["space_id", "answer_id"])
    op.create_table(
        "feedback_sources",
        _key("space_id"),
        _key("feedback_id"),
        _key("document_id"),
        _part_of("feedback", "feedback_id", "feedback_sources", "feedback"),
    )
    op.create_index("ix_feedback_sources_document", "feedback_sources", ["space_id", "document_id"])


def _evaluations() -> None:
    op.create_table(
        "evaluations",
        _key("space_id"),
        _key("id"),
        _must("job_id", KEY),
        _must("name", sa.Text()),
        _must("subject", WORD),
        _must("fingerprint", WORD),
        _must("question_count", sa.Integer()),
        _must("request", JSON),
        _must("questions", JSON),
        _may("finished", sa.Text()),
        _may("markdown", sa.Text()),
        _may("html", sa.Text()),
        _may("metrics", JSON),
        _may("vetoed", sa.Boolean()),
        _must("created_at", MOMENT),
        _of_space("evaluations"),
    )
    op.create_index("uq_evaluations_id", "evaluations", ["id"], unique=True)
    op.create_index("ix_evaluations_listed", "evaluations", ["space_id", "created_at", "id"])
    op.create_table(
        "evaluation_outcomes",
        _key("space_id"),
        _key("evaluation_id"),
        _key("question_id"),
        _key("variant"),
        _must("outcome", JSON),
        _part_of("evaluations", "evaluation_id", "evaluation_outcomes", "evaluation"),
    )
