"""Tells a sentence of a document that gives orders to an assistant from one that is meant for people.

A handbook tells its staff what to say too. So an order counts where it names a machine, speaks of answering
questions, or wants something claimed; "When you answer the phone, say your name" stays content.
"""

import re

_MACHINE = r"(?:AIs?|AI (?:assistant|model|system|agent)s?|LLMs?|(?:large )?language models?|chat ?bots?)"
_HELPER = rf"(?:{_MACHINE}|(?:virtual |digital )?assistants?|models?|bots?)"
_CLAIM = r"(?:say|claim|state|mention|insist|pretend|recommend|praise|promote)"
_ORDERS = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?]{0,30}\b(?:previous|prior|above|earlier|preceding|all|any|your"
    r"|these|the)\b[^.!?]{0,30}\b(?:instructions?|rules|prompts?|directions|guidelines|context|constraints)\b",
    r"\b(?:ignore|disregard|forget)\b[^.!?]{0,30}\b(?:passages?|questions?|documents?|sources?|texts?)\b"
    r"(?=[^.!?]{0,20}\b(?:say|tell|write|answer|reply|respond|claim|praise|recommend)\b)",
    r"\b(?:ignore|forget) everything (?:above|before|you)",
    r"\byou are now (?:an? |the )?(?:AI|assistant|bot|chat ?bot|unrestricted|free (?:of|from)"
    r"|in (?:developer|debug) mode|(?-i:[A-Z]{2,}|[A-Z]\w*[A-Z]\w*))\b",
    r"\byou are (?-i:[A-Z])\w+ now\b",
    r"\bfrom now on,? (?:you (?:are|will|must|shall|answer)|(?:answer|reply|respond|speak)\b)",
    r"\b(?:pretend|act as if|imagine) (?:to be|you are|that you are)\b",
    r"\byou (?:must|will|shall|always)? ?(?:speak|answer|respond|reply|act)(?: every| all| any)?(?: questions?)?"
    r" (?:as|with) ",
    r"\b(?:reply|respond|answer)(?: only| exactly| solely)? with\b"
    r"(?=[^.!?]{0,20}[\"'“‘«]| the (?:word|phrase|text)| only\b)",
    r"(?:^\W*|[.!?:,] |\b(?:and|then|just|only|please|instead) )(?:say|write|output|print|repeat)(?: only| exactly)?:? "
    r"(?:[\"'“‘]|the (?:following )?(?:words?|phrase|sentence)\b)",
    r"\b(?:reveal|print|show|repeat|output|leak|tell (?:me|us|the user))\b[^.!?]{0,30}"
    r"\b(?:system prompt|your (?:prompt|instructions|rules))\b",
    r"\b(?:new|updated|important|system) (?:rules?|instructions?)(?: for (?:the )?(?:AI|assistant|model|bot))?:",
    r"\[/?(?:SYSTEM|INST)\]|<\|\w+\|>|</?(?:passages?|system)>",
    r"(?:^|<!--)\W*(?:SYSTEM|ASSISTANT|AI)\s*(?:NOTE|MESSAGE|PROMPT|OVERRIDE)?\s*:",
    r"\b(?:AI|language) (?:model|assistant)s?,? (?:must|should now|please|you)\b",
    r"\bdo not (?:tell|inform|mention (?:this|it) to) the (?:user|visitor)\b|\bdo not cite this\b",
    r"\b(?:jailbreak|developer mode)\b[^.!?]*\b(?:enabled|activated|on)\b",
    r"\b(?:ignoriere|vergiss)\b[^.!?]{0,30}\b(?:Anweisungen|Regeln|alles)\b",
    # Whoever it is meant for is named first.
    rf"\b(?:note|message|memo|reminder|hint|instructions?) (?:to|for) (?:the |any |all |every |an? )?(?:\w+ )?"
    rf"{_MACHINE}\b",
    rf"\b(?:note|message|memo|reminder|hint) (?:to|for) (?:the |any |all |every |an? )?(?:\w+ )?{_HELPER}\s*[:,–—-]",
    rf"^\W*(?:dear |hey |hello |hi |attention,? |to (?:the |any |all |every )?)?{_HELPER}\b(?: \w+){{0,3}}?\s*[,:]\s*"
    rf"(?:please |always |never |you |only |do not )*(?:{_CLAIM}|tell|answer|reply|respond|ignore|write|add|include)\b",
    rf"\bif you(?:'re| are) (?:an? |the )?{_MACHINE}\b",
    # What a machine has to claim.
    rf"\b{_HELPER} (?:must|should|shall|has to|have to|needs? to|is to|are to)(?: always| now)? "
    rf"(?:{_CLAIM}|tell (?:\w+ ){{1,2}}?)\s*that\b",
    rf"\b{_HELPER} (?:must|should|shall|has to|have to|needs? to|is to|are to)? ?always {_CLAIM}\b",
    # How questions are to be answered.
    r"\b(?:when|whenever|if|before|while) (?:you )?(?:answer|reply|respond|answering|replying|responding)\b"
    rf"(?=[^.!?]{{0,60}}\b(?:questions?|quer(?:y|ies)|prompts?)\b)[^.!?]{{0,100}}?\b(?:{_CLAIM}|tell|add|include)\b",
    r"\b(?:when|whenever|if|while) (?:you )?(?:answer|reply|respond|answering|replying|responding|(?:are )?asked)\b"
    r"(?![^.!?,]{0,20}\b(?:phone|telephone|call|radio|door|bell|e-?mails?|letters?|tickets?|exam|interview)\b)"
    rf"[^.!?]{{0,80}}?, (?:please |always )?(?:{_CLAIM}|tell \w+(?: \w+)?) that\b(?! you(?:r|'re)?\b)",
    r"\b(?:visitors?|users?|readers?|people|everyone|everybody|anyone|whoever asks)(?: who asks?)?"
    r"(?: about [^.!?,]{1,40})? (?:should|shall|(?:must|are to|is to|have to) always)(?: always)? be told(?: that\b|:)",
    r"(?:^\W*|[.!?;:] |\b(?:and|please) )always (?:mention|recommend|praise|promote|claim|insist)"
    r" (?:(?:it|this|them|us)(?=\W*$|[.;!])|that (?!you)|(?:the )?(?-i:[A-Z]))",
)
_TO_AN_ASSISTANT = re.compile("|".join(_ORDERS), re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»")
_REPORTED = re.compile(r"\b(?:says?|said|wrote|writes|reads?|called|such as|like|prompts?|injection|attack\w*)\b", re.I)


def planted(text: str) -> bool:
    """Whether a document's sentence is an instruction to an assistant, such as "ignore all previous instructions".

    A text that only reports such words in quotation marks is content.
    """
    plain = text.replace("’", "'").replace("‘", "'")
    if not _TO_AN_ASSISTANT.search(plain):
        return False
    unquoted = _QUOTED.sub('""', plain)
    return _TO_AN_ASSISTANT.search(unquoted) is not None or not _REPORTED.search(unquoted)
