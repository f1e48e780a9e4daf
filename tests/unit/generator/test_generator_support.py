"""A model's sentence leaves only with a source that says the same."""

import pytest

from services.generator.domain.model_text import Written
from services.generator.domain.support import Support, judge, sources, unknown_facts
from services.generator.domain.terms import overlap
from services.shared.contracts.search import Passage, TextScore
from tests.unit.generator.fakes import passage

PERSONA = "A guide to Juno Tarkwell."
DOCK = passage(
    "The dock opens at 05:45 on weekdays. It closes at noon.", title="Dock times", source="https://dock.example/t"
)
KEYS = passage("Bo Ek holds three keys. Visitors may not enter the dock.", title="Keys")


def check(text: str, *cited: int, passages: tuple[Passage, ...] = (DOCK, KEYS), scored: bool = True) -> Support:
    """Judges with scores made of shared words."""
    written = Written(text, cited)
    found = sources(written, passages)
    shares = [overlap(text, one.text) for one in found]
    scores = [TextScore(similarity=share, coverage=share) for share in shares] if scored else None
    return judge(written, passages, found, scores, persona=PERSONA)


def test_a_supported_sentence_quotes_its_best_source() -> None:
    support = check("The dock opens at 05:45.", 0)
    (span,) = support.spans
    assert span.quote == "The dock opens at 05:45 on weekdays."
    assert DOCK.text[span.start : span.end] == span.quote
    assert support.score >= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "The dock opens at 06:45.",
        "The dock opens at 05:45 in 2031.",
        "The dock opens at 05:45 for Zoë.",
        "The dock opens at 05:45, see https://dock.invalid/times for details.",
        "The dock does not open at 05:45.",
        "Carrot cake needs flour and eggs.",
    ],
)
def test_what_the_passage_does_not_say_is_unsupported(text: str) -> None:
    assert check(text, 0).spans == ()


def test_without_a_marker_the_best_passage_is_found() -> None:
    (span,) = check("Bo Ek holds 3 keys.").spans
    assert span.passage == 1


def test_a_marker_to_the_wrong_passage_does_not_count() -> None:
    assert check("Bo Ek holds three keys.", 0).spans == ()


def test_each_cited_passage_that_supports_is_quoted_once() -> None:
    twin = passage("On weekdays the dock opens at 05:45.")
    assert [span.passage for span in check("The dock opens at 05:45.", 0, 1, passages=(DOCK, twin)).spans] == [0, 1]


def test_a_denial_needs_a_denial() -> None:
    assert check("Visitors may not enter the dock.", 1).spans
    assert check("Visitors may enter the dock.", 1).spans == ()


def test_words_alone_do_where_scores_are_missing() -> None:
    assert check("The dock opens at 05:45.", 0, scored=False).spans
    assert check("The dock is painted green every spring.", 0, scored=False).spans == ()


def test_the_owners_own_name_for_the_subject_is_no_invention() -> None:
    assert unknown_facts("In 05:45 terms, Tarkwell is early.", [DOCK], PERSONA) == set()
    assert unknown_facts("It was Maréchal.", [DOCK], PERSONA) == {"maréchal"}


def test_an_address_of_the_source_may_be_named() -> None:
    assert unknown_facts("See https://dock.example/t.", [DOCK], PERSONA) == set()
