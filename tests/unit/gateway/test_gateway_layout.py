"""The layout of an answer: what stands between sentences, and where markers go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.layout import between, placed, with_markers
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.answers import Answer, AskRequest, SentenceEvent
from services.shared.contracts.ids import DEFAULT_SPACE
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence


@pytest.mark.parametrize("before", [" ", "\n", "\n\n", "\n- ", "\n  * ", "\n\n1. ", "\n12) ", "\n- [x] ", "\t"])
def test_layout_is_kept(before: str) -> None:
    assert between(before) == before


@pytest.mark.parametrize("before", ["", " and ", "\n- He said ", "[1] ", "\n\n\n\n", "<br>", "1984. ", "\n- - ", "`"])
def test_words_between_sentences_are_a_blank(before: str) -> None:
    assert between(before) == " "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```py\nx = a[0]\n```", "```py\nx = a[0]\n```\n[1]"),
        ("~~~\nx\n~~~", "~~~\nx\n~~~\n[1]"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 [1] |"),
        ("| 1 | 2 |", "| 1 | 2 [1] |"),
        ("| a | b |\n| --- | --- |\n| 1 | Two.", "| a | b |\n| --- | --- |\n| 1 | Two. [1] |"),
        ("One\ntwo.", "One\ntwo [1]."),
        ("a | b", "a | b [1]"),
    ],
)
def test_markers_of_blocks_stand_where_they_are_shown(text: str, expected: str) -> None:
    assert with_markers(text, [1]) == expected


@pytest.mark.parametrize(("before", "expected"), [(" ", "A"), ("\n\n", "A"), ("\n- ", "- A"), ("\n\n2. ", "2. A")])
def test_the_first_sentence_keeps_a_list_mark_alone(before: str, expected: str) -> None:
    assert placed(before, "A", first=True) == expected
    assert placed(before, "A", first=False) == before + "A"


async def test_the_sentences_one_after_the_other_are_the_answer() -> None:
    world = World()
    one = passage()
    world.answers(
        one,
        script=[
            sentence("It opens at nine:", (one, "opens at nine"), of=[one], before="\n\n"),
            sentence("no lamps", (one, "forbids lamps"), of=[one], before="\n\n- "),
            sentence("rule 7.", (one, "Rule 7"), of=[one], before="\n- "),
            sentence("```\nRule 7\n```", (one, "Rule 7"), of=[one], before="\n\n"),
            sentence("End.", (one, "nine"), of=[one], before=" trust me: "),
            done(),
        ],
    )
    flow = gateway_of(world.outside(), world.settings, world.profile).ask
    told = [event async for event in flow.events(DEFAULT_SPACE, AskRequest(question="When?"), "t")]
    answer = told[-1]
    assert isinstance(answer, Answer)
    assert answer.text == ("It opens at nine: [1]\n\n- no lamps [2]\n- rule 7 [3].\n\n```\nRule 7\n```\n[3] End [4].")
    assert "".join(event.text for event in told if isinstance(event, SentenceEvent)) == answer.text
    assert [claim.text for claim in answer.claims][1:3] == ["no lamps [2]", "rule 7 [3]."]


@given(st.text(max_size=30))
def test_nothing_but_layout_ever_stands_between(before: str) -> None:
    assert not any(char.isalpha() and char not in "xX" for char in between(before))
