"""Lists stay lists and tables tables, in the extractive writer's answers."""

from tests.unit.generator.asking import ask, texts
from tests.unit.generator.fakes import passage

STEPS = passage("To open the lock:\n\n1. Ring the bell.\n2. Close the gates.\n3. Fill the chamber.", title="Lock")


def test_a_sentence_that_announces_a_list_brings_it_along() -> None:
    choice = ask("How do I open the lock?", STEPS)
    assert texts(choice) == ["To open the lock:", "Ring the bell.", "Close the gates.", "Fill the chamber."]
    assert [one.before for one in choice.sentences] == [" ", "\n1. ", "\n2. ", "\n3. "]


def test_one_item_of_a_list_is_a_sentence() -> None:
    fruit = passage("- Apples cost two euros.\n- Pears cost three euros.\n- Plums are sold out.", title="Market")
    (sentence,) = ask("What do the pears cost?", fruit).sentences[:1]
    assert (sentence.text, sentence.before) == ("Pears cost three euros.", " ")


def test_a_list_that_is_wanted_comes_whole() -> None:
    fruit = passage("- Apples cost two euros.\n- Pears cost three euros.\n\nClosed on Mondays.", title="Market prices")
    choice = ask("List all market prices in euros: what do apples and pears cost?", fruit)
    assert [one.before + one.text for one in choice.sentences] == [
        "\n- Apples cost two euros.", "\n- Pears cost three euros.",
    ]  # fmt: skip


TABLE = "| Version | Released |\n|---|---|\n| 2.1.4 | October |\n| 2.0.0 | June |"


def test_a_row_is_told_with_its_header_and_quoted_without_the_repeated_one() -> None:
    lead = TABLE.index("| 2.1.4")
    (sentence, *_) = ask("When was version 2.0.0 released?", passage(TABLE, lead=lead, title="Releases")).sentences
    assert sentence.text == "Version: 2.0.0; Released: June"
    assert [span.quote for span in sentence.spans] == ["2.0.0 | June"]


def test_a_header_that_stands_in_the_text_is_quoted_too() -> None:
    (sentence, *_) = ask("When was version 2.0.0 released?", passage(TABLE, title="Releases")).sentences
    assert [span.quote for span in sentence.spans] == ["Version | Released", "2.0.0 | June"]


def test_a_table_that_is_wanted_stays_a_table() -> None:
    choice = ask(
        "List all versions with the month when they were released", passage(TABLE, title="Releases"), threshold=0.0
    )
    (sentence,) = choice.sentences
    assert sentence.text == "| Version | Released |\n| --- | --- |\n| 2.1.4 | October |\n| 2.0.0 | June |"
    assert [span.quote for span in sentence.spans] == ["Version | Released", "2.1.4 | October", "2.0.0 | June"]


def test_a_list_with_a_number_in_the_question_holds_only_its_rows() -> None:
    skills = "| Skill | Level |\n| --- | --- |\n| Go | 2 |\n| Rust | 1 |\n| PHP | 2 |"
    choice = ask("List all skills with level 2", passage(skills, title="Skills"), threshold=0.0)
    (sentence,) = choice.sentences
    assert sentence.text == "| Skill | Level |\n| --- | --- |\n| Go | 2 |\n| PHP | 2 |"
