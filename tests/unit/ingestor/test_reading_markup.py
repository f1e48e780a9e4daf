"""reStructuredText, notebooks, EPUB books, and the hard cases of HTML and JSON."""

import json
from pathlib import Path

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.places import place_of
from tests.unit.ingestor.workbooks import book, read, zipped

RST = """
Guide
=====

See :ref:`the tasks <tasks>` and :class:`~app.Task`, or `a page <https://x.example>`_.

.. setting:: retry_limit

Retries
-------

.. versionadded:: 4.2

.. warning::

    Never *more* than ten.

.. function:: run(task)

    Runs ``task`` once.

.. code-block:: python

    # no heading
    run(1)

- one
- two

  - inner

========  =====
Name      Limit
========  =====
retry     10
a | b     20
========  =====

.. include:: /etc/passwd
.. raw:: html

    <b>raw</b>
"""


def test_rst_becomes_markdown() -> None:
    found = read(RST, "guide.rst")
    assert found.title == "Guide"
    assert "See the tasks and `app.Task`, or [a page](https://x.example)." in found.text
    assert "# Guide\n" in found.text
    assert "\n## Retries\n" in found.text
    assert "**Warning**\n\nNever more than ten." in found.text
    assert "**run(task)**\n\nRuns `task` once." in found.text
    assert "```python\n# no heading\nrun(1)\n```" in found.text
    assert "| Name | Limit |\n|---|---|\n| retry | 10 |\n| a \\| b | 20 |" in found.text
    assert "- one\n" in found.text
    assert "  - inner" in found.text


def test_rst_includes_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    source = (
        f"Words.\n\n.. include:: {secret}\n\n.. csv-table::\n   :file: {secret}\n\n.. raw:: html\n   :file: {secret}\n"
    )
    found = read(source, "a.rst")
    assert "secret" not in found.text.replace(str(secret), "")


def test_rst_that_is_none_stays_text() -> None:
    found = read("word " * 5000, "a.rst")
    assert "word word" in found.text
    assert "read as plain text" in (found.warning or "")


def notebook(*cells: object, **more: object) -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, **more})


