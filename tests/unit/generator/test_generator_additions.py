"""What a model's sentence adds to its source is no support, however near the meaning is."""

import pytest

from services.generator.domain.additions import added
from services.generator.domain.attachments import misattached
from services.generator.domain.denials import denied_by
from services.generator.domain.facts import faults
from services.shared.contracts.search import Passage
from tests.unit.generator.fakes import passage

GREW_UP = "Nora grew up in Galway, on the west coast of Ireland."
MOVED = "Nora moved to Ghent in September 2016 to take a master's degree and stayed."
BOTH = f"{GREW_UP}\n{MOVED}"
KNOWN = "Nora Quill"


def objections(claim: str, evidence: str = BOTH) -> list[str]:
    return [*faults(claim, evidence, KNOWN), *misattached(claim, evidence), *added(claim, [evidence], KNOWN)]


@pytest.mark.parametrize(
    "claim",
    [
        "Nora moved to Ghent in September 2016.",
        "Nora moved to Ghent in September 2016 to take a master's degree.",
        "She moved in September 2016 and stayed.",
        "Nora grew up in Galway and moved to Ghent in September 2016.",
        "Nora, who grew up in Galway, moved to Ghent in 2016.",
        GREW_UP,
        MOVED,
    ],
)
def test_what_the_source_says_passes(claim: str) -> None:
    assert objections(claim) == []


@pytest.mark.parametrize(
    "claim",
    [
        "Nora moved to Galway in September 2016.",
        "Nora grew up in Ghent and moved to Galway in September 2016.",
        "Nora moved from Ghent in September 2016.",
        "Before September 2016 Nora had moved to Ghent.",
        "Nora moved to Ghent after September 2016.",
        "Nora moved to Ghent in September 2016 with her husband.",
        "Nora moved to Ghent in September 2016 to take a doctorate.",
        "Nora moved to Ghent in September 2016 because of the weather.",
        "Nora moved to Ghent immediately.",
    ],
)
def test_what_it_does_not_say_does_not_pass(claim: str) -> None:
    assert objections(claim)


@pytest.mark.parametrize(
    ("claim", "evidence", "fits"),
    [
        ("The desk is open until 17:00.", "The desk is open from 9:00 to 17:00.", True),
        ("The desk is open after 17:00.", "The desk is open from 9:00 to 17:00.", False),
        ("She has been there since May 2020.", "She began there in May 2020.", True),
        ("She left before May 2020.", "She left after May 2020.", False),
        ("At least 12 people came.", "There came 12 people.", False),
        ("At least 12 people came.", "No fewer than 12 people came.", True),
        ("Up to 14 days.", "At least 14 days.", False),
        ("From 2016 to 2018.", "Between 2016 and 2018.", True),
        ("The train from Ghent.", "The train to Ghent.", False),
        ("She has managed more than 6 people.", "She has never managed more than 6 people.", False),
        ("She has managed at least six people.", "She has never managed more than 6 people.", False),
        ("She has never managed more than six people.", "She has never managed more than 6 people.", True),
        ("No more than 6 people fit in.", "At most six people fit in.", True),
        ("It fell by 212 ms.", "It fell from 1,840 ms to 212 ms.", False),
        ("It fell from 1,840 ms to 212 ms.", "It fell from 1,840 ms to 212 ms.", True),
        ("67 alerts were deleted.", "41 of 67 alerts were deleted.", False),
        ("41 of 67 alerts were deleted.", "41 of 67 alerts were deleted.", True),
        ("She is available until 1 September 2026.", "She is available from 1 September 2026.", False),
        ("The train from Ghent.", "The train from Ghent to Bruges.", True),
    ],
)
def test_small_words_carry_facts(claim: str, evidence: str, fits: bool) -> None:
    assert (misattached(claim, evidence) == []) is fits


DOCK = "The dock opens at 05:45 every day.\nThe dock key is held by Maren Holt."
PUMPS = ["Pump: P-1, Power: 3 kW, Year: 2011", "Pump: P-2, Power: 5.5 kW, Year: 2016"]


@pytest.mark.parametrize(
    ("claim", "fits"),
    [
        ("The dock opens at 05:45 each day.", True),
        ("Maren Holt holds the key of the dock.", True),
        ("The dock opens at 05:45 every day, and its key is held by Maren Holt.", True),
        ("The dock hardly ever opens at 05:45.", False),
        ("It is false that the dock opens at 05:45.", False),
        ("The dock key is stolen by Maren Holt.", False),
        ("The dock key used to be held by Maren Holt.", False),
        ("The dock was founded by Maren Holt at 05:45.", False),
        ("The dock key is held by Maren Holt and her brother.", False),
        ("The dock key is held by Maren Holt, the harbour master.", False),
        ("The dock opened at 05:45 every day until it burned down.", False),
        ("The dock opens at 05:45 because Maren Holt is an early riser.", False),
        ("If it rains, the dock opens at 05:45.", False),
        ("The dock opens at 05:45 every weekday.", False),
        ("The dock opens after 05:45.", False),
        ("The dock opens at about 05:45.", False),
        ("The dock may open at 05:45.", False),
        ("The buoy is blue.", False),
    ],
)
def test_one_word_makes_another_fact(claim: str, fits: bool) -> None:
    assert (objections(claim, f"{DOCK}\nThe buoy is red.") == []) is fits


def test_names_stay_whole() -> None:
    source = "The lighthouse was built in Wexford by Lars Ekman."
    assert objections("Lars Ekman built the lighthouse in Wexford.", source) == []
    assert objections("The lighthouse was built by Lars Wexford.", source)
    assert objections("The lighthouse was built in Ekman.", source)


@pytest.mark.parametrize(
    ("claim", "fits"),
    [
        ("P-2 has 5.5 kW.", True),
        ("P-1 has 3 kW and P-2 has 5.5 kW.", True),
        ("P-2 has 3 kW.", False),
        ("P-1 has 5.5 kW and P-2 has 3 kW.", False),
        ("P-2 has 5.5 kW and is from 2011.", False),
        ("P-1 and P-2 are from 2011.", False),
    ],
)
def test_two_rows_are_two_sentences(claim: str, fits: bool) -> None:
    assert (added(claim, PUMPS, "Pump house") == []) is fits


def test_parts_of_compounds_addresses_and_figures_in_words_are_known() -> None:
    assert added("Her front end work is in `about/bio.txt`.", ["Front-end work: see about/bio.txt."], "") == []
    assert added("The e-mail is nora@example.com.", ["Write an e-mail to nora@example.com."], "") == []
    assert added("She leads 6 people.", ["She leads six people."], "") == []
    assert added("She leads six people.", ["She leads 6 people."], "") == []


def test_a_sentence_that_leans_back_takes_its_name_along() -> None:
    assert added("Quayside ran until 2021.", ["Quayside moved containers. It ran until 2021."], "") == []
    assert added("Tollhouse ran until 2021.", ["Quayside ran until 2021. Tollhouse came later."], "")


def denying(text: str) -> Passage:
    return passage(text, kind="negative")


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Nora has worked with Rust professionally.", True),
        ("Nora is experienced in Rust and has worked with it.", True),
        ("Nora has not worked with Rust professionally.", False),
        ("Nora has worked with Python since 2013.", False),
        ("Nora wrote a talk about Rust.", False),
    ],
)
def test_the_owners_denial_stands_against_any_passage(claim: str, wrong: bool) -> None:
    passages = [
        passage("Nora has worked with Python since 2013."),
        denying("Nora has not worked with Rust professionally."),
    ]
    assert (denied_by(claim, passages, ["Nora Quill"]) is not None) is wrong
