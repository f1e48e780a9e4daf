"""Compound questions taken apart by rule, and the many that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.splitting import PART_LENGTH_MAX, PARTS_MAX, split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When does the pier open and how much is a berth?", ["When does the pier open?", "How much is a berth?"]),
        ("When does the pier open, and how much is a berth", ["When does the pier open?", "How much is a berth?"]),
        ("When does the pier open? How much is a berth?", ["When does the pier open?", "How much is a berth?"]),
        ("I come in May. When does the pier open? Is parking free?", ["When does the pier open?", "Is parking free?"]),
        (
            "When does the pier open, how much is a berth, and who runs the shed?",
            ["When does the pier open?", "How much is a berth?", "Who runs the shed?"],
        ),
        ("Does the shed have heating and is there a kettle?", ["Does the shed have heating?", "Is there a kettle?"]),
        ("When and where was Tidemark built?", ["When was Tidemark built?", "Where was Tidemark built?"]),
        ("When was Tidemark built and who uses it?", ["When was Tidemark built?", "Who uses Tidemark?"]),
        ("Who is Mara Voss and what does she do?", ["Who is Mara Voss?", "What does Mara Voss do?"]),
        ("Who runs Tidemark and what are its limits?", ["Who runs Tidemark?", "What are Tidemark's limits?"]),
        (
            "What is the earliest that Mara can start, and what does Mara cost an hour?",
            ["What is the earliest that Mara can start?", "What does Mara cost an hour?"],
        ),
        (
            "Where did Mara learn the trade and when did she finish?",
            ["Where did Mara learn the trade?", "When did Mara finish?"],
        ),
        ("When was Tidemark built? Who uses it?", ["When was Tidemark built?", "Who uses Tidemark?"]),
        (
            "Wann öffnet der Steg und wie viel kostet ein Platz?",
            ["Wann öffnet der Steg?", "Wie viel kostet ein Platz?"],
        ),
        ("Gibt es einen Kran und wer leitet die Werft?", ["Gibt es einen Kran?", "Wer leitet die Werft?"]),
        ("Wann und wo wurde Tidemark gebaut?", ["Wann wurde Tidemark gebaut?", "Wo wurde Tidemark gebaut?"]),
    ],
)
def test_several_questions_are_taken_apart(question: str, parts: list[str]) -> None:
    assert list(split(question)) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When does the pier open?",
        "What is the price of salt and pepper?",
        "How much are salt and pepper and when are they sold?",
        "When does it open and close?",
        "What does the manual say and when was it printed?",
        "Which tool did the person who founded X and who lives in Y build?",
        "What is the pump that was built and was sold?",
        "Can you tell me when the pier opens and when it closes?",
        "What happens when the pump fails and when the tank is empty?",
        "Who built and who maintains Tidemark?",
        "Who won the match and who lost?",
        "What tools does Mara use and why?",
        "What role did she have at Heron and how long did she stay?",
        "Is the crane safe or is it broken?",
        "Who was the owner of the yard and who died in 2007?",
        "Who works in Berlin and what does she do?",
        "Which files broke in November and what was wrong with it?",
        "Does Mara write Java and what about Scala?",
        "Which year and which season was the fourteenth?",
        "Who is Mara's boss and what does he do?",
        "Did Mara meet Ove and when did she leave?",
        "When does the boat leave the pier and how long is it?",
        "Wo liegt der Steg und wem gehört er?",
        "Was kosten Salz und Pfeffer?",
        "Is there a kettle? Can I use it?",
        "What does this do? Why does it do that?",
        "How does the pipeline treat and/or in a query?",
        "Tell me about the pier and the shed.",
        "and who?",
        "?",
        "",
    ],
)
def test_one_question_or_one_that_cannot_be_parted_safely_stays_whole(question: str) -> None:
    assert split(question) == ()


@given(st.text(max_size=200) | st.lists(st.sampled_from(
    ["when", "is", "the", "pier", "and", "who", "Mara", "it", "?", ",", "how much", "does", "und", "wie", "was"]
), max_size=25).map(" ".join))  # fmt: skip
def test_no_text_breaks_it(text: str) -> None:
    parts = split(text)
    assert len(parts) in {0, *range(2, PARTS_MAX + 1)}
    assert all(part.endswith("?") and len(part) <= PART_LENGTH_MAX for part in parts)
