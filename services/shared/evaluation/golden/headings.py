"""Questions of a visitor who looks for a section: its heading, as it would be asked."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.advice import as_visitor
from services.shared.evaluation.golden.articles import needs_no_article
from services.shared.evaluation.golden.clauses import BE, HAVE, MODALS, clause_of
from services.shared.evaluation.golden.context import in_context, is_specific, short_title
from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.material import Passage, SourceDocument
from services.shared.evaluation.golden.sentences import bare, first_sentences, plain
from services.shared.evaluation.golden.subjects import DETERMINERS, is_clear
from services.shared.evaluation.golden.verbs import base_of_gerund, finite_form, is_base
from services.shared.evaluation.golden.words import Corpus, content_words

KIND = "section"
HEADING_WORDS = 12
LEAST_WORDS = 12
"""A shorter section says too little to be asked for."""

_GENERIC = listed(
    """
    about abstract action additional appendix background books caveats changelog checklist conclusion contact
    contacts contents credits definitions details disclaimer discussion documentation example examples faq faqs
    further glossary guidance guide help history home important index info information installation instructions
    intro introduction items licence license links list member members more next note notes other overview
    policies policy preface prerequisites process purpose questions reading reference references related
    requirements resources responsibilities roles rules scope see setup sources steps summary support table
    template templates timeline timelines tip tips todo tools topics updates usage videos
    """
)
_NO_TOPIC = listed(
    "a an for to if in on at by from with as do don't be please note welcome congratulations thank this more"
)
_GERUND_NOUNS = listed(
    """
    meeting training working billing learning planning reporting testing hiring building operating testing writing
    funding being having doing mentoring recording staffing managing reading going understanding running onboarding
    scoring pricing spending processing teaching welcoming
    """
)
_ASKING = listed("do does did what when where why how who which")
_TO_DO = {
    "how": "How do I",
    "when": "When should I",
    "what": "What should I",
    "where": "Where can I",
    "who": "Who should I",
}
_WH = re.compile(r"^(?P<wh>What|When|Where|Why|How|Who|Which)\b (?P<rest>.+)$", re.IGNORECASE)
_OF_WHAT = re.compile(r"^(?P<thing>[a-z]+(?: [a-z]+)?) (?P<clause>(?:[A-Z]|you |the ).*)$")
_NUMBERED = re.compile(r"^(?:\d{1,2}(?:\.\d+)*[.):]?|[A-Za-z][.)]|Step \d+[.:]?|Part \d+[.:]?)\s+")


def heading_questions(document: SourceDocument, corpus: Corpus) -> Iterator[Draft]:
    """A question for each section with a telling heading and something below it."""
    seen: set[str] = set()
    for passage in document.passages:
        if passage.section in seen or passage.kind == "negative":
            continue
        seen.add(passage.section)
        heading = passage.section.split(" > ")[-1]
        text = _question(heading, document.title, corpus) if passage.section else None
        quote = _beginning(passage, heading) if text else None
        if text and quote:
            yield Draft(text, KIND, document.document_id, (quote,), expected=plain(quote) or bare(quote))


def _beginning(passage: Passage, heading: str) -> str | None:
    """The section's first sentences where they take its heading up, else its first passage whole."""
    quote = first_sentences(passage, 2)
    if quote is not None and len(quote.split()) >= LEAST_WORDS and is_clear(" ".join(quote.split()[:8])):
        taken_up = set(content_words(heading)) & set(content_words(quote))
        if taken_up and not base_of_gerund(heading.split()[0].lower()) and not is_base(heading.split()[0].lower()):
            return quote.strip()
    body = passage.body.strip()
    if re.search(r"\{[%{]|<[a-z/!]", body) or body.startswith(("```", "~~~", "|")):
        return None
    # Links and addresses say nothing by themselves.
    words = re.sub(r"\[[^\]]*\]\([^)]*\)|\S*[@/]\S*", " ", body).split()
    return body if len(words) >= LEAST_WORDS else None


