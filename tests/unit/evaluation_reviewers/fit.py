"""Counts what the thresholds of the embedding reviewers come to: python -m tests.unit.evaluation_reviewers.fit.

With --write, the similarities in the labelled files are made again by the real model.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

from services.shared.evaluation.reviewers import accuracy, validity
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import load_embedder
from tests.unit.evaluation_reviewers.labelled import FOLDER, answers, rows, writing


def write() -> None:
    """Both files with new similarities."""
    embed = load_embedder(EmbedderSettings()).embed_documents
    labelled = rows("labelled_answers.jsonl")
    pairs = [accuracy.pair(one.case) or ("", "") for one in answers()]
    alike = (embed([pair[0] for pair in pairs]) * embed([pair[1] for pair in pairs])).sum(axis=1)
    store(
        "labelled_answers.jsonl",
        [{**row, "similarity": short(value)} for row, value in zip(labelled, alike, strict=True)],
    )
    sound, unsound = validity.exemplars()
    texts = rows("labelled_writing.jsonl")
    near = embed([row["text"] for row in texts]) @ embed([*sound, *unsound]).T
    new = [
        {
            **row,
            "to_sound": [short(v) for v in line[: len(sound)]],
            "to_unsound": [short(v) for v in line[len(sound) :]],
        }
        for row, line in zip(texts, near, strict=True)
    ]
    store("labelled_writing.jsonl", new)


def short(value: Any) -> float:
    """Three decimals are more than the model's arithmetic agrees on between machines."""
    return round(float(value), 3)


def store(name: str, lines: Sequence[dict[str, Any]]) -> None:
    """One JSON object a line."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / name).write_text(text, encoding="utf-8")


def counts() -> dict[str, int]:
    """How often each reviewer says what the label says."""
    found = {}
    labelled = answers()
    for half, name in ((0, "fitted"), (1, "held out")):
        part = labelled[half::2]
        embedding = [accuracy.by_embedding(one.case, one.similarity) for one in part]
        rule = [accuracy.by_rule(one.case) for one in part]
        found[f"answers, {name}"] = len(part)
        for by, reviews in (("embedding", embedding), ("rule", rule)):
            agreeing = [one for one, review in zip(part, reviews, strict=True) if review and review.passed == one.right]
            found[f"answers, {name}, {by} agrees"] = len(agreeing)
        alone = [one for one in part if (one.similarity >= accuracy.LIKE_ENOUGH) == one.right]
        found[f"answers, {name}, likeness alone agrees"] = len(alone)
    texts = writing()
    failed = [one for one in texts if not validity.by_embedding(one.to_sound, one.to_unsound).passed]
    found["texts"] = len(texts)
    found["texts, unsound"] = sum(1 for one in texts if not one.sound)
    found["texts, unsound and failed by embedding"] = sum(1 for one in failed if not one.sound)
    found["texts, sound and failed by embedding"] = sum(1 for one in failed if one.sound)
    found["texts, rule agrees"] = sum(1 for one in texts if validity.by_rule(one.text).passed == one.sound)
    return found


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    sys.stdout.writelines(f"{name}: {value}\n" for name, value in counts().items())
