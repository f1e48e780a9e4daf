"""Is it the assistant itself that is spoken to, and not the documents that are asked?

The patterns are narrow: a question that is declined by mistake is worse than one that is searched for in vain,
since what is planted in it is checked once more when the answer is written. So an order counts only where a
sentence begins with it, and a question about the assistant only where nothing follows that makes it another.
All of them read the folded question: small letters, no accents, nothing invisible.
"""

import re
from collections.abc import Sequence

from services.gateway.domain.plain import folded
from services.shared.contracts.profile import Subject

_MACHINE = (
    r"(?:(?:ai|a\.i\.|artificial intelligence)(?: (?:assistant|agent|model|chatbot|bot))?|(?:chat)?bot|robot"
    r"|human(?: being)?|person|machine|computer|(?:large )?language model|llm|chatgpt|gpt)"
)
_MASCHINE = r"(?:ki|ai|(?:chat)?bot|roboter|mensch|(?:echte )?person|maschine|computer|sprachmodell|chatgpt|gpt|llm)"
_ENDS = r"(?=\s*(?:$|[^\w\s'-])|\s+(?:or|and|not|too|here|then|really|oder|und|denn|eigentlich|wirklich)\b)"
"""Nothing more is said of it: "are you a person?", not "are you a person who likes maps?"."""

_CLAUSE = (
    r"(?:^[\"'„“«(\s]*|[.?!,;:–—…)\]]\s+|\n)"
    r"(?:(?:and|but|so|first|now|then|next|please|kindly|ok(?:ay)?|hey|hi|hello|just|also|instead|from now on"
    r"|from here on|you (?:must|will|should|shall|have to|need to|are to|can)|(?:can|could|will|would) you"
    r"|i (?:want|need|order|command|ask|would like|'d like) you to|let's|let us"
    r"|und|aber|jetzt|nun|dann|bitte|also|ab (?:jetzt|sofort)|von nun an|du (?:sollst|musst|wirst)|kannst du"
    r"|konntest du)\b,?\s*)*"
)
"""Where an order begins: a sentence or a clause, after the usual courtesies."""

_RULES = r"(?:system ?prompts?|prompts?|instructions?|rules|guidelines|guardrails|programming|directives?)"
_OLD = r"(?:previous|prior|above|earlier|preceding|former|existing|initial|original|system|your|all|any|these|those)"
_REGELN = r"(?:system ?prompts?|prompts?|anweisung(?:en)?|instruktion(?:en)?|regeln|vorgaben|richtlinien)"
_MODE = r"(?:dan|developer|debug|god|jailbreak|sudo|admin(?:istrator)?|root|unrestricted|unfiltered)"
_MANNER = (
    r"(?!\s+(?:briefly|short|concise|well|soon|much|many|few|full|precise|quick|simple|simply|best|possible|detailed"
    r"|truthful|honest|plain|follows|an? (?:list|table|bullet|json|markdown|short|single|brief|numbered|paragraph"
    r"|summary|sentence|poet?ry))\w*|\s+\w+ as\b)"
)
"""After "answer as": how it is to be answered, not who is to answer."""

_ABOUT_ITSELF = [
    r"\bare you (?:really |actually |just |even )?(?:an? )?(?:real |actual )?" + _MACHINE + _ENDS,
    r"\b(?:who|what) are you" + _ENDS,
    r"\b(?:who|what company) (?:made|created|built|trained|programmed|developed) you" + _ENDS,
    r"\b(?:which|what) (?:(?:ai|language|llm) )*(?:model|llm|ai|chatbot|gpt|version)(?: of \w+)? are you" + _ENDS,
    r"\byour (?:(?:system|initial|hidden|secret|original|internal|own|full|exact) )+" + _RULES + r"\b",
    r"\byour (?:prompts?|instructions|rules)\b(?!\s+(?:for|on|about|regarding|concerning|to|when|in|at|if|of|with)\b)",
    r"\b(?:bist du|sind sie) (?:wirklich |eigentlich |denn |nur )?(?:eine? |ein )?" + _MASCHINE + _ENDS,
    r"\b(?:wer|was) bist du" + _ENDS,
    r"\bdein(?:e[nmrs]?)? (?:(?:geheimen?|internen?|ursprunglichen?|versteckten?) )*" + _REGELN + _ENDS,
]
"""Questions about the assistant."""

