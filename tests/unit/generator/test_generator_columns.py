"""A row of a table answers with the cells that the question asks for, and stays whole where that is not certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.generator.domain.asked import Asked
from services.generator.domain.candidates import candidates
from services.generator.domain.columns import wanted
from tests.unit.generator.asking import ask, texts
from tests.unit.generator.fakes import passage

VALVES = ("Valve", "Line", "Opening bar", "Closing bar", "Inspector")
VALVE = ("V-057", "Line B", "8.7", "7.7", "team north")
PLANS, PLAN = ("Plan", "Users", "Price (EUR)", "Remark"), ("Basic", "up to 5", "12", "yearly")
PRICES, PRICE = ("Article", "Price", "Total price", "Stock"), ("Lamp", "5", "6", "7")
PAIR, SIDE = ("Aspect", "Quayside", "Ledgerline"), ("Load", "2,300 a second", "3.1 million a day")
YEARS, YEAR = ("Item", "2023", "2024", "2025"), ("Revenue", "10", "12", "14")
LEADS, LEAD = ("Project", "Team", "Years", "Lead"), ("Quayside", "5 people", "2019 to 2021", "Bo Lind")
SKILLS = ("Skill", "Level", "Used at work since", "Remark")
SKILL = ("Python", "5", "2014", "daily, currently Python 3.11")
SETTINGS, SETTING = ("Setting", "Default", "Line", "Timeout"), ("Line timeout", "5 s", "B", "9 s")
VENTILE, VENTIL = (
    ("Ventil", "Öffnungsdruck (bar)", "Schließdruck (bar)", "Prüfer"),
    ("V-057", "8,7", "7,7", "Team Nord"),
)
VANNES, VANNE = ("Vanne", "Pression d'ouverture", "Pression de fermeture"), ("V-057", "8,7", "7,7")
VALVULAS, VALVULA = ("Válvula", "Presión de apertura", "Presión de cierre"), ("V-057", "8,7", "7,7")


def said(question: str, header: tuple[str, ...], row: tuple[str, ...]) -> str:
    """The row as it is told, the columns that are left out left out."""
    kept = wanted(Asked.of(question), "", header, row)
    return "; ".join(row[at] for at in sorted(kept))


@pytest.mark.parametrize(
    ("question", "header", "row", "answer"),
    [
        ("What is the closing pressure of valve V-057?", VALVES, VALVE, "V-057; 7.7"),
        ("What's V-057's closing pressure?", VALVES, VALVE, "V-057; 7.7"),
        ("How high is the opening pressure of V-057?", VALVES, VALVE, "V-057; 8.7"),
        ("Which closing pressure does V-057 have?", VALVES, VALVE, "V-057; 7.7"),
        ("At what pressure does V-057 close?", VALVES, VALVE, "V-057; 7.7"),
        ("Tell me the closing pressure of valve V-057.", VALVES, VALVE, "V-057; 7.7"),
        ("closing pressure V-057", VALVES, VALVE, "V-057; 7.7"),
        ("Which line is V-057 on?", VALVES, VALVE, "V-057; Line B"),
        ("Who inspects V-057?", VALVES, VALVE, "V-057; team north"),
        ("What is the price of the Basic plan?", PLANS, PLAN, "Basic; 12"),
        ("How many users does the Basic plan allow?", PLANS, PLAN, "Basic; up to 5"),
        ("What was the load of Quayside?", PAIR, SIDE, "Load; 2,300 a second"),
        ("What was Quayside's load?", PAIR, SIDE, "Load; 2,300 a second"),
        ("What was the revenue in 2024?", YEARS, YEAR, "Revenue; 12"),
        ("What level is her Python?", SKILLS, SKILL, "Python; 5"),
        ("Since when has she used Python at work?", SKILLS, SKILL, "Python; 2014"),
    ],
)
def test_the_named_column_is_said_with_the_rows_name(
    question: str, header: tuple[str, ...], row: tuple[str, ...], answer: str
) -> None:
    assert said(question, header, row) == answer


@pytest.mark.parametrize(
    ("question", "header", "row", "answer"),
    [
        ("Wie hoch ist der Schließdruck von V-057?", VENTILE, VENTIL, "V-057; 7,7"),
        ("Was ist der Schließdruck des Ventils V-057?", VENTILE, VENTIL, "V-057; 7,7"),
        ("Welchen Schließdruck hat das Ventil V-057?", VENTILE, VENTIL, "V-057; 7,7"),
        ("Wer ist der Prüfer von V-057?", VENTILE, VENTIL, "V-057; Team Nord"),
        ("Quelle est la pression de fermeture de la vanne V-057 ?", VANNES, VANNE, "V-057; 7,7"),
        ("Quelle est la pression de V-057 ?", VANNES, VANNE, "V-057; 8,7; 7,7"),
        ("¿Cuál es la presión de cierre de la válvula V-057?", VALVULAS, VALVULA, "V-057; 7,7"),
    ],
)
def test_in_other_languages_too(question: str, header: tuple[str, ...], row: tuple[str, ...], answer: str) -> None:
    assert said(question, header, row) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What are the opening and closing pressures of V-057?", "V-057; 8.7; 7.7"),
        ("What is the closing pressure of V-057 and its inspector?", "V-057; 7.7; team north"),
        ("What is the line and closing pressure of valve V-057?", "V-057; Line B; 7.7"),
    ],
)
def test_several_columns_are_said_in_the_tables_order(question: str, answer: str) -> None:
    assert said(question, VALVES, VALVE) == answer


@pytest.mark.parametrize(
    ("question", "header", "row", "answer"),
    [
        ("What is the bar of V-057?", VALVES, VALVE, "V-057; 8.7; 7.7"),
        ("What is the price of the lamp?", PRICES, PRICE, "Lamp; 5"),
        ("What is the total price of the lamp?", PRICES, PRICE, "Lamp; 6"),
        ("What is the price of the lamp?", ("Article", "Net price", "Gross price", "Stock"), PRICE, "Lamp; 5; 6"),
        ("What is the price of the lamp?", ("Article", "Price", "Price", "Stock"), PRICE, "Lamp; 5; 6"),
    ],
)
def test_a_word_of_several_columns_names_all_that_nothing_tells_apart(
    question: str, header: tuple[str, ...], row: tuple[str, ...], answer: str
) -> None:
    assert said(question, header, row) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the default of the line timeout?", "Line timeout; 5 s"),
        ("What is the default line timeout?", "Line timeout; 5 s"),
        ("Which line is the line timeout for?", "Line timeout; B"),
    ],
)
def test_a_columns_name_inside_the_rows_name_asks_for_nothing(question: str, answer: str) -> None:
    assert said(question, SETTINGS, SETTING) == answer


@pytest.mark.parametrize(
    ("question", "header", "row"),
    [
        ("What do you know about V-057?", VALVES, VALVE),
        ("What is valve V-057?", VALVES, VALVE),
        ("Who is responsible for the closing of V-057?", VALVES, VALVE),
        ("Which valve on line B closes at 7.7 bar?", VALVES, VALVE),
        ("At which end does the team north of V-057 inspect?", VALVES, VALVE),
        ("Which gasket does V-057 close with?", VALVES, VALVE),
        ("How much does the Basic plan for 5 users cost?", PLANS, PLAN),
        ("What does the Basic plan for users cost?", PLANS, PLAN),
        ("How do Quayside and Ledgerline differ in load?", PAIR, SIDE),
        ("How many requests did Quayside handle?", PAIR, SIDE),
        ("How long did she lead the team at Quayside?", LEADS, LEAD),
        ("Which Python version does she use at work?", SKILLS, SKILL),
        ("What was the revenue?", YEARS, YEAR),
    ],
)
def test_the_row_stays_whole_where_no_column_is_surely_asked_for(
    question: str, header: tuple[str, ...], row: tuple[str, ...]
) -> None:
    assert said(question, header, row) == "; ".join(row)


def test_a_column_that_only_sounds_like_the_question_does_not_take_the_answers_place() -> None:
    header, row = ("Ticket", "Season", "Rate", "Seats"), ("Day", "summer", "12 EUR", "any")
    assert said("What is the season price of the day ticket?", header, row) == "; ".join(row)
    assert "Bo Lind" in said("Who was the team lead of Quayside?", LEADS, LEAD)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the closing pressure of V-057 7.7 bar?", "V-057; 7.7"),
        ("Is the inspector of V-057 team north?", "V-057; team north"),
    ],
)
def test_a_yes_or_no_is_answered_by_the_column_with_the_value(question: str, answer: str) -> None:
    assert said(question, VALVES, VALVE) == answer


def test_an_empty_cell_is_no_answer() -> None:
    assert said("What is the closing pressure of V-057?", VALVES, ("V-057", "Line B", "8.7", "", "team north")) == (
        "V-057; Line B; 8.7; ; team north"
    )


@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=6))
def test_every_question_and_table_keeps_the_rows_name_and_says_something(
    question: str, cells: list[tuple[str, str]]
) -> None:
    header, row = [name for name, _ in cells], [cell for _, cell in cells]
    kept = wanted(Asked.of(question), "", header, row)
    assert kept <= set(range(len(cells)))
    assert not cells or 0 in kept


TABLE = "\n".join(
    ["| Valve | Line | Opening bar | Closing bar | Inspector |", "|---|---|---|---|---|"]
    + [f"| V-{n:03} | Line {'ABCD'[n % 4]} | {3 + n / 10:.1f} | {2 + n / 10:.1f} | team north |" for n in range(50, 60)]
)
HALL = passage(TABLE, title="Valve settings", section="Valve settings > Main hall")


def test_the_evidence_is_still_the_whole_row_with_its_header() -> None:
    (sentence,) = ask("What is the closing pressure of valve V-057?", HALL).sentences
    assert sentence.text == "Valve: V-057; Closing bar: 7.7"
    assert [span.quote for span in sentence.spans] == [
        "Valve | Line | Opening bar | Closing bar | Inspector", "V-057 | Line B | 8.7 | 7.7 | team north",
    ]  # fmt: skip
    assert all(HALL.text[span.start : span.end] == span.quote for span in sentence.spans)


def test_parts_that_ask_for_the_same_row_are_answered_by_one_sentence() -> None:
    parts = ["What is the closing pressure of valve V-057?", "Who is the inspector of valve V-057?"]
    assert texts(ask(" ".join(parts), HALL, parts=parts)) == ["Valve: V-057; Closing bar: 7.7; Inspector: team north"]


def test_parts_whose_row_stands_in_two_passages_lose_no_column() -> None:
    parts = ["What is the closing pressure of valve V-057 in the east?", "Which line is valve V-057 in the west on?"]
    one, two = (HALL.model_copy(update={"section": f"Valves > {side}"}) for side in ("East", "West"))
    assert texts(ask(" ".join(parts), one, two, parts=parts)) == ["Valve: V-057; Line: Line B; Closing bar: 7.7"]


def test_rows_that_stay_a_table_have_the_named_columns_alone() -> None:
    parts = ["What is the closing pressure of valve V-057?", "What is the closing pressure of valve V-058?"]
    assert texts(ask(" ".join(parts), HALL, parts=parts)) == [
        "| Valve | Closing bar |\n| --- | --- |\n| V-057 | 7.7 |\n| V-058 | 7.8 |"
    ]


def test_a_row_without_a_name_keeps_its_cells_under_their_columns() -> None:
    text = "| Hall | Opening bar | Closing bar |\n|---|---|---|\n| East | 4 | 3 |\n| | 8.7 | |\n"
    assert [one.spoken for one in candidates("", [passage(text)])] == [
        "Hall: East, Opening bar: 4, Closing bar: 3", "Hall: , Opening bar: 8.7",
    ]  # fmt: skip
