"""Settings of the workers and the reconciler."""

from pydantic import Field

from services.shared.kit.settings import (
    ChromaSettings,
    EmbedderSettings,
    JobSettings,
    LogSettings,
    RedisSettings,
    ServiceSettings,
    StateSettings,
    Table,
)


class WorkSettings(Table):
    """How much a worker takes on, and the limits of a document."""

    worker_concurrency: int = Field(default=1, ge=1, description="Child processes of a worker; each loads the model")
    worker_tasks_per_child: int = Field(
        default=0, ge=0, description="Tasks after which a child process is replaced; 0 is never"
    )
    max_document_bytes: int = Field(default=20_000_000, ge=1, description="Largest document that is read, bytes")
    max_chunks: int = Field(default=10_000, ge=1, description="Most chunks that a document may be cut into")
    chunk_words: int = Field(default=150, ge=20, description="Wanted size of a chunk, words")
    group_jobs: int = Field(default=16, ge=1, description="Document jobs that a worker takes and embeds together")
    group_documents: int = Field(default=64, ge=1, description="Documents of a batch that are embedded together")
    group_chunks: int = Field(default=512, ge=1, description="Chunks after which a group is embedded and published")
    time_slice_s: float = Field(
        default=20.0,
        gt=0,
        description="A batch, a large document or an evaluation makes way for other jobs after this long, seconds",
    )
    ask_timeout_s: float = Field(
        default=300.0, gt=0, description="Longest wait of an evaluation for one answer of the gateway, seconds"
    )


class ParseSettings(Table):
    """What the process that reads files may use up; a file that passes a limit fails alone."""

    parse_timeout_s: float = Field(default=30.0, gt=0, description="Longest reading of one document, seconds")
    parse_first_s: float = Field(
        default=2.5,
        gt=0,
        description="Longest first reading of a document that was sent by itself, seconds; one that takes longer is put"
        " behind the others, and then has the whole time beside them",
    )
    parse_memory_bytes: int = Field(
        default=1_000_000_000, ge=50_000_000, description="Memory that the reading of one document may take, bytes"
    )
    parse_documents_per_process: int = Field(
        default=5_000, ge=1, description="Documents after which the process that reads them is replaced"
    )
    max_text_bytes: int = Field(default=50_000_000, ge=1, description="Most text that one document may hold, bytes")
    archive_max_entries: int = Field(
        default=10_000, ge=1, description="Most entries of a zip-like file (docx, pptx, xlsx, epub)"
    )
    archive_max_bytes: int = Field(
        default=200_000_000, ge=1, description="Most that a zip-like file inflates to, bytes"
    )
    archive_max_ratio: int = Field(
        default=200, ge=1, description="Most times its own size that a zip-like file over 10 MB inflates to"
    )
    archive_max_depth: int = Field(
        default=3, ge=1, description="Deepest nesting of files within files, such as attachments of e-mails"
    )


class ReconcilerSettings(Table):
    """How often the reconciler looks, and what it takes for lost or left over."""

    reconcile_every_s: float = Field(default=5.0, gt=0, description="Pause between two looks at the jobs, seconds")
    ring_after_s: float = Field(
        default=15.0, ge=0, description="A waiting job whose message is older than this is queued again, seconds"
    )
    sweep_every_s: float = Field(default=300.0, gt=0, description="Pause between two sweeps of left-overs, seconds")
    sweep_grace_s: float = Field(
        default=900.0, ge=0, description="Vectors and staged versions younger than this are left alone, seconds"
    )
    mend_every_s: float = Field(default=60.0, gt=0, description="Pause between two looks for lost vectors, seconds")
    mend_grace_s: float = Field(
        default=30.0, gt=0, description="Lost vectors are made again when they were missing this long, seconds"
    )
    blob_grace_s: float = Field(default=3600.0, ge=0, description="Unused originals younger than this stay, seconds")
    keep_jobs_days: float = Field(default=30.0, gt=0, description="Finished jobs are forgotten after this many days")
    answer_keep_s: int = Field(
        default=86_400,
        ge=0,
        description="Questions that were asked for later are forgotten with their answers this long after their end,"
        " seconds, at the next sweep",
    )
    keep_copies_days: float = Field(
        default=7.0,
        ge=0,
        description="The copy of an SQLite catalog from before a migration is removed after this many days",
    )
    gaps_keep_days: float = Field(
        default=90.0,
        ge=0,
        description="Questions without an answer are forgotten this long after they were asked last, days, at the next"
        " sweep",
    )


class JudgeSettings(Table):
    """The language model that judges answers in an evaluation, beside the rules; it should not be the writer."""

    judge_url: str | None = Field(
        default=None,
        description="Address of an OpenAI-compatible server (llama.cpp, vLLM, Ollama), with or without /v1;"
        " null asks no judge",
    )
    judge_model: str | None = Field(
        default=None, description="Model that the server is asked for; null is the first that it names"
    )
    judge_timeout_s: float = Field(default=120.0, gt=0, description="Longest wait for one verdict, seconds")
    judge_max_tokens: int = Field(default=300, ge=16, description="Longest verdict, tokens")


class IngestorSettings:
    """Every table that the ingestor reads."""

    def __init__(self) -> None:
        self.work = WorkSettings()
        self.parse = ParseSettings()
        self.reconciler = ReconcilerSettings()
        self.state = StateSettings()
        self.redis = RedisSettings()
        self.chroma = ChromaSettings()
        self.embedder = EmbedderSettings()
        self.jobs = JobSettings()
        self.judge = JudgeSettings()
        self.services = ServiceSettings()
        self.logs = LogSettings()
