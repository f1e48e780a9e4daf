"""Which BM25 ranks best with Ragstone's analyser, and is it so on collections that had no say in the choice?

Run: python -m benchmarks.bm25_variants [DATA]   (DATA holds the folders that COLLECTIONS names)

nDCG@10 of documents, over whole texts and over the product's chunks (a document stands where its best chunk does).
Each variant's scores are first checked against rank-bm25's own. A setting is held out for a collection when the
other collections chose it. Prints Markdown.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from benchmarks.ranking import DEPTH, Judged, load, ndcg
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted
from services.shared.evaluation.statistics import difference
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import K1, B

COLLECTIONS = {
    "ir/scifact-train": "en",
    "ir/cranfield": "en",
    "ir/medline": "en",
    "qa/squad2-dev9": "en",
    "qa/hotpotqa-200": "en",
    "multi/piaf-fr-a": "fr",
}
K1S = (0.9, 1.2, 1.5, 2.0)
BS = (0.4, 0.55, 0.75, 0.9)

WORDS = 150
MAX_TOKENS = 256
TOKENS_PER_WORD = 1.35
"""Of the embedder, roughly; no text of these collections is so long that it would matter."""

QUESTIONS = 810
"""Of a collection at most, spread over all of them: no single one is worth more of the time."""

CHECKED = 5
CLOSE = 1e-9
SEED = 7

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Words:
    """What an idf may need to know beside the number of texts that hold the word."""

    texts: int
    robertson: float
    """The mean of BM25Okapi's idf over all words, a share of which it puts in place of a negative one."""


@dataclass(frozen=True)
class Variant:
    """One way to score: how telling a word is, and how much a text that holds it ``count`` times says."""

    name: str
    idf: Callable[[Numbers, Words], Numbers]
    weight: Callable[[Numbers, Numbers, float, float], Numbers]
    """Of count, length over mean length, k1 and b."""
    library: Callable[..., BM25Okapi | BM25L | BM25Plus] | None = None


def okapi_idf(frequency: Numbers, known: Words) -> Numbers:
    idf = np.log(known.texts - frequency + 0.5) - np.log(frequency + 0.5)
    return np.where(idf < 0, 0.25 * known.robertson, idf)


def l_idf(frequency: Numbers, known: Words) -> Numbers:
    return -np.log((frequency + 0.5) / (known.texts + 1))


def plus_idf(frequency: Numbers, known: Words) -> Numbers:
    return -np.log(frequency / (known.texts + 1))


def lucene_idf(frequency: Numbers, known: Words) -> Numbers:
    return np.log(1 + (known.texts - frequency + 0.5) / (frequency + 0.5))


def saturating(count: Numbers, length: Numbers, k1: float, b: float) -> Numbers:
    return count * (k1 + 1) / (count + k1 * (1 - b + b * length))


def plus_published(count: Numbers, length: Numbers, k1: float, b: float, delta: float = 1.0) -> Numbers:
    return saturating(count, length, k1, b) + delta


def l_published(count: Numbers, length: Numbers, k1: float, b: float, delta: float = 0.5) -> Numbers:
    per_length = count / (1 - b + b * length)
    return (k1 + 1) * (per_length + delta) / (k1 + per_length + delta)


def l_of_the_library(count: Numbers, length: Numbers, k1: float, b: float) -> Numbers:
    return count * l_published(count, length, k1, b)


VARIANTS = (
    Variant("BM25Okapi", okapi_idf, saturating, BM25Okapi),
    Variant("BM25L", l_idf, l_of_the_library, BM25L),
    Variant("BM25Plus", plus_idf, saturating, partial(BM25Plus, delta=0)),
    Variant("Lucene's idf", lucene_idf, saturating),
    Variant("BM25L as published", l_idf, l_published),
    Variant("BM25+ as published", plus_idf, plus_published),
)
PRODUCT = ("BM25Plus", K1, B)

Setting = tuple[str, float, float]


