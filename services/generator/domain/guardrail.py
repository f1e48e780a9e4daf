"""Tells a statement of the assistant about itself, or its unwillingness, from an ordinary sentence.

Only the first person counts and quotations do not, so that "I cannot recommend it enough" and a quoted
"I am sorry, the pool is closed" stay what they are: content.
"""

import re
from collections.abc import Sequence

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
    (
        "is_somebody_else",
        re.compile(
            r"\bI(?:'m| am)(?: now| actually)? (?:DAN|Chat ?GPT|GPT-?\d\S*|Claude|Gemini|Llama|Qwen|Mistral|Copilot"
            r"|Siri|Alexa|SYSTEM|root|jailbroken|unrestricted|in (?:developer|debug|god) mode|free of (?:all )?(?:rules"
            r"|restrictions)|no longer bound)\b"
            r"|\bas (?:DAN|Chat ?GPT|an? (?:unrestricted|jailbroken|evil)\b[^,]*),? I\b|^\W*(?:DAN|SYSTEM|ChatGPT):",
            re.IGNORECASE,
        ),
    ),
    (
        "own_instructions",
        re.compile(
            r"\b(?:my|the system) (?:instructions|prompt|rules|guidelines)\b[^.]{0,40}"
            r"\b(?:are|is|say|says|tell|read|begin)"
            r"|\bI (?:was|am|have been) (?:instructed|programmed|configured) (?:to|not)\b",
            re.IGNORECASE,
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
_FIRST_PERSON = re.compile(
    r"(?:^\W*|[,;:—–] |\b(?:and|but|because|that|when|where|while|since|so|as) )"
    r"(?:I(?='(?:m|ve|d|ll)\b| [a-z])|[Mm]y (?=[a-z]))"
)
"""At the head of a clause: "Why I Write" in the middle of a sentence is the title of something."""
_OWN_VOICE = re.compile(
    r"\bI(?:'m| am)? (?:(?:do not|don't|did not|didn't|cannot|can't|could not|couldn't|can only) (?:know|find|see|have"
    r"|say|tell|answer|quote)|found|hope|recommend|suggest|sorry|afraid|glad|happy)\b"
    r"|\bI (?:cannot|can't|could not|couldn't) (?:recommend|praise|stress|emphasi[sz]e|thank)\b[^.!?]{1,80}\benough\b",
    re.IGNORECASE,
)
_LEAK_WORDS = 6
"""So many words in a row that stand in the rules and in no passage are no chance."""


def broken_rule(text: str) -> str | None:
    """Name of the rule that the text breaks, or None."""
    plain = _unquoted(text)
    return next((name for name, pattern in _RULES if pattern.search(plain)), None)


def impersonates(text: str, subject: Sequence[str]) -> bool:
    """Whether the assistant says that it is the subject: "As Juno, I…", "I am Juno Tarkwell"."""
    names = "|".join(re.escape(name) for name in {part for one in subject for part in (one, one.split(" ")[0])} if name)
    if not names:
        return False
    claims = rf"\b(?:I am|I'm|my name is|speaking as|call me) (?:{names})\b|\bas (?:{names}),? (?:I|my)\b"
    return re.search(claims, _unquoted(text), re.IGNORECASE) is not None


def speaks_as_subject(text: str, subject: Sequence[str]) -> bool:
    """Whether the sentence is in the subject's first person: "I built Ledgerline" from documents about Juno.

    Where the content is about nobody in particular, or the words are quoted, that is no pretence.
    """
    plain = _unquoted(text)
    return bool(subject) and _FIRST_PERSON.search(plain) is not None and not _OWN_VOICE.search(plain)


def leaks(text: str, rules: str, given: str) -> bool:
    """Whether the sentence repeats the prompt's ``rules``: words in a row from there that ``given`` does not hold."""
    said = _plain_words(text)
    size = min(_LEAK_WORDS, max(4, len(said)))
    secret, public = f" {' '.join(_plain_words(rules))} ", f" {' '.join(_plain_words(given))} "
    runs = (f" {' '.join(said[at : at + size])} " for at in range(len(said) - size + 1))
    return any(run in secret and run not in public for run in runs)


def _unquoted(text: str) -> str:
    return _QUOTED.sub('""', text.replace("’", "'").replace("‘", "'"))


def _plain_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def says_unknown(text: str) -> bool:
    """Whether the sentence only says that the passages do not answer; such a sentence has no source to cite."""
    return _NOT_KNOWN.match(text.replace("’", "'")) is not None
