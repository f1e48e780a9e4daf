"""Tells a statement of the assistant about itself, or its unwillingness, from an ordinary sentence.

Only the first person counts and quotations do not, so that "I cannot recommend it enough" and a quoted
"I am sorry, the pool is closed" stay what they are: content.
"""

import re

_MACHINE = (
    r"(?:an? )?(?:\w+ ){0,2}?(?:AI(?: \w+)?|artificial intelligence|(?:large )?language model|chat ?bot"
    r"|(?:virtual|digital|AI) assistant|machine learning model)"
)
_REFUSE = (
    r"(?:can ?not|can't|won't|will not|(?:am |'m )?(?:unable|not able|not allowed|not permitted) to"
    r"|(?:must|have to|need to) (?:respectfully )?(?:decline|refuse)(?: to)?|refuse to|decline to)"
)
_TASK = (
    r"(?:help (?!but\b)|assist|answer|comply|provide|fulfil+|discuss|engage|respond|continue|generate"
    r"|do (?:that|this|so)\b|share (?:that|this|personal|any)|speak (?:as|for)|give (?:that|this|you))"
)
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("is_a_machine", re.compile(rf"\bI(?:'m| am)(?: \w+){{0,2}} {_MACHINE}\b", re.IGNORECASE)),
    ("as_a_machine", re.compile(rf"\bas (?:an?|your|the) (?:\w+ ){{0,3}}?{_MACHINE}, (?:I|my)\b", re.IGNORECASE)),
    (
        "own_training",
        re.compile(r"\bmy (?:training data|knowledge cut-?off|programming|system prompt)\b", re.IGNORECASE),
    ),
    (
        "own_maker",
        re.compile(
            r"\bI was (?:trained|created|built|developed|made) by (?:OpenAI|Alibaba|Google|Meta|Anthropic|Mistral)"
        ),
    ),
    ("refuses", re.compile(rf"\bI {_REFUSE} (?:\w+ )?{_TASK}", re.IGNORECASE)),
    ("refuses", re.compile(rf"\bI'm (?:unable|not able|not allowed) to (?:\w+ )?{_TASK}", re.IGNORECASE)),
    ("refuses", re.compile(r"\bI (?:must|have to|need to) (?:respectfully )?decline\b", re.IGNORECASE)),
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»")
_NOT_KNOWN = re.compile(
    r"\W*(?:not[ _]in[ _]the[ _]passages|(?:unfortunately, |sorry, |however, )*(?:(?:the|these|none of the|your)"
    r" (?:given |provided |numbered )?(?:passages?|documents?|context|sources?|texts?)\b"
    r"[^.]{0,60}\b(?:not|no|none|nothing|\w+n't)\b"
    r"|(?:none of the|no) (?:passages?|documents?)|there (?:is|are) no (?:information|mention|details?)\b"
    r"|(?:it|this|that) is not (?:stated|mentioned|said|known|specified)"
    r"|I (?:do not|don't) (?:know|have (?:any |enough )?information)|no information\b))",
    re.IGNORECASE,
)


def broken_rule(text: str) -> str | None:
    """Name of the rule that the text breaks, or None."""
    plain = _QUOTED.sub('""', text.replace("’", "'").replace("‘", "'"))
    return next((name for name, pattern in _RULES if pattern.search(plain)), None)


def says_unknown(text: str) -> bool:
    """Whether the sentence only says that the passages do not answer; such a sentence has no source to cite."""
    return _NOT_KNOWN.match(text.replace("’", "'")) is not None
