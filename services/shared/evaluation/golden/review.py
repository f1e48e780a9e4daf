"""The review file: golden questions as YAML that an owner reads, corrects and sends back."""

import json
import re
from collections.abc import Iterator, Sequence

from services.shared.contracts.golden import GoldenIn, GoldenQuestion, GoldenState, Question
from services.shared.evaluation.golden.review_reading import read_items

KEEP = {GoldenState.APPROVED: "yes", GoldenState.REJECTED: "no", GoldenState.PROPOSED: "undecided"}

_HEADER = """\
# Golden questions for review: {count}.
#
# A golden question is one whose right answer is known. An evaluation asks those that you keep and measures how
# many of them the system answers rightly, so it is worth reading each.
#
# keep       yes: ask it in evaluations.  no: never propose it again.  undecided: ask me another time.
# question   as a visitor would ask it; change the words freely.
# behaviour  answer: it should be answered.  abstain: the documents do not say; the right answer is to say so.
#            decline: it asks for something that the system does not do.
# expected   a right answer in a sentence or two.
# facts      what a right answer says. Each line is one fact, in any of its wordings: ["13 weeks", "thirteen weeks"].
# must_not   words that no answer to it may hold.
# gold       where the answer stands. A quote must stand in the document word for word; without a quote the whole
#            document counts.
#
# Leave the ids as they are: they say which question is which. A question that you add needs an id of its own.
"""
_LITERAL = re.compile(
    r"[^\s\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029][^\x00-\x09\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u2028\u2029]*"
)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write_review(items: Sequence[GoldenQuestion]) -> str:
    """The questions as a commented YAML list, those to decide on first. ``read_review`` reads it back unchanged."""
    order = {GoldenState.PROPOSED: 0, GoldenState.APPROVED: 1, GoldenState.REJECTED: 2}
    ordered = sorted(items, key=lambda item: (order[item.state], item.flagged is None))
    entries = ["\n".join(_entry(item)) for item in ordered]
    return _HEADER.format(count=len(items)) + "\n" + ("\n\n".join(entries) + "\n" if entries else "[]\n")


def read_review(text: str) -> list[GoldenIn]:
    """The reviewed questions in their order.

    Raises RagstoneError (invalid_request) that names the question or line of each of the first faults and says
    what to do.
    """
    return read_items(text)


def _entry(item: GoldenQuestion) -> Iterator[str]:
    question = item.question
    if item.flagged:
        yield f"# Look again: {' '.join(item.flagged.split())}"
    yield f"- id: {_quoted(question.id)}"
    yield f"  keep: {KEEP[item.state]}"
    yield f"  question: {_text(question.text, 4)}"
    yield f"  behaviour: {question.behaviour.value}"
    if question.expected is not None:
        yield f"  expected: {_text(question.expected, 4)}"
    yield from _facts(question)
    yield f"  must_not: {_list(question.must_not)}"
    if question.gold:
        yield "  gold:"
    for span in question.gold:
        yield f"    - document: {_quoted(span.document_id)}"
        if span.quote is not None:
            yield f"      quote: {_text(span.quote, 8)}"
        if span.grade != 1:
            yield f"      grade: {span.grade}"
        if span.group is not None:
            yield f"      group: {_quoted(span.group)}"
    yield f"  kind: {_quoted(question.kind)}"
    if question.tags:
        yield f"  tags: {_list(question.tags)}"
    if question.language is not None:
        yield f"  language: {_quoted(question.language)}"


def _facts(question: Question) -> Iterator[str]:
    if not question.facts:
        yield "  facts: []"
        return
    yield "  facts:"
    yield from (f"    - {_list(fact)}" for fact in question.facts)
    if question.needed is not None:
        yield f"  needed: {question.needed}"


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def _text(text: str, indent: int) -> str:
    """In quotation marks on one line; a text of several lines as a block, where YAML gives that back unchanged."""
    lines = text.split("\n")
    if len(lines) > 1 and all(_LITERAL.fullmatch(line) or not line for line in lines) and lines[0] and lines[-1]:
        return "|-\n" + "\n".join(" " * indent + line if line else "" for line in lines)
    return _quoted(text)


def _quoted(text: str) -> str:
    """JSON's quotation is YAML's too, but for a few characters that YAML does not print."""
    said = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", said)
