"""Lists, tables and paragraphs stay whole where sentences are left out."""

from services.generator.domain.layout import Layout
from services.generator.domain.model_text import SentenceCutter


def shown(reply: str, *, without: str = "\0") -> str:
    """The reply as it is shown, sentences that hold ``without`` left out."""
    cutter = SentenceCutter(3)
    layout, out = Layout(), ""
    for written in cutter.feed(reply) + cutter.finish(cut_off=False):
        if without in written.text:
            layout.skip(written)
        else:
            placed = layout.placed(written)
            assert not placed.before.strip("\n -.0123456789"), "only blanks, line breaks and a list's mark"
            out += placed.before + placed.text
    return out.strip(" ")


def test_a_list_stays_a_list() -> None:
    assert shown("Doors:\n- North [1]\n- South. It is red.\n\nDone.") == "Doors:\n- North\n- South. It is red.\n\nDone."


def test_the_next_sentence_of_an_item_takes_over_its_mark() -> None:
    assert shown("Doors:\n- South BAD. It is red.\n- North", without="BAD") == "Doors:\n- It is red.\n- North"


def test_numbers_close_up() -> None:
    assert shown("1. One\n2. BAD\n3. Three\n   1. Inner\n4. Four", without="BAD").strip() == (
        "1. One\n2. Three\n   1. Inner\n3. Four"
    )


def test_a_table_keeps_its_header_without_its_first_row() -> None:
    table = "Times:\n\n| Day | Opens |\n|---|---|\n| Mon | BAD |\n| Tue | 6:00 |\n| Wed | 7:00 |"
    assert shown(table, without="BAD") == ("Times:\n\n| Day | Opens |\n| --- | --- |\n| Tue | 6:00\n| Wed | 7:00")


def test_code_stands_alone() -> None:
    assert shown("Run:\n```sh\nmake  run\n```\nThen wait.") == "Run:\n\n```sh\nmake  run\n```\n\nThen wait."
