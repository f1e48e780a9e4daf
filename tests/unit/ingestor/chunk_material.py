"""Made-up documents for property tests of the chunker: every construct, script and trap that files bring."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        *("valve", "pump", "e.g.", "Dr.", "Ruiz", "3.14", "C#", "#hashtag", "ends.", "Really?", "so:", "—"),
        *("snake_case_name", "*thin*", "**bold**", "`code`", "a|b", "<b>tag</b>", "&amp;", "\\*"),
        *("[link](https://example.com/a_(b))", "https://example.com/" + "a1b2" * 20, "x" * 90),
        *("straße", "naïve", "e\u0301te\u0301", "漢字は空白なしで続く。", "更换滤网时必须先切断电源，", "！\ufe00"),
        *("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "ภาษาไทยไม่มีช่องว่าง", "क्षेत्रीय", "مرحبا", "שָׁלוֹם"),
        *("👩🏽\u200d🚀", "🇩🇪🇫🇷🇯🇵", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
        *("zero\u200bwidth", "soft\u00adhyphen", "\u200f", "\ufeff"),
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
LINES = st.lists(SENTENCES, min_size=1, max_size=4).map("\n".join)
ANY_LETTERS = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\u0301\u200d\ufe0f\u0e33\U0001f3fd\U0001f1e6\r\n#`~|<>- "),
    max_size=300,
)


@dataclass(frozen=True)
class Part:
    """A piece of a Markdown file; ``heading`` is its words when it is one, ``row`` the cells of a table's rows."""

    text: str
    heading: str = ""


def _heading(level: int, number: int, words: str) -> Part:
    return Part(f"{'#' * level} H{number} {words}", f"H{number} {words}")


def _fence(mark: str, lines: Sequence[str]) -> Part:
    return Part("\n".join([f"{mark}sh", *(f"# no heading: {line}" for line in lines), mark]))


def _table(columns: int, rows: int) -> Part:
    head = "".join(f"| name {n} " for n in range(columns)) + "|\n" + "|---" * columns + "|\n"
    return Part(head + "".join("".join(f"| v{row}.{n} " for n in range(columns)) + "|\n" for row in range(rows)))


HEADINGS = st.builds(
    _heading, st.integers(1, 4), st.integers(0, 999), st.sampled_from(["Notes", "漢字", "C#", "on *it*"])
)
MARKS = ["***", "---", "![](a.png)", "[x]: https://example.com", "\u200b", "\r", "a\rb", "| |", "```\n```"]
FEW = st.lists(SENTENCES, min_size=1, max_size=4)
CODE_LINES = st.lists(st.sampled_from(["one", "`two", ""]), max_size=40)
PARTS = st.one_of(
    HEADINGS,
    HEADINGS,
    LINES.map(Part),
    LINES.map(Part),
    FEW.map(lambda items: Part("".join(f"- {item}\n" for item in items))),
    FEW.map(lambda items: Part("".join(f"1. {item}\n   # no heading\n" for item in items))),
    FEW.map(lambda code: Part("".join(f"    # no heading {line}\n" for line in code))),
    st.builds(_table, st.integers(1, 6), st.integers(0, 40)),
    st.builds(_fence, st.sampled_from(["```", "~~~", "````"]), CODE_LINES),
    SENTENCES.map(lambda inside: Part(f"<div class='x'>\n{inside}\n</div>")),
    SENTENCES.map(lambda inside: Part(f"<!-- {inside} -->")),
    SENTENCES.map(lambda inside: Part(f"> {inside}")),
    st.sampled_from(MARKS).map(Part),
    st.just(Part("---\ntitle: left over\ntags: [a, b]\n---")),
)
DOCUMENTS = st.lists(PARTS, min_size=1, max_size=14)


def text_of(parts: Sequence[Part]) -> str:
    """The file: parts with a blank line between them."""
    return "\n\n".join(part.text for part in parts) + "\n"


def tokens(texts: Sequence[str]) -> list[int]:
    """Like a tokenizer for English: a piece for six letters of a word, one for each mark or other character."""
    return [2 + sum(1 + len(run) // 6 for run in re.findall(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]", text)) for text in texts]
