"""English words that decide whether a sentence says the same: denial, opposites, direction, amount, caution."""

from collections import defaultdict
from collections.abc import Mapping

_STOP_WORDS_LIST = (
    "a an the and or but if of at by for with about to from in on is are was were be been being do does did have"
    " has had having i me my we our you your he him his she her hers it its they them their this that these those"
    " what which who whom whose when where why how can could will would shall should may might must as than then"
    " there here so such any some into over under between through during s t also just both each"
)
STOP_WORDS = frozenset(_STOP_WORDS_LIST.split())

_DENIALS_LIST = (
    "no not never none nobody nothing neither nor without cannot fails failed lack lacks lacking unlikely barely"
    " hardly absence"
)
DENIALS = frozenset(_DENIALS_LIST.split())
"""Beside every word that ends in n't."""

_CAUTION_LIST = (
    "may might could possibly perhaps suggest suggests suggested likely appear appears seems potential possible"
)
CAUTION = frozenset(_CAUTION_LIST.split())

_AMOUNTS_LIST = (
    "all every each only always any some most many few several both half none never entire whole everyone"
    " everything nobody least exactly"
)
AMOUNTS = frozenset(_AMOUNTS_LIST.split())

_UPWARDS_LIST = (
    "increase increases increased increasing rise rises rose risen rising grow grows grew growing growth higher"
    " high more greater larger gain gains gained raise raises raised promote promotes promoted promoting enhance"
    " enhances enhanced enhancing activate activates activated upregulated upregulation stimulate stimulates"
    " improve improves improved accelerate accelerates elevated positive induce induces induced warming warmer"
    " expand expands"
)
UPWARDS = frozenset(_UPWARDS_LIST.split())

_DOWNWARDS_LIST = (
    "decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped decline declines"
    " declined declining shrink shrinks lower low less fewer smaller lose loses lost loss reduce reduces reduced"
    " reducing reduction inhibit inhibits inhibited inhibiting suppress suppresses suppressed block blocks blocked"
    " downregulated downregulation impair impairs impaired prevent prevents prevented slow slows slowed negative"
    " cut cuts cooling cooler deficient deficiency limits"
)
DOWNWARDS = frozenset(_DOWNWARDS_LIST.split())

_NUMBER_LIST = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_NUMBER_LIST.split())}

_PAIRS = (
    "increase decrease|increases decreases|increased decreased|increasing decreasing|rise fall|rises falls|rose fell"
    "|rose dropped|rising falling|higher lower|high low|highest lowest|more less|more fewer|most least|larger smaller"
    "|large small|largest smallest|big small|bigger smaller|greater smaller|greater lesser|longer shorter|long short"
    "|longest shortest|before after|first last|early late|earlier later|earliest latest|later earlier|newer older"
    "|open closed|opens closes|opened closed|founded closed|founded dissolved|start end|starts ends|started ended"
    "|begin end|begins ends|began ended|beginning end|above below|over under|up down|inside outside"
    "|include exclude|includes excludes|included excluded|with without|enable disable|enabled disabled|allow forbid"
    "|allows forbids|allowed forbidden|permitted prohibited|accept reject|accepted rejected|accepts rejects"
    "|approve reject|approved rejected|win lose|wins loses|won lost|success failure|successful unsuccessful"
    "|succeeded failed|true false|same different|similar different|positive negative|public private"
    "|internal external|old new|older newer|oldest newest|young old|younger older|north south|northern southern"
    "|east west|eastern western|left right|front back|male female|man woman|men women|father mother|son daughter"
    "|brother sister|husband wife|buy sell|bought sold|import export|add remove|added removed|adds removes"
    "|raise lower|raised lowered|raised cut|improve worsen|improved worsened|improves worsens|better worse|best worst"
    "|faster slower|fast slow|quick slow|strong weak|stronger weaker|hot cold|warm cool|warming cooling|wet dry"
    "|rich poor|easy difficult|easy hard|cheap expensive|quiet loud|quieter louder|required optional"
    "|mandatory optional|mandatory voluntary|always never|often rarely|frequently rarely|common rare|many few"
    "|all none|everyone nobody|everything nothing|minimum maximum|minimal maximal|present absent|possible impossible"
    "|able unable|legal illegal|known unknown|safe dangerous|active inactive|temporary permanent|day night"
    "|morning evening|morning afternoon|summer winter|arrive leave|arrives leaves|arrived left|join leave|joined left"
    "|gain lose|gained lost|profit loss|support oppose|supports opposes|supported opposed|agree disagree|love hate"
    "|live die|alive dead|born died|create destroy|created destroyed|build demolish|built demolished"
    "|promote inhibit|promotes inhibits|promoted inhibited|activate inhibit|activates inhibits|activation inhibition"
    "|stimulates suppresses|induces prevents|induce prevent|enhances reduces|enhance reduce|enhanced reduced"
    "|reduces increases|reduce increase|reduced increased|reduction increase|upregulated downregulated|protect harm"
    "|beneficial harmful|necessary unnecessary|sufficient insufficient|dependent independent|full empty|major minor"
    "|upper lower|ancient modern|free paid|online offline|remote onsite|manual automatic|manually automatically"
    "|single multiple|senior junior|direct indirect|directly indirectly|synchronous asynchronous|daily weekly"
    "|weekly monthly|monthly yearly|hours days|days weeks|weeks months|months years|minutes hours|seconds minutes"
)


def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for pair in _PAIRS.split("|"):
        one, other = pair.split()
        found[one].add(other)
        found[other].add(one)
    return {word: frozenset(others) for word, others in found.items()}


OPPOSITES = _opposites()
"""Words that cannot stand for each other, both ways; units of time among them."""
