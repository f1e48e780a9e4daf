"""How well does BM25 rank in each language? nDCG@10 as a Markdown table, languages given, detected and mixed.

Run: python -m benchmarks.bm25_languages [DATA]   (DATA holds ir/, qa/ and multi/)

- English: every text and question taken for English, which is what an analyser of one language does.
- given: the collection's language for its texts and its questions.
- detected: each text's language by the ingestor's library, each question's among those that the index then holds.
- together: the same, with all collections in one index; a hit in another collection is a wrong one.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.ranking import DEPTH, Judged, load, ndcg
from services.ingestor.adapters.languages import Languages
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import chunk_tokens, question_languages, question_tokens
from services.shared.index.bm25 import BM25Index

COLLECTIONS = {
    "multi/xquad-a-en": "en",
    "multi/xquad-a-de": "de",
    "multi/piaf-fr-a": "fr",
    "multi/xquad-a-ar": "ar",
    "multi/xquad-a-zh": "zh",
    "multi/jsquad-valid": "ja",
    "qa/squad2-dev9": "en",
    "qa/hotpotqa-200": "en",
    "ir/scifact-train": "en",
    "ir/cranfield": "en",
    "ir/medline": "en",
}

Ask = Callable[[str], list[str]]


def main(data: Path) -> None:
    """Print a row a collection, then what detection got wrong and what it costs."""
    sets = {name: load(data / name) for name in COLLECTIONS}
    told = {name: _told(judged) for name, judged in sets.items()}
    together = BM25Index()
    for name, judged in sets.items():
        fill(together, judged, told[name], prefix=name)
    print("| collection | texts | questions | English | given | detected | together |\n|---|---|---|---|---|---|---|")
    for name, language in COLLECTIONS.items():
        judged = sets[name]
        row = [
            alone(judged, ["en"] * len(judged.ids), lambda index: lambda text: question_tokens(text, "en")),
            alone(judged, [language] * len(judged.ids), _in_language(language)),
            alone(judged, told[name], _detected),
            measure(together, judged, _detected(together), prefix=name),
        ]
        sizes = f"{len(judged.ids):,} | {len(judged.questions):,}"
        print(f"| {judged.name} | {sizes} | {' | '.join(f'{value:.4f}' for value in row)} |", flush=True)
    for name, language in COLLECTIONS.items():
        _report_detection(sets[name], language, told[name], together)
    print(f"<!-- {_milliseconds(together, [text for one in sets.values() for text in one.questions.values()]):.3f} ms "
          "to analyse a question of the mixed index, its words met before -->")  # fmt: skip


def alone(judged: Judged, languages: Sequence[str | None], asks: Callable[[BM25Index], Ask]) -> float:
    """Mean nDCG@10 of a collection in an index of its own, its texts in these languages."""
    index = BM25Index()
    fill(index, judged, languages)
    return measure(index, judged, asks(index))


def fill(index: BM25Index, judged: Judged, languages: Iterable[str | None], prefix: str = "") -> None:
    """Add the texts as the retriever does, each in its language."""
    for id, text, language in zip(judged.ids, judged.texts, languages, strict=True):
        key = prefix + id
        index.add(ChunkId(key), chunk_tokens(text, language), document_id=DocumentId(key))


def measure(index: BM25Index, judged: Judged, ask: Ask, prefix: str = "") -> float:
    """Mean nDCG@10 over the questions."""
    return fmean(
        ndcg(
            [hit.chunk_id for hit in index.search(ask(text), DEPTH)],
            {prefix + key: gain for key, gain in judged.gains[id].items()},
        )
        for id, text in judged.questions.items()
    )


def _in_language(language: str) -> Callable[[BM25Index], Ask]:
    return lambda index: lambda text: question_tokens(text, language)


def _detected(index: BM25Index) -> Ask:
    return lambda text: question_tokens(text, question_languages(text, index.idf))


def _told(judged: Judged) -> list[str | None]:
    return [_LIBRARY.language_of(text) for text in judged.texts]


_LIBRARY = Languages()


def _report_detection(judged: Judged, language: str, told: Sequence[str | None], index: BM25Index) -> None:
    """How often the language of a text, and of a question to the mixed index, was right."""
    texts = Counter(told)
    alone = among = 0
    for text in judged.questions.values():
        asked = Counter(question_tokens(text, question_languages(text, index.idf)))
        meant = Counter(question_tokens(text, language))
        alone += asked == meant
        among += asked > meant
    number = len(judged.questions)
    print(
        f"<!-- {judged.name}: texts {texts[language] / len(told):.3f} right, {texts[None]} untold; questions asked "
        f"{alone / number:.3f} as in their language, {among / number:.3f} as in others too, "
        f"{(number - alone - among) / number:.4f} otherwise -->"
    )


def _milliseconds(index: BM25Index, questions: Sequence[str]) -> float:
    ask = _detected(index)
    start = time.perf_counter()
    for question in questions:
        ask(question)
    return (time.perf_counter() - start) * 1000 / len(questions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    main(parser.parse_args().data)
