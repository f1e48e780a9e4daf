"""The rules object to what a source does not say, and to nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.facts import faults

AGREE = [
    ("The dock opens at 5:45.", "The dock opens at 05:45 on weekdays."),
    ("It meets at 5 pm.", "It meets at 17:00."),
    ("It is 5 kilometres long.", "The path is 5 km long."),
    ("It grew by 3 percent.", "It grew by 3 %."),
    ("There were 1,200 guests.", "1200 guests came."),
    ("About 1.2 thousand guests came.", "1,200 guests came."),
    ("It weighs 1.5 kg.", "It weighs 1500 g."),
    ("It takes 60 minutes.", "It takes 1 hour."),
    ("It cost $3 million.", "It cost $3m."),
    ("It took twenty-five days.", "It took 25 days."),
    ("p99 latency fell from 180 ms to 40 ms.", "p99 latency fell from 180 to 40 ms."),
    ("The team has 10 to 15 people.", "The team has 10-15 people."),
    ("Published on 7 October 2025.", "Date: 2025-10-07"),
    ("She joined in October 2019.", "She joined on 2019-10-07."),
    ("It began in the 1980s.", "It began in 1984."),
    ("Bo Ek holds 3 keys.", "Bo Ek holds three keys."),
    ("Use v2.1.4.", "Use version 2.1.4."),
    ("The X40 glider flew.", "The X-40 glider flew."),
    ("The CRDT store is fast.", "The conflict-free replicated data type store is fast."),
    ("The ferry does not run in winter.", "The ferry runs in summer but not in winter."),
    ("The shop is closed on Sundays.", "The shop does not open on Sundays."),
    ("The office is unaffected.", "The office is not affected."),
    ("She lacks Kubernetes experience.", "She has no Kubernetes experience."),
    ("Dinner is before the talk.", "The talk is after dinner."),
    ("It fell to 212 ms, not 121.", "It fell from 1,840 ms to 212 ms."),
    ("Not only Juno but also Bo wrote it.", "Juno and Bo wrote it."),
    ("Juno prefers Nomad over Kubernetes.", "Juno has not run Kubernetes in production. She prefers Nomad."),
    ("Visitors may enter the hall at noon.", "Guests may enter the hall at 12:00."),
    ("Der Steg öffnet um 6 Uhr.", "Um 6:00 Uhr öffnet der Steg."),
]
DISAGREE = [
    ("The dock opens at 06:45.", "The dock opens at 05:45 on weekdays.", "time"),
    ("It meets at 5 pm.", "It meets at 5:00 am.", "time"),
    ("It is 5 km long.", "The path is 5 miles long.", "number"),
    ("It grew by 3.", "It grew by 3 %.", "number"),
    ("It grew by 3 %.", "It grew in 3 rooms.", "number"),
    ("It cost €3 million.", "It cost $3 million.", "number"),
    ("Bo Ek holds four keys.", "Bo Ek holds three keys.", "number"),
    ("She has two dogs and three cats.", "She has three dogs and two cats.", "number"),
    ("Both are at level 7 of 5.", "Both are at level 5. The team has 7 people.", "number"),
    ("Published October 7, 2025.", "Published on 2025-10-08.", "date"),
    ("She joined in March 2019.", "She joined on 2019-10-07.", "date"),
    ("It began in the 1990s.", "It began in 1984.", "date"),
    ("Use v2.1.5.", "Use version 2.1.4.", "code"),
    ("The X-41 glider flew.", "The X-40 glider flew.", "code"),
    ("The parser was written by Priya.", "The parser was written by Juno.", "name"),
    ("Priya wrote the parser.", "Juno wrote the parser.", "name"),
    ("The museum is open on Monday.", "The museum is open on Tuesday.", "name"),
    ("See https://dock.invalid/times.", "See https://dock.example/times.", "address"),
    ("The ferry runs in winter.", "The ferry runs in summer but not in winter.", "negation"),
    ("Juno does not know Rust.", "Juno knows Rust.", "negation"),
    ("Juno knows Rust.", "Juno has never written Rust and does not know Rust.", "negation"),
    ("More than 40 people came.", "Fewer than 40 people came.", "opposite"),
    ("Prices increased in 2020.", "Prices fell in 2020.", "opposite"),
    ("Dinner is after the talk.", "Dinner is before the talk.", "opposite"),
    ("The talk is before dinner.", "Dinner is before the talk.", "order"),
    ("All rooms have a balcony.", "Some rooms have a balcony.", "quantifier"),
    ("Only staff may enter.", "Staff may enter.", "quantifier"),
]


@pytest.mark.parametrize(("claim", "evidence"), AGREE)
def test_another_wording_of_the_same_fact_passes(claim: str, evidence: str) -> None:
    assert faults(claim, evidence) == []


@pytest.mark.parametrize(("claim", "evidence", "kind"), DISAGREE)
def test_another_fact_is_named(claim: str, evidence: str, kind: str) -> None:
    assert kind in {fault.split(":")[0] for fault in faults(claim, evidence)}


@pytest.mark.parametrize("text", sorted({text for pair in (*AGREE, *DISAGREE) for text in pair[:2]}))
def test_what_a_text_says_is_no_fault_against_itself(text: str) -> None:
    assert faults(text, text) == []


WORD_LIST = (
    "the dock Bo Ek opens not never 3 1,200 05:45 v2.1.4 X-40 all some before after more than fewer only"
    " in winter twenty-five keys without and https://a.example/b but NASA first"
)
WORDS = [*WORD_LIST.split(), "5 km", "12 %", "2025-10-07", "7 May 2024", "5 pm", "€3 million"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_no_sentence_contradicts_itself(words: list[str]) -> None:
    text = f"{' '.join(words)}."
    assert faults(text, text) == []


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.lists(st.sampled_from(WORDS), max_size=8))
def test_more_evidence_takes_no_figure_away(words: list[str], more: list[str]) -> None:
    claim = f"{' '.join(words)}."
    kinds = {fault.split(":")[0] for fault in faults(claim, f"{claim} {' '.join(more)}.")}
    assert not kinds & {"date", "time", "code", "address", "name"}


@given(st.integers(1, 9999), st.integers(1, 9999))
def test_a_number_is_told_from_every_other(one: int, other: int) -> None:
    assert bool(faults(f"It has {one:,} steps.", f"It has {other} steps.")) is (one != other)


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_breaks_it(claim: str, evidence: str) -> None:
    assert faults(claim, claim) == []
    assert all(isinstance(one, str) for one in faults(claim, evidence))


def test_what_is_known_needs_no_source() -> None:
    assert faults("It was Maréchal.", "It was her.") == ["name: maréchal is not in the source"]
    assert faults("It was Maréchal.", "It was her.", known="A guide to Maréchal.") == []