def test_a_notebook_is_words_code_and_short_outputs() -> None:
    long = [f"line {n}\n" for n in range(100)]
    found = read(
        notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "Words."]},
            {
                "cell_type": "code",
                "source": "print('```')",
                "outputs": [
                    {"output_type": "stream", "text": long},
                    {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": ["<Figure>"]}},
                    {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\x1b[31mlong"]},
                ],
            },
            {"cell_type": "markdown", "source": "```\nopen"},
            {"cell_type": "markdown", "source": "After."},
        ),
        "n.ipynb",
    )
    assert found.title == "Title"
    assert "````python\nprint('```')\n````" in found.text
    assert "line 19" in found.text
    assert "line 20" not in found.text
    assert "ValueError: no" in found.text
    assert "iVBOR" not in found.text
    assert "```\nopen\n```" in found.text
    at = found.text.index("After")
    assert place_of(found.places, at, at + 5) == "cell 4"
    assert "1 outputs" in (found.warning or "")


def test_an_old_notebook_is_read_too() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"], "outputs": []}]}], "nbformat": 3}
    assert "x = 1" in read(json.dumps(old), "old.ipynb").text


@pytest.mark.parametrize("text", ["{", "[1, 2]", '{"cells": 5}', '{"cells": [1, null, {}]}', "[" * 100_000])
def test_what_is_no_notebook_fails_with_its_name(text: str) -> None:
    with pytest.raises(RagstoneError, match=r"x\.ipynb"):
        read(text, "x.ipynb")


def page(body: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>p</title></head><body>{body}</body></html>'


def test_a_book_is_its_chapters_in_order() -> None:
    chapters = {
        "nav.xhtml": page("<nav><ol><li>Contents</li></ol></nav>"),
        "cover.xhtml": page("<img src='c.png'/>"),
        "b%20one.xhtml": page("<h1>One</h1><p>The mill stood.</p><ol><li>first</li><li>second</li></ol>"),
        "c.xhtml": page(
            "<h1>Two</h1><p>It burnt.</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
        ),
    }
    archive = book(chapters | {"b one.xhtml": chapters["b%20one.xhtml"]}, first_is_contents=True)
    found = read(archive, "mill.epub")
    assert (found.title, found.language) == ("The Mill", "en")
    assert found.text.startswith("# One\n\nThe mill stood.\n\n1. first\n2. second\n")
    assert "| a | b |\n|---|---|\n| 1 | 2 |" in found.text
    assert "Contents" not in found.text
    at = found.text.index("burnt")
    assert place_of(found.places, at, at + 5) == "chapter 2"


def test_a_locked_book_and_what_is_none_say_so() -> None:
    with pytest.raises(RagstoneError, match="DRM"):
        read(book({"a.xhtml": page("<p>x</p>")}, locked="a.xhtml"), "a.epub")
    with pytest.raises(RagstoneError, match="no EPUB book"):
        read(zipped({"a.txt": "words"}), "a.epub")


def test_a_book_that_declares_entities_is_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><container>&b;</container>'
    with pytest.raises(RagstoneError) as caught:
        read(zipped({"META-INF/container.xml": bomb}), "a.epub")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


def test_elements_within_each_other_without_end_keep_their_words() -> None:
    found = read("<html><body>" + "<div>" * 50_000 + "needle in the deep" + "</div>" * 50_000, "deep.html")
    assert "needle in the deep" in found.text
    assert "too deep" in (found.warning or "")


def test_tag_soup_keeps_its_words() -> None:
    soup = (
        "<html><head><title>Broken<body><p>Unclosed <b>bold <i>italic <table><tr><td>cell one<td>cell two<p>after "
        '<script>var x="</p>hidden";</script> visible end'
    )
    found = read(soup, "soup.html")
    assert [
        word for word in ("Unclosed", "cell one", "cell two", "after", "visible end") if word not in found.text
    ] == []
    assert "hidden" not in found.text
    assert found.title == "Broken"


def test_a_page_that_is_no_article_keeps_its_list() -> None:
    entries = "".join(f"<div class=item><span>Part {n}</span><span>{n} CHF</span></div>" for n in range(300))
    found = read(f"<html><body><nav>Home Imprint</nav><div>{entries}</div></body></html>", "list.html")
    assert "Part 299" in found.text
    assert "Imprint" not in found.text


def test_json_lines_under_the_name_of_json_are_read() -> None:
    found = read('{"text": "First."}\n{"text": "Second."}\n', "lines.json")
    assert "First." in found.text
    assert "Second." in found.text


def test_a_key_that_stands_twice_keeps_both_values() -> None:
    found = read('{"a": NaN, "dup": 1, "dup": 2}', "a.json")
    assert found.text == "a: NaN\ndup[0]: 1\ndup[1]: 2"
    assert "'dup'" in (found.warning or "")


def test_many_records_are_quick() -> None:
    records = json.dumps([{"id": n, "text": f"record {n}"} for n in range(20_000)])
    assert read(records, "many.json").text.endswith("# 19999\n\nrecord 19999\n")


CHINESE = "維基百科是一個自由內容的百科全書，人人都可以編輯它的條目。"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"line one\rline two\r", "line one\nline two\n"),
        ("\ufeffGrüße".encode("utf-16"), "Grüße"),
        (b"before\x00\x00after NUL bytes\n", "beforeafter NUL bytes\n"),
        (b"caf\xe9 and \xff\xfe stray bytes, then valid \xe2\x82\xac\n", "café and ÿþ stray bytes, then valid €\n"),
        (CHINESE.encode("big5"), CHINESE),
    ],
)
def test_texts_as_programs_leave_them(data: bytes, text: str) -> None:
    assert read(data, "a.txt").text == text
