"""The tables of measuring: golden questions, feedback, gaps, evaluations and calibrations."""

from sqlalchemy import Boolean, Column, ForeignKeyConstraint, Index, Integer, String, Table, Text

from services.shared.catalog.columns import KEY, STORED_JSON, UtcDateTime
from services.shared.catalog.schema import tables

golden = Table(
    "golden",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("question", STORED_JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("origin", String(16), nullable=False),
    # The first fault of its spans.
    Column("flagged", Text),
    Column("updated_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_golden_space"),
)

golden_spans = Table(
    "golden_spans",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("golden_id", KEY, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("document_id", KEY, nullable=False),
    Column("quote", Text),
    # Why the live document does not bear it out; null while it does.
    Column("fault", Text),
    ForeignKeyConstraint(
        ["space_id", "golden_id"], ["golden.space_id", "golden.id"], name="fk_golden_spans_golden", ondelete="CASCADE"
    ),
    Index("ix_golden_spans_document", "space_id", "document_id"),
)

feedback = Table(
    "feedback",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("answer_id", KEY, nullable=False),
    Column("question", Text, nullable=False),
    Column("answer_text", Text, nullable=False),
    Column("answer_status", String(16), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("comment", Text),
    Column("state", String(16), nullable=False),
    Column("golden_id", KEY),
    Column("created_at", UtcDateTime, nullable=False),
    # What the answer rested on; null for feedback of releases that did not keep it.
    Column("evidence", STORED_JSON),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_feedback_space"),
    Index("ix_feedback_listed", "space_id", "created_at", "id"),
    Index("ix_feedback_answer", "space_id", "answer_id"),
)

feedback_sources = Table(
    "feedback_sources",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("feedback_id", KEY, primary_key=True),
    Column("document_id", KEY, primary_key=True),
    ForeignKeyConstraint(
        ["space_id", "feedback_id"],
        ["feedback.space_id", "feedback.id"],
        name="fk_feedback_sources_feedback",
        ondelete="CASCADE",
    ),
    Index("ix_feedback_sources_document", "space_id", "document_id"),
)

gaps = Table(
    "gaps",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    # These, the counts and the times follow from its wordings.
    Column("question", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("asked", Integer, nullable=False),
    Column("judged_bad", Integer, nullable=False),
    Column("weight", Integer, nullable=False),
    # [[document id, title], …] of what was found nearest the last time.
    Column("nearest", STORED_JSON, nullable=False),
    # The fact that an owner added, and the job that brings it in.
    Column("document_id", KEY),
    Column("job_id", KEY),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_gaps_space"),
    Index("ix_gaps_listed", "space_id", "weight", "last_at", "id"),
)

gap_wordings = Table(
    "gap_wordings",
    tables,
    Column("space_id", KEY, primary_key=True),
    # Names the wording, whatever its case and spaces: a wording belongs to one gap.
    Column("key", KEY, primary_key=True),
    Column("gap_id", KEY, nullable=False),
    Column("text", Text, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("judged_bad", Integer, nullable=False),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "gap_id"], ["gaps.space_id", "gaps.id"], name="fk_gap_wordings_gap", ondelete="CASCADE"
    ),
    Index("ix_gap_wordings_gap", "space_id", "gap_id"),
    Index("ix_gap_wordings_last", "last_at"),
)

evaluations = Table(
    "evaluations",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("id", KEY, primary_key=True),
    Column("job_id", KEY, nullable=False),
    Column("name", Text, nullable=False),
    Column("subject", String(16), nullable=False),
    Column("fingerprint", String(16), nullable=False),
    Column("question_count", Integer, nullable=False),
    Column("request", STORED_JSON, nullable=False),
    Column("questions", STORED_JSON, nullable=False),
    # The whole evaluation and its reports, all null until it is finished.
    Column("finished", Text),
    Column("markdown", Text),
    Column("html", Text),
    Column("metrics", STORED_JSON),
    Column("vetoed", Boolean),
    Column("created_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_evaluations_space"),
    Index("uq_evaluations_id", "id", unique=True),
    Index("ix_evaluations_listed", "space_id", "created_at", "id"),
)

evaluation_outcomes = Table(
    "evaluation_outcomes",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("evaluation_id", KEY, primary_key=True),
    Column("question_id", KEY, primary_key=True),
    Column("variant", KEY, primary_key=True),
    Column("outcome", STORED_JSON, nullable=False),
    ForeignKeyConstraint(
        ["space_id", "evaluation_id"],
        ["evaluations.space_id", "evaluations.id"],
        name="fk_evaluation_outcomes_evaluation",
        ondelete="CASCADE",
    ),
)

calibrations = Table(
    "calibrations",
    tables,
    Column("space_id", KEY, primary_key=True),
    Column("index_id", KEY, primary_key=True),
    Column("content", STORED_JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    ForeignKeyConstraint(["space_id"], ["spaces.id"], name="fk_calibrations_space"),
    ForeignKeyConstraint(["index_id"], ["indexes.id"], name="fk_calibrations_index", ondelete="CASCADE"),
)

calibration_cases = Table(
    "calibration_cases",
    tables,
    Column("job_id", KEY, primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("asked", STORED_JSON, nullable=False),
    # What the retriever made of it; null until it was asked.
    Column("seen", STORED_JSON),
    ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_calibration_cases_job", ondelete="CASCADE"),
)
