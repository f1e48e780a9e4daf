"""What taking questions apart does to what is found: nDCG@10 with the parts and without, as a Markdown table.

Run: python -m benchmarks.decomposition FOLDER [--url URL] [--limit N] [--seed 5] [--out FILE]

FOLDER is a collection with judgements (``benchmarks.ranking``), such as HotpotQA, whose questions need two texts. Each
is searched twice over /v1/search of a running Ragstone, in a space of its own: with ``stages.decompose`` true and
false. Who takes them apart is the generator's business: the model while one is ready, else a rule; start it with
RAGSTONE_DECOMPOSE_TIMEOUT_S high enough for a slow machine.
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks.answers import send
from benchmarks.ranking import DEPTH, load, ndcg
from benchmarks.sending import read_jsonl
from services.local.api import Api
from services.shared.contracts.search import SearchRequest, SearchResponse, Stages
from services.shared.evaluation.statistics import estimate

SPACE = "benchmark-decomposition"


@dataclass(frozen=True)
class Compared:
    """One question searched whole and in parts; ``both`` says whether every gold text was among the first ten."""

    id: str
    question: str
    parts: list[str]
    degraded: list[str]
    whole: float
    apart: float
    both_whole: bool
    both_apart: bool
    seconds_whole: float
    seconds_apart: float

    @property
    def gain(self) -> float:
        """What the parts added."""
        return self.apart - self.whole


def search(api: Api, question: str, *, decompose: bool) -> tuple[SearchResponse, float]:
    """One search and how long it took."""
    began = time.perf_counter()
    found = api.search(SearchRequest(question=question, top_k=DEPTH, stages=Stages(decompose=decompose)))
    return found, time.perf_counter() - began


def compare(api: Api, id: str, question: str, gains: dict[str, int]) -> Compared:
    """One question both ways."""
    whole, seconds_whole = search(api, question, decompose=False)
    apart, seconds_apart = search(api, question, decompose=True)
    ranked = [_documents(one) for one in (whole, apart)]
    return Compared(
        id=id,
        question=question,
        parts=list(apart.sub_questions),
        degraded=list(apart.degraded),
        whole=ndcg(ranked[0], gains),
        apart=ndcg(ranked[1], gains),
        both_whole=set(gains) <= set(ranked[0]),
        both_apart=set(gains) <= set(ranked[1]),
        seconds_whole=round(seconds_whole, 3),
        seconds_apart=round(seconds_apart, 3),
    )


def report(compared: Sequence[Compared], seed: int) -> Iterator[str]:
    """The figures as Markdown: over all, and over those that were taken apart."""
    parted = [one for one in compared if one.parts]
    degraded = Counter(name for one in compared for name in one.degraded)
    yield f"{len(compared)} questions, {len(parted)} taken apart; degraded: {dict(degraded) or 'none'}\n"
    yield "| questions | nDCG@10 whole | in parts | difference (95 %) | all gold in ten, whole | in parts | seconds |"
    yield "|---|---|---|---|---|---|---|"
    for name, some in (("all", compared), ("taken apart", parted)):
        if some:
            yield f"| {name} ({len(some)}) | {_row(some, seed)} |"
    better, worse = sum(one.gain > 0 for one in parted), sum(one.gain < 0 for one in parted)
    yield f"\nOf those taken apart {better} got better, {worse} worse."


def _row(some: Sequence[Compared], seed: int) -> str:
    gain = estimate([one.gain for one in some], seed, least=-1.0)
    cells = (
        f"{mean(one.whole for one in some):.3f}",
        f"{mean(one.apart for one in some):.3f}",
        f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})",
        f"{mean(one.both_whole for one in some):.1%}",
        f"{mean(one.both_apart for one in some):.1%}",
        f"{median(one.seconds_whole for one in some):.2f} → {median(one.seconds_apart for one in some):.2f}",
    )
    return " | ".join(cells)


def _documents(found: SearchResponse) -> list[str]:
    return list(dict.fromkeys(passage.document_id for passage in found.passages))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--limit", type=int, default=200, help="questions at most, a seeded sample")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, help="every question both ways, one JSON object a line")
    options = parser.parse_args()
    judged = load(options.folder)
    chosen = random.Random(options.seed).sample(sorted(judged.questions), min(options.limit, len(judged.questions)))
    with Api(options.url, SPACE, timeout_s=300) as api:
        send(api, read_jsonl(options.folder / "corpus.jsonl"))
        compared = [compare(api, id, judged.questions[id], judged.gains[id]) for id in chosen]
    if options.out:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in compared)
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(report(compared, options.seed)))


if __name__ == "__main__":
    main()