def _question(heading: str, title: str, corpus: Corpus) -> str | None:
    heading = _NUMBERED.sub("", heading.replace("’", "'").strip()).rstrip(" .:")
    words = heading.split()
    content = content_words(heading)
    if not content or len(words) > HEADING_WORDS or re.search(r"[\[\]{}<>|!`*_#\"“/\\=]", heading):
        return None
    if {word.lower().strip(",.") for word in words} <= _GENERIC | {"and", "the", "of", "for", "to", "&", "a"}:
        return None
    if heading.endswith("?"):
        first = words[0].lower()
        asks = first in BE | HAVE | MODALS | {
            "do",
            "does",
            "did",
            "what",
            "when",
            "where",
            "why",
            "how",
            "who",
            "which",
        }
        return in_context(as_visitor(heading), title, corpus) if asks and len(words) > 2 and is_clear(heading) else None
    question = _asked(heading, corpus)
    if question is not None:
        return in_context(as_visitor(question), title, corpus) if is_clear(heading) else None
    return _about(heading, title, corpus) if is_clear(heading) and not _WH.match(heading) else None


def _asked(heading: str, corpus: Corpus) -> str | None:
    """The heading as a question of its own; None when it is a mere name of something."""
    if found := _WH.match(heading):
        return _from_wh(found["wh"].lower(), found["rest"])
    words = heading.split()
    first = words[0].lower()
    if len(words) > 1 and words[0][1:].islower() and not re.search(r"\band\b", heading):
        base = base_of_gerund(first)
        if base and (first not in _GERUND_NOUNS or words[1].lower() in DETERMINERS):
            return f"How do I {base} {corpus.mid_sentence(' '.join(words[1:]))}?"
        if is_base(first) and words[1].lower() in ("a", "an", "the", "your"):
            return f"How do I {first} {' '.join(words[1:])}?"
    return None


def _from_wh(wh: str, rest: str) -> str | None:
    words = rest.split()
    first = words[0].lower()
    if first == "to" and wh in _TO_DO and len(words) > 1 and "the" not in words[1:3]:
        return f"{_TO_DO[wh]} {' '.join(words[1:])}?"
    form = finite_form(first)
    if first in BE | HAVE | MODALS | {"do", "does", "did"}:
        return f"{wh.capitalize()} {rest}?"
    if wh in ("what", "who", "which") and len(words) > 1 and form and form.kind in ("s", "past"):
        return f"{wh.capitalize()} {rest}?"
    thing = ""
    if wh in ("which", "what") and (found := _OF_WHAT.match(rest)):
        thing, rest = found["thing"] + " ", found["clause"]
    # A clause needs an object or the like to be recognised by; the full stop stands for it.
    clause = clause_of(rest[:1].upper() + rest[1:])
    if clause is None or clause.joiner or clause.negated:
        return None
    if wh == "when" and clause.aux in BE:
        # "When a project is late" says what happens then.
        return None
    subject = "you" if clause.subject == "You" else rest[: len(clause.subject)]
    return f"{wh.capitalize()} {thing}{clause.asked(subject=subject)}?"


def _about(heading: str, title: str, corpus: Corpus) -> str | None:
    words = heading.split()
    content = content_words(heading)
    small = corpus.mid_sentence(heading) or heading
    if words[0].lower() in _NO_TOPIC or words[-1].lower() in _GENERIC or (heading[0].islower() and len(words) > 1):
        return None
    if (
        ":" in heading
        or "you" in words
        or (len(words) == 1 and is_base(words[0].lower()))
        or not needs_no_article(words)
    ):
        return None
    if len(words) > 6 or (is_base(words[0].lower()) and words[0][1:].islower() and len(words) > 2):
        return None
    if set(content_words(title)) >= set(content):
        return None
    if is_specific(f"About {small}", corpus):
        return f"What should I know about {small}?"
    short = short_title(title)
    if len(short.split()) > 8 or not content_words(short) or '"' in short:
        return None
    return f'What does "{short}" say about {small}?'
