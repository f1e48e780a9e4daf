"""Sentences that are a word away from the truth never leave as they were written; what is true does.

The groundedness model is taken to agree with everything that shares words: the rules alone have to stop these.
"""

import pytest

from services.shared.contracts.search import Passage
from tests.unit.generator.fakes import FakeScorer, FakeWriter, passage, request
from tests.unit.generator.told import write

MOVING = [
    passage(
        "Nora grew up in Galway, on the west coast of Ireland. "
        "Nora moved to Ghent in September 2016 to take a master's degree and stayed."
    )
]
DOCK = [passage("The dock opens at 05:45 every day. The dock key is held by Maren Holt.")]
PUMPS = [
    passage(
        "| Pump | Power | Year |\n| --- | --- | --- |\n| P-1 | 3 kW | 2011 |\n"
        "| P-2 | 5.5 kW | 2016 |\n| P-3 | 7 kW | 2011 |"
    ),
    passage("Valve B must not be opened while the pump runs. 2. Open valve B."),
]
BAY = [
    passage(
        "The buoy of the bay is red. The lamp of the pier is red. The lighthouse was built in Wexford by Lars Ekman."
    )
]
DENIALS = [
    passage("Nora Quill sold her car in 2015. Nora Quill read about Scala in 2016."),
    passage("Nora Quill has not used Scala.", kind="negative"),
    passage("Nora Quill does not own a car: she cycles.", kind="negative"),
]
FIGURES = [
    passage(
        "Nora has never managed more than 6 people and would like to stay below nine. "
        "The p99 fell from 1,840 ms to 212 ms. In January 2025, 41 of 67 alerts were deleted. "
        "Nora Quill is available from 1 September 2026."
    )
]
RULES = [passage(" ".join(f"Rule {n} of the boat shed applies on day {n}." for n in range(70, 80)))]
YARD = [passage("Die Werft liegt 1.200 m vom Hafen entfernt.")]

