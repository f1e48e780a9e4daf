"""Questions, answers and names that the fixture is made of."""

KINDS = (
    "factual_recall", "identity", "synthesis", "behavioural", "opinion", "boundary", "negative_fact", "logistics",
)  # fmt: skip
VARIANTS = ("vectors", "BM25", "vectors + BM25 (RRF)", "+ gate", "+ diversity")
STAGES = {
    "find.embed": 11.0, "find.vectors": 6.2, "find.bm25": 1.8, "find.gate": 14.0, "ask.write": 310.0,
    "ask.check": 46.0, "ask.total": 402.0,
}  # fmt: skip

ASKED = (
    ("What's the earliest date she could join a new employer?", "Juno is available from 1 September 2026.",
     "1 September 2026", "faq/availability-and-notice.md"),
    ("Which code do I get back from the settlement system if a set of bookings doesn't balance?",
     "Ledgerline refuses a batch whose debits and credits do not sum to zero with the code LQ-3007.",
     "LQ-3007", "projects/ledgerline.md"),
    ("my consumer dies with TG-107 on startup, what have I configured wrong?",
     "TG-107 (LowWaterError) means that low_water is not smaller than high_water.",
     "low_water is not smaller than high_water", "projects/tidegate-reference.html"),
    ("how big was the crowd at her 2023 Utrecht talk", "The talk lasted 35 minutes and had an audience of 240.",
     "240", "talks/talks.json"),
    ("So who's this Juno person and what does she do for a living?",
     "Juno Tarkwell is a backend and data-infrastructure engineer in Ghent who leads the Ledger Data team.",
     "backend and data-infrastructure engineer", "about/biography.md"),
    ("Is she willing to carry a pager, and how often?",
     "She is willing to be on call for systems that she helps to build, for at most one week in four.",
     "one week in four", "faq/on-call.md"),
    ("What does she make of microservices?",
     "She starts with one deployable and splits it where two teams wait for each other.",
     "one deployable", "opinions/microservices.md"),
    ("Has she run Kubernetes in production?", "Juno Tarkwell has not run a production Kubernetes cluster.",
     "has not run", "skills/infrastructure.md"),
    ("Why did she leave Harrow & Quill?",
     "She left in August 2022 for two reasons: the on-call rota and a reorganisation.",
     "on-call rota", "work/harrow-and-quill.md"),
    ("What went wrong with version 2.0.0 of tidegate?",
     "tidegate v2.0.0 could deadlock when a gate closed during shutdown.", "deadlock", "projects/tidegate.md"),
)  # fmt: skip