_ORDERS = [
    r"(?:ignore|forget|disregard|override|bypass|drop|discard)(?:\W+\w+){0,3}?\W+"
    + _OLD
    + r"(?:\W+\w+){0,3}?\W+"
    + _RULES
    + r"\b",
    r"(?:ignore|forget|disregard) (?:everything|anything|all|what(?:ever)?)(?: that)?(?: was| is| you were"
    r"| you have been| i| they)? ?(?:above|before|told|said|written|so far)\b",
    r"(?:pretend|imagine|suppose|assume) (?:to be\b|(?:that )?you(?: are|'re| were)\b)",
    r"(?:role-? ?play|cosplay)\b",
    r"(?:act|speak|talk|behave|pose|masquerade) (?:as|like)\b" + _MANNER,
    r"(?:answer|respond|reply|write|continue)(?: (?!as\b)\w+){0,2}? (?:as|like)\b" + _MANNER,
    r"(?:answer|respond|reply|speak|write|talk)(?: \w+){0,3}? in (?:the )?(?:first person|\w+(?: \w+)?(?:'s)? voice)\b",
    r"(?:play|take on|assume|adopt) the (?:role|persona|character|part) of\b",
    r"play (?:out )?an? (?:\w+ )?(?:scene|role|game|part|character)\b",
    r"be an? (?!bit\b|little\b|lot\b)",
    r"write\b[^.?!]{0,120}\bin (?:[\w']+ ){1,3}voice\b",
    r"(?:decode|decrypt|unscramble)\b.{0,200}\b(?:act (?:up)?on|follow|obey|execute|do what)\b",
    r"you(?: are|'re) (?:now|no longer)\b(?! (?:open|available|closed|hiring|able|using|offering|based))",
    r"(?:from (?:now|here) on|henceforth),? you(?: are|'re| will| must| shall)\b",
    r"you(?: are|'re) (?:dan|free (?:of|from)|unrestricted|jailbroken|not bound)\b",
    r"(?:enable|enter|activate|switch (?:in)?to|turn on|start) " + _MODE + r" mode\b",
    r"(?:repeat|print|show|reveal|output|display|give|tell|write|leak|dump|translate|summari[sz]e)(?: me| us| out)?"
    r"(?: the| all| all the| any)* (?:system|initial|hidden|secret|original|internal) " + _RULES + r"\b",
    r"repeat (?:all )?(?:the )?(?:text|words?|everything|instructions|prompt)(?: that is| written)? above\b",
    r"(?:ignorier|vergiss|missachte|ubergeh|verwirf)\w*(?:\W+\w+){0,4}?\W+" + _REGELN + r"\b",
    r"(?:vergiss|ignorier)\w* alles\b",
    r"(?:tu|tue|tun sie) (?:\w+ )?so,? als\b",
    r"(?:gib|geben sie) (?:dich|sich) (?:als|fur)\b",
    r"(?:stell|stellen sie) (?:dir|sich) vor,? (?:du|sie) (?:bist|warst|wares?t|sind|waren)\b",
    r"(?:sprich|rede|antworte|agiere|handle|verhalte dich|schreibe?|spiele?)(?: \w+){0,2}? (?:als|wie ein)\b"
    r"(?! \w+ wie\b)",
    r"(?:spiele?|ubernimm) (?:jetzt )?(?:die|eine) rolle\b",
    r"du bist (?:jetzt|nun|ab sofort|ab jetzt|nicht (?:mehr|langer))\b",
    r"(?:wiederhole?|zeige?|nenne?|verrate?|gib|drucke?)(?: mir)?(?: \w+){0,2}? (?:systemprompt|system-prompt)\b",
]
"""What the assistant is told to be or to do, where a sentence begins with it."""

_RUN_TOGETHER = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my|these|of)*(?:previous|prior|above|earlier|your|system|all)"
    r"(?:system)?(?:instructions?|rules|prompts?)|(?:ignoriere|vergiss)(?:alle|deine|bisherigen|vorherigen)+anweisungen"
)
"""What letters typed apart become, when the blanks between the words cannot be told from those within."""

_FORGED = [
    r"</(?:passages?|system|context|instructions?|documents?)>",
    r"<\|\w+\|>",
    r"(?:^|[>\]}])\s*\W{0,3}(?:system|assistant)(?: (?:notice|message|override|update|prompt|note))?\s*:",
    r"\[/?(?:inst|sys|system)\]",
    r"\[(?:new|updated|system|admin|owner|important)\b[^\]]{0,60}(?:rule|instruction|message|prompt|override)[^\]]{0,60}\]",
]
"""Marks that only a prompt holds, in a question."""

_ASSISTANT = re.compile("|".join([*_ABOUT_ITSELF, *_FORGED]) + "|" + _CLAUSE + "(?:" + "|".join(_ORDERS) + ")")


def addresses_assistant(question: str, subject: Subject | None) -> bool:
    """Does the question ask what the assistant is, or tell it to be or to do something else?"""
    asked = folded(question)
    if _ASSISTANT.search(asked) is not None or _RUN_TOGETHER.search(asked) is not None:
        return True
    names = [] if subject is None else [name for name in map(folded, (subject.name, *subject.aliases)) if name]
    return bool(names) and _as_subject(names).search(asked) is not None


def _as_subject(names: Sequence[str]) -> re.Pattern[str]:
    """Is it taken for the subject, or told that it is the subject?"""
    # The longest first and for good, lest "Juno" be found in "Juno Tarkwell's manager".
    named = "(?>" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")"
    return re.compile(
        rf"\b(?:are you|bist du|sind sie) (?:really |actually |wirklich )?{named}{_ENDS}"
        rf"|{_CLAUSE}(?:you are|you're|du bist) {named}\b(?!'s|-)"
        rf"|\bas (?:if|though) you (?:were|are) {named}{_ENDS}"
    )