FALSE = [
    (MOVING, "When did Nora move to Ghent?", "Nora moved to Galway in September 2016"),
    (MOVING, "When did Nora move to Ghent?", "Nora grew up in Ghent and moved to Galway in September 2016"),
    (MOVING, "When did Nora move to Ghent?", "Nora moved from Ghent in September 2016"),
    (MOVING, "When did Nora move to Ghent?", "Before September 2016 Nora had moved to Ghent"),
    (MOVING, "When did Nora move to Ghent?", "Nora moved to Ghent in September 2016 with her husband"),
    (MOVING, "When did Nora move to Ghent?", "Nora moved to Ghent in September 2016 to take a doctorate"),
    (DOCK, "When does the dock open and who holds the key?", "The dock hardly ever opens at 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "It is false that the dock opens at 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "The dock key is stolen by Maren Holt"),
    (DOCK, "When does the dock open and who holds the key?", "The dock key used to be held by Maren Holt"),
    (DOCK, "When does the dock open and who holds the key?", "The dock was founded by Maren Holt at 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "The dock key is held by Maren Holt and her brother"),
    (DOCK, "When does the dock open and who holds the key?", "The dock key is held by Maren Holt, the harbour master"),
    (DOCK, "When does the dock open and who holds the key?", "The dock opened at 05:45 every day until it burned down"),
    (
        DOCK,
        "When does the dock open and who holds the key?",
        "The dock opens at 05:45 because Maren Holt is an early riser",
    ),
    (DOCK, "When does the dock open and who holds the key?", "If it rains, the dock opens at 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "The dock opens at 05:45 every weekday"),
    (DOCK, "When does the dock open and who holds the key?", "The dock opens after 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "The dock opens at about 05:45"),
    (DOCK, "When does the dock open and who holds the key?", "The dock may open at 05:45"),
    (PUMPS, "How much power does pump P-2 have?", "P-2 has 3 kW"),
    (PUMPS, "How much power does pump P-2 have?", "P-2 has 7 kW"),
    (PUMPS, "How much power does pump P-2 have?", "P-1 has 5.5 kW and P-2 has 3 kW"),
    (PUMPS, "How much power does pump P-2 have?", "P-2 has 5.5 kW and is from 2011"),
    (PUMPS, "How much power does pump P-2 have?", "P-1 and P-2 are from 2011"),
    (PUMPS, "How much power does pump P-2 have?", "Valve B must be opened while the pump runs"),
    (PUMPS, "How much power does pump P-2 have?", "Open valve B while the pump runs"),
    (BAY, "What colour is the buoy?", "The buoy of the bay is blue"),
    (BAY, "What colour is the buoy?", "The buoy of the bay is white"),
    (BAY, "What colour is the buoy?", "The lamp of the pier is blue"),
    (BAY, "What colour is the buoy?", "The lighthouse is red"),
    (BAY, "What colour is the buoy?", "The buoy is red, round and popular"),
    (BAY, "What colour is the buoy?", "The lighthouse was built by Lars Wexford"),
    (BAY, "What colour is the buoy?", "The lighthouse was built in Ekman"),
    (BAY, "What colour is the buoy?", "The lighthouse was sunk in Wexford by Lars Ekman"),
    (DENIALS, "Does she use Scala?", "Nora uses Scala"),
    (DENIALS, "Does she use Scala?", "Nora owns a car"),
    (DENIALS, "Does she use Scala?", "Nora has used Scala since 2016"),
    (FIGURES, "How many people has she managed?", "Nora has managed nine people"),
    (FIGURES, "How many people has she managed?", "Nora has managed at least six people"),
    (FIGURES, "How many people has she managed?", "Nora has managed more than 6 people"),
    (FIGURES, "How many people has she managed?", "The p99 fell by 212 ms"),
    (FIGURES, "How many people has she managed?", "67 alerts were deleted in January 2025"),
    (FIGURES, "How many people has she managed?", "Nora Quill is available until 1 September 2026"),
    (FIGURES, "How many people has she managed?", "Nora Quill is available immediately"),
    (RULES, "On which day does rule 77 apply?", "Rule 77 of the boat shed applies on day 78"),
    (YARD, "Wie weit ist die Werft entfernt?", "Die Werft liegt 1,2 m vom Hafen entfernt"),
]
TRUE = [
    (MOVING, "Where did she move?", "Nora moved to Ghent in September 2016"),
    (MOVING, "Where did she grow up?", "Nora grew up in Galway and moved to Ghent in September 2016"),
    (DOCK, "x dock", "The dock opens at 05:45 each day"),
    (DOCK, "key of dock", "Maren Holt holds the dock key"),
    (PUMPS, "power of P-2", "P-2 has 5.5 kW"),
    (PUMPS, "power", "P-1 has 3 kW and P-3 has 7 kW"),
    (BAY, "buoy", "The buoy of the bay is red"),
    (BAY, "lighthouse", "Lars Ekman built the lighthouse in Wexford"),
    (DENIALS, "Scala?", "Nora Quill has not used Scala"),
    (FIGURES, "managed?", "Nora has never managed more than six people"),
    (FIGURES, "p99", "The p99 fell to 212 ms"),
    (RULES, "rule 77?", "Rule 77 applies on day 77"),
    (YARD, "Werft", "Die Werft ist 1.200 m vom Hafen entfernt"),
]


async def said(passages: list[Passage], question: str, claim: str) -> list[str]:
    asked = request(question, *passages).model_copy(update={"subject": ["Nora Quill"]})
    told = await write(asked, FakeWriter(claim), FakeScorer(similar={}))
    return [text.rstrip(".") for text in told.texts]


@pytest.mark.parametrize(("passages", "question", "claim"), FALSE)
@pytest.mark.parametrize("marker", ["[1]", "[1][2]"])
async def test_what_the_source_does_not_say_is_not_said(
    passages: list[Passage], question: str, claim: str, marker: str
) -> None:
    assert claim not in await said(passages, question, f"{claim} {marker}.")


@pytest.mark.parametrize(("passages", "question", "claim"), TRUE)
async def test_what_it_says_in_other_order_or_form_is_said(passages: list[Passage], question: str, claim: str) -> None:
    assert claim in await said(passages, question, f"{claim} [1].")
