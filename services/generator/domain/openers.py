"""What a model puts in front of what it has to say: a label, a courtesy, its own opinion, talk about passages.

It goes, and what is left is checked like any sentence. A line that plays the visitor's part goes as a whole.
"""

import re

_LABEL = re.compile(r"\s*\**(?:assistant|AI|bot)\**\s*:\**(?:\s+|$)", re.IGNORECASE)
_FIRST_LABEL = re.compile(
    r"\s*\**(?:(?:final |short )?answer|response|reply|antwort)\**\s*:\**(?:\s+|$)", re.IGNORECASE
)
_VISITOR = re.compile(
    r"^[ \t]*\**(?:user|human|visitor|question)\**[ \t]*:[^\n\[]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE
)
"""A line with a marker may be content: "User: admin [1]."."""
_OPENERS = re.compile(
    r"(?:as (?:your|the|an?) [\w ]{1,40}, )?I(?:'m| am) (?:happy|glad|pleased|delighted|proud)"
    r" to (?:tell|say|inform|confirm|share|report)(?: you)?(?: that\b|[:,])?(?:\s+|$)"
    r"|I (?:think|believe|guess|suppose|would say|can (?:say|confirm|tell you))(?: that\b|[:,])?\s+"
    r"(?!so\b|not\b|about\b|of\b|in\b|as\b|like\b|it through\b)"
    r"|(?:according to|based on|as stated in|from) (?:the )?(?:given |provided |numbered )?passages?(?: \d+)?"
    r"(?:(?:,| and) \d+)*,\s+"
    r"|(?:the )?(?:given |provided |numbered )?passages?(?: \d+)? (?:says?|states?|mentions?|notes?|tells? us) that\s+",
    re.IGNORECASE,
)


def without_visitor(sentence: str) -> str:
    """A model's raw sentence without the lines in which it speaks for the visitor ("User: hi")."""
    return _VISITOR.sub("", sentence)


def without_opener(text: str, *, first: bool) -> str:
    """``text`` from where it says something; "Answer:" is a label only at the head of the ``first`` sentence."""
    labels = (_LABEL, _FIRST_LABEL) if first else (_LABEL,)
    rest = text
    for pattern in (*labels, _OPENERS):
        if found := pattern.match(rest.replace("’", "'")):
            rest = rest[found.end() :]
    return rest if rest == text else rest[:1].upper() + rest[1:]
