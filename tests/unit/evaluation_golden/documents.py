"""Small documents to make questions from, cut by their headings."""

from collections.abc import Sequence

from services.shared.contracts.ids import DocumentId
from services.shared.evaluation.golden.material import Passage, SourceDocument
from services.shared.evaluation.golden.words import Corpus


def document(
    text: str,
    *,
    id: str = "pool.md",
    title: str = "The Alder Pool",
    questions: Sequence[str] = (),
    negatives: Sequence[str] = (),
) -> SourceDocument:
    """A passage for each ``## heading``, and one for each sentence that is not so."""
    passages: list[Passage] = []
    at, section = 0, title
    for block in text.strip().split("\n\n"):
        if block.startswith("## "):
            section = f"{title} > {block[3:]}"
        else:
            passages.append(Passage(block, section, at, at + len(block), "fact", 0))
        at += len(block) + 2
    for sentence in negatives:
        passages.append(Passage(sentence, "Not the case", at, at + len(sentence), "negative", 0))
        at += len(sentence) + 2
    return SourceDocument(DocumentId(id), title, None, tuple(questions), tuple(passages))


def corpus(*documents: SourceDocument) -> Corpus:
    return Corpus(documents)