class Collection:
    """A judged collection, cut and counted once, so that a setting costs arithmetic only."""

    def __init__(self, judged: Judged, language: str, *, chunked: bool) -> None:
        self.judged = judged
        pieces = [_chunks(text) if chunked else [text] for text in judged.texts]
        self.tokens = [tokens(piece, language) for text in pieces for piece in text]
        self._first_piece = np.cumsum([0, *(len(text) for text in pieces[:-1])])
        held: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, found in enumerate(self.tokens):
            for word, count in Counter(found).items():
                held[word].append((row, count))
        lengths = np.array([len(found) for found in self.tokens], dtype=np.float64)
        frequency = np.array([len(postings) for postings in held.values()], dtype=np.float64)
        robertson = np.log(len(lengths) - frequency + 0.5) - np.log(frequency + 0.5)
        self._words = Words(len(lengths), float(robertson.mean()))
        chosen = list(judged.questions.items())[:: -(-len(judged.questions) // QUESTIONS)]
        self.asked = {id: question_tokens(text, language) for id, text in chosen}
        # The postings of all words of all questions, one after the other.
        words = [[word for word in asked if word in held] for asked in self.asked.values()]
        postings = np.array([one for asked in words for word in asked for one in held[word]], dtype=np.float64)
        sizes = [len(held[word]) for asked in words for word in asked]
        self._rows = postings[:, 0].astype(np.intp)
        self._counts = postings[:, 1]
        self._lengths = lengths[self._rows] / lengths.mean()
        self._frequency = np.repeat(np.array(sizes, dtype=np.float64), sizes)
        self._ends = np.cumsum([sum(len(held[word]) for word in asked) for asked in words])

    def scores(self, variant: Variant, k1: float, b: float) -> Iterator[Numbers]:
        """For each question the score of each piece."""
        parts = variant.idf(self._frequency, self._words) * variant.weight(self._counts, self._lengths, k1, b)
        for start, end in zip([0, *self._ends], self._ends, strict=False):
            scores = np.bincount(self._rows[start:end], weights=parts[start:end], minlength=self._words.texts)
            yield scores.astype(np.float64, copy=False)

    def measure(self, variant: Variant, k1: float, b: float) -> list[float]:
        """nDCG@10 of each question, equal scores by place in the collection."""
        values = []
        for id, scores in zip(self.asked, self.scores(variant, k1, b), strict=True):
            best = np.maximum.reduceat(scores, self._first_piece)
            likely = np.flatnonzero(best >= np.partition(best, -DEPTH)[-DEPTH])
            order = likely[np.argsort(-best[likely], kind="stable")][:DEPTH]
            values.append(ndcg([self.judged.ids[n] for n in order], self.judged.gains[id]))
        return values

    def check(self) -> float:
        """The largest difference from rank-bm25's own scores, over a few questions and all its variants."""
        worst = 0.0
        for variant in VARIANTS:
            if variant.library is not None:
                library = variant.library(self.tokens, k1=1.1, b=0.6)
                asked = list(self.asked.values())[:CHECKED]
                for one, ours in zip(asked, self.scores(variant, 1.1, 0.6), strict=False):
                    worst = max(worst, float(np.abs(library.get_scores(one) - ours).max()))
        return worst


def main(data: Path) -> None:
    """Whole texts, then chunks."""
    judged = {load(data / name).name: (load(data / name), language) for name, language in COLLECTIONS.items()}
    for chunked in (False, True):
        print(f"## {'Chunks' if chunked else 'Whole texts'}\n")
        sets = {name: Collection(one, language, chunked=chunked) for name, (one, language) in judged.items()}
        for name, one in sets.items():
            apart = one.check()
            assert apart < CLOSE, f"{name}: {apart}"
            print(f"<!-- {name}: {len(one.tokens)} pieces of {len(one.judged.ids)} texts -->")
        table = {
            (variant.name, k1, b): {name: one.measure(variant, k1, b) for name, one in sets.items()}
            for variant in VARIANTS
            for k1, b in (product(K1S, BS) if variant.library else [(K1, B)])
        }
        report(table, list(sets))


def report(table: Mapping[Setting, Mapping[str, Sequence[float]]], names: Sequence[str]) -> None:
    """The best of each variant, the settings of the product's variant, and what the others would have chosen."""
    means = {setting: {name: fmean(row[name]) for name in names} for setting, row in table.items()}

    def best(among: Callable[[Setting], bool], over: Sequence[str]) -> Setting:
        return max(filter(among, table), key=lambda setting: fmean(means[setting][name] for name in over))

    print(f"\n| setting | {' | '.join(names)} | mean |\n|---|{'---|' * (len(names) + 1)}")
    for variant in filter(lambda variant: variant.library, VARIANTS):
        named = best(lambda setting, name=variant.name: setting[0] == name, names)  # type: ignore[misc]
        print(_row(f"best {_told(named)}", means[named], names))
    print(_row(f"**the product: {_told(PRODUCT)}**", means[PRODUCT], names))
    print(f"\n| mean, {PRODUCT[0]} | {' | '.join(f'b {b}' for b in BS)} |\n|---|{'---|' * len(BS)}")
    for k1 in K1S:
        row = [f"{fmean(means[PRODUCT[0], k1, b].values()):.4f}" for b in BS]
        print(f"| k1 {k1} | {' | '.join(row)} |")
    libraries = [variant.name for variant in VARIANTS if variant.library]
    print("\n| held out | chosen by the other five | nDCG@10 | the product's | product minus chosen |")
    print("|---|---|---|---|---|")
    for name in names:
        chosen = best(lambda setting: setting[0] in libraries, [other for other in names if other != name])
        apart = difference(table[chosen][name], table[PRODUCT][name], SEED)
        print(
            f"| {name} | {_told(chosen)} | {means[chosen][name]:.4f} | {means[PRODUCT][name]:.4f} | "
            f"{apart.mean:+.4f} ({apart.low:+.4f} to {apart.high:+.4f}) |"
        )
    print("\n| variant at the product's k1 and b, product minus it | " + " | ".join(names) + " |")
    print(f"|---|{'---|' * len(names)}")
    for variant in VARIANTS:
        if variant.name != PRODUCT[0]:
            aparts = [difference(table[variant.name, K1, B][name], table[PRODUCT][name], SEED) for name in names]
            told = [f"{apart.mean:+.4f} ({apart.low:+.4f} to {apart.high:+.4f})" for apart in aparts]
            print(f"| {variant.name} | {' | '.join(told)} |")
    print(flush=True)


def _chunks(text: str) -> list[str]:
    title, _, body = text.partition("\n")
    limits = Limits(WORDS, MAX_TOKENS)

    def count(texts: Sequence[str]) -> list[int]:
        return [int(len(one.split()) * TOKENS_PER_WORD) for one in texts]

    return [chunk.search_text for chunk in cut(Extracted(body, markdown=False), title, limits, count)] or [text]


def _row(label: str, values: Mapping[str, float], names: Sequence[str]) -> str:
    return f"| {label} | {' | '.join(f'{values[name]:.4f}' for name in names)} | {fmean(values.values()):.4f} |"


def _told(setting: Setting) -> str:
    return f"{setting[0]} k1 {setting[1]} b {setting[2]}"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
