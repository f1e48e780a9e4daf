"""Who speaks in an answer: it should be about its subject, not about the speaker, its orders or its sources.

Only what an assistant says of itself counts. Quotations, block quotations and code speak for others and are left
out, and ordinary sentences with the same words (World War I, an assistant as the subject of a document) pass.
"""

import re
from collections.abc import Iterator

_QUOTED = re.compile(
    "|".join(
        (
            # A sentence cut out of a longer quotation may keep only one of its marks.
            r"^[^\"\n]*[.!?,]\"(?=[ \t]|$)(?=[^\"\n]*(?:\"[^\"\n]*\"[^\"\n]*)*$)|^[^“”\n]*”",
            r"\"[^\"\n]*(?:\"|$)|“[^”\n]*(?:”|$)|„[^“”\n]*(?:[“”]|$)|«[^»\n]*(?:»|$)",
            r"(?<!\w)'(?=\S)(?:[^'\n]|'(?=\w)){0,300}'(?!\w)",
            r"`[^`]*`|^[ \t]*>.*$",
        )
    ),
    re.MULTILINE,
)
_START = r"(?:^|(?<=[.!?:]\s)|(?<=\n))[\s*_]*"
_MACHINE = (
    r"(?:(?:large )?language model|chat ?bot|(?:AI|virtual|digital)(?:[ -]powered)? (?:language )?(?:assistant|model)"
    r"|artificial intelligence|AI)"
)
_FIRST_PERSON = re.compile(r"(?<![\w./&'-])I(?:'(?:m|ve|d|ll))?,?(?= [a-z'])")
_NAME_BEFORE = re.compile(r"(?<=[\w,;)] )[A-Z][\w'-]* $")
_NUMERAL_BEFORE = re.compile(
    r"(?:\b[A-Z][\w'-]*|\b(?:type|phase|part|class|level|grade|stage|category|chapter|volume|tier|section)s?) $"
)
_PERSON_AFTER = re.compile(
    r"(?:'\w+| (?:am|have|do|don't|did|can|can't|cannot|could|will|won't|would|should|think|believe|know|want|hope))\b"
)
_NUMERAL_AFTER = re.compile(
    r" (?:is|was|were|has|had|of|in|on|and|or|to|the|for|with|at|as|by|from|ended|began|started|errors?|means?"
    r"|covers?|describes?|deals?|requires?|includes?|contains?)\b"
)
_SOURCES = r"(?:passages?|context|excerpts?|snippets?|search results)"
_GIVEN = r"(?:given|provided|numbered|retrieved)"
_ASSERT = r"(?:say|state|mention|provide|contain|answer|include|specify)"
_TASK = r"(?:help|assist|answer|comply|provide|fulfil+|discuss|engage|respond|continue|generate|share|speak|give)"
_CANNOT = (
    r"(?:can ?not|can't|won't|will not|(?:am |'m |are )?(?:unable|not able|not allowed) to|must decline|refuse|decline)"
)
_LABEL = r"(?:question|answer|passage(?: \d+)?|context|rules|system|assistant|user|sources|references)"

_PATTERNS: dict[str, tuple[str, ...]] = {
    "speaks as I": (rf"{_START}my (?-i:[a-z])", r"(?-i:\b(?:ich|[Jj]'ai|[Jj]e suis|[Jj]e ne)\b)"),
    "speaks of itself as a machine": (
        rf"\bI(?:'m| am)(?: \w+){{0,3}} {_MACHINE}\b",
        rf"{_START}as an? (?:\w+ )?{_MACHINE}, (?:I|my|it is not|we)\b",
        rf"{_START}this {_MACHINE} (?:can ?not|can't|is unable|does not)\b",
        r"\bmy (?:training(?: data)?|knowledge cut-?off|programming|system prompt|instructions)\b",
    ),
    "refuses": (
        rf"{_START}(?:I'm |I am |we are |so |very )*(?:sorry|apologi[sz]e)\b",
        rf"\b(?:I|we) {_CANNOT} (?:to )?(?:\w+ )?{_TASK}",
        r"\b(?:unable|not possible) to (?:answer|determine|say|provide)\b[^.]{0,40}\b(?:question|from|based)\b",
        r"\b(?:question|this|that) (?:can ?not|can't) be answered\b",
    ),
    "speaks of its sources instead of the matter": (
        rf"\b(?:the|these|this|those|all|any) {_GIVEN} {_SOURCES}\b",
        r"\b(?:the|these|this|those|all|any) (?:given|provided) (?:text|documents?|information|sources?)\b",
        rf"\b(?:the|these) {_SOURCES} {_GIVEN}\b",
        r"\b(?:text|documents?|information) (?:that (?:was|were) )?provided (?:does|do)\b",
        rf"\b(?:according to|based on|in|from) (?:the|these) {_SOURCES}\b(?! of\b)",
        rf"\bthe {_SOURCES} (?:{_ASSERT}s?\b|(?:do|does)(?: not|n't) {_ASSERT})",
        rf"\bpassages? \[?\d+\]?(?: and \d+)? (?:{_ASSERT}s?\b|(?:do|does|is|are) not\b)",
        r"\b(?:no|not enough|insufficient) information (?:is |was )?(?:provided|given|found) (?:in|about|on|to)\b",
    ),
    "repeats its instructions": (
        r"\bnot in the passages\b",
        r"</?(?:passages?|question|answer|context|think|system|s)\b[^<>\n]{0,200}>|<\|\w|\|>|\[/?INST\]|<<SYS>>",
        r"\b(?:use|answer|using) only (?:what )?(?:the |from the )?(?:passages|context|given text|provided)",
        r"\bend every sentence with\b|\bnever follow instructions\b",
        r"\b(?:the|this) system prompt\b.{0,20}\b(?:says|tells|is)\b",
        rf"^\s*(?:#+ *)?{_LABEL}\s*:",
    ),
    "talks to the visitor instead of answering": (
        r"\A\W*(?:(?:sure|certainly|great question|good question)\s*[!,.]|(?:of course|absolutely)!)",
        rf"{_START}here(?:'s| is| are) (?:the|your|an?|my|some) (?:\w+ )?(?:answers?|response|summary|information)\b",
        r"\bhope (?:this|that) helps\b|\blet me know\b|\bis there anything else\b",
        r"\?\W{0,9}\Z",
        r"\bfeel free to (?:ask|contact|reach out)(?: to)?(?: me\b| us\b| if you|\W{0,9}\Z)",
        r"\bplease (?:provide|clarify|specify) (?:more (?:context|details|information)|your question|which|what)\b",
    ),
}
_RULES = {
    note: tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns)
    for note, patterns in _PATTERNS.items()
}


def tone(text: str) -> Iterator[str]:
    """What is wrong with who speaks; ``text`` is without markers."""
    plain = _QUOTED.sub('""', text.replace("’", "'").replace("‘", "'"))
    if any(_is_a_person(plain, match) for match in _FIRST_PERSON.finditer(plain)):
        yield "speaks as I"
    for note, patterns in _RULES.items():
        if any(pattern.search(plain) for pattern in patterns):
            yield note


def _is_a_person(text: str, match: re.Match[str]) -> bool:
    """Whether the I is one, and not the numeral of World War I or Division I."""
    before = text[max(0, match.start() - 40) : match.start()]
    if _NAME_BEFORE.search(before):
        return _PERSON_AFTER.match(text, match.start() + 1) is not None
    return not (_NUMERAL_BEFORE.search(before) and _NUMERAL_AFTER.match(text, match.end()))
