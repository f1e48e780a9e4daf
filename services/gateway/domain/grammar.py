"""Small closed lists of words that questions are built with, in English and German."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASKING = _words(
    "who whom whose what when where which why how wer wen wem wessen was wann wo wohin woher welche welcher welches"
    " welchen welchem warum wieso weshalb wie womit wofür wozu"
)
AUXILIARIES = _words(
    "is are was were be been being do does did has have had can could will would shall should may might must"
    " isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't"
    " ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können konnte konnten darf dürfen muss"
    " müssen soll sollen sollte will wollen gibt gab"
)
IS = _words("is are was were")
BEFORE_A_VERB = _words("do does did can could will would shall should may might must")
"""Auxiliaries behind which the question's verb still comes: "does the shed open"."""

LINKS = _words(
    "in at on for of about with from by during after before to into than behind since until under over between"
    " through without within near per as and or but nor if when while because so that not no im am an auf bei mit"
    " für von vor nach seit bis unter über zwischen ohne zu zum zur und oder aber wenn weil dass nicht"
)
"""Words that end a noun: what stands between things."""

OPENERS = _words(
    "tell describe explain list show give name compare please thanks hello hi hey ok okay so and but also then now"
    " i you we he she it they there this that these those my your our his her its their if because although however"
    " yes no the a an one all some any every each both here according der die das ein eine einen den dem es sie er"
    " ich du ihr wir bitte hallo ja nein und"
)
"""Words that begin a sentence and are no names there."""

ARTICLES = _words("the a an our your my their his her its")
GERMAN_ARTICLES = _words("der die das den dem des ein eine einen einem einer eines unser unsere euer eure ihr ihre")
VERBS = _words(
    "open close cost start end begin work take have need use know like live run make get mean do offer provide"
    " include support cover say allow last come go happen apply require contain belong leave stay study learn build"
    " write speak give sell buy pay earn lead join look help change grow become show keep hold want think feel"
    " handle deal measure improve"
)
"""Verbs that visitors ask with."""

PREDICATES = _words(
    "open closed free available safe expensive cheap big old new long far ready full busy true included allowed"
)
"""What is said of a thing in a question with "is": it is no part of the thing."""

TITLES = _words("mr mrs ms dr prof herr frau sir st")
INSIDE_NAMES = _words("& de von van der of")
TIMES = _words(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
    " sundays january february march april may june july august september october november december montag dienstag"
    " mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember"
)
"""Capitalised, and no names of anybody."""

SUBJECTS = _words("i you we one people he she they someone somebody anyone anybody everyone ich du man wir")
"""Pronouns that a verb follows."""

NOT_MEANT = SUBJECTS | _words(
    "everybody exactly still really ever also usually then now long much many often far old big late early soon and but"
    " so please me us tell about know in at on for of with from by to the what's how's who's where's denn eigentlich"
    " noch auch und aber kostet heißt gehört liegt funktioniert viel"
)
"""Words that no pronoun behind them takes up."""

GOES_ON = _words(
    "and but so or what's who's tell more anything go please really for in at on with by from since until before after"
    " und aber oder noch mehr seit bis mit bei von für only even also not just are such like any the"
)
"""Words that lose their capital when a question goes on after another."""
