"""Golden questions by rule: from owners' own questions, headings and sentences, without a model.

The rules know English; of documents in other languages they take the owners' questions only. They rather leave
a sentence out than ask badly, and the owner reviews what is proposed.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from services.shared.contracts.golden import Question
from services.shared.evaluation.golden import headings, likely
from services.shared.evaluation.golden.advice import as_visitor, hows, what_ifs
from services.shared.evaluation.golden.amounts import Asked, amounts, there_are
from services.shared.evaluation.golden.choose import ABBREVIATION, choose
from services.shared.evaluation.golden.clauses import Clause, clause_of
from services.shared.evaluation.golden.context import in_context
from services.shared.evaluation.golden.drafts import Draft, question_of
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.material import SourceDocument
from services.shared.evaluation.golden.negatives import affirmations, yes_or_no
from services.shared.evaluation.golden.sentences import Sentence, sentences_of
from services.shared.evaluation.golden.statements import expansions, whats, whens, wheres, whos, whys
from services.shared.evaluation.golden.subjects import is_clear
from services.shared.evaluation.golden.words import Corpus, stem

DEFINITION = "definition"
LEAST_CONTENT = 3
"""Words that carry meaning, below which a question asks for nothing in particular, even behind a title."""


_WORDS = (3, 26)
_NO_END = listed("a an the and or by as your her his its their than least most every per")
_NO_END_BUT_WHO = listed("to in on for with from")
_CUT = re.compile(r"\b(?:between(?!.* and )|both(?!.* and ))\b")
"""The second half is missing."""
_BAD = re.compile(r"[{}<>|\[\]\\*_`#=]|https?:|\.\.|\s[,.?]|\(\s|[?.!].*[?]|@")


def make(documents: Sequence[SourceDocument], limit: int, seed: int, known: Collection[str] = ()) -> list[Question]:
    """At most ``limit`` questions, spread over the documents; the same ones for the same documents and seed.

    Those whose ids are ``known`` are passed over.
    """
    corpus = Corpus(documents)
    drafts = [draft for document in documents for draft in drafts_of(document, corpus)]
    return questions_of(drafts, corpus, limit, seed, known)


def questions_of(
    drafts: Sequence[Draft], corpus: Corpus, limit: int, seed: int, known: Collection[str] = ()
) -> list[Question]:
    """At most ``limit`` of all documents' drafts, with pairs of them and questions that nothing answers.

    Those whose ids are ``known`` are passed over.
    """
    return [question_of(draft) for draft in choose(drafts, corpus, limit, seed, known)]


def drafts_of(document: SourceDocument, corpus: Corpus) -> list[Draft]:
    """Every question that the rules find in one document."""
    sentences = sentences_of(document)
    drafts = list(likely.likely(document, sentences, corpus))
    drafts += [draft for draft in headings.heading_questions(document, corpus) if _is_well_formed(draft.text)]
    for sentence in sentences:
        drafts += _of_sentence(sentence, document.title, corpus)
    return drafts


def _of_sentence(sentence: Sentence, title: str, corpus: Corpus) -> Iterator[Draft]:
    for kind, (text, facts) in _asked(sentence, corpus):
        asked = as_visitor(" ".join(text.split()))
        question: str | None = asked
        if kind not in (DEFINITION, ABBREVIATION):
            question = in_context(asked, title, corpus, LEAST_CONTENT)
        if question is None or not _is_well_formed(question):
            continue
        draft = Draft(question, kind, sentence.document_id, (sentence.quote,), facts, sentence.plain)
        denying = kind == "negative_fact"
        yield replace(draft, tags=(kind,), must_not=affirmations(sentence.plain)) if denying else draft


def _asked(sentence: Sentence, corpus: Corpus) -> Iterator[tuple[str, Asked]]:
    """The sentence's questions with their kinds. Of its first clause, only one: what else it holds is given away."""
    text = sentence.plain
    yield from ((ABBREVIATION, asked) for asked in expansions(text))
    yield from (("how_to", asked) for asked in (*hows(text), *what_ifs(text)))
    yield from (("factual_recall", asked) for asked in there_are(text))
    # Items of lists without a full stop are as often conditions and examples as statements.
    clause = clause_of(text) if text.endswith((".", "!", '."')) else None
    subject = _in_a_question(clause, corpus) if clause else None
    if clause is None or subject is None or not is_clear(clause.rest):
        return
    clause = replace(clause, subject=subject)
    found = [("explanation", asked) for asked in whys(clause)]
    if clause.negated:
        found += [("negative_fact", asked) for asked in yes_or_no(clause, text)]
    else:
        found += [("factual_recall", asked) for maker in (amounts, whens, whos, wheres) for asked in maker(clause)]
        found += [(DEFINITION, asked) for asked in whats(clause)]
    yield from found[:1]


def _in_a_question(clause: Clause, corpus: Corpus) -> str | None:
    """The subject as it stands inside a question; None when that cannot be told, or when it is any one of many."""
    if clause.subject == "You":
        return "you"
    if clause.subject.startswith(("A ", "An ")) and clause.aux in ("did", "was", "were", "has", "had", "have"):
        return None
    subject = corpus.mid_sentence(clause.subject)
    # "Bookings were lost" on a site that also names a firm so.
    if subject and len(subject.split()) == 1 and subject.istitle() and corpus.is_common(stem(subject)):
        return None
    # "User's last passwords": what is small and owned lacks its article.
    return None if subject and subject[0].islower() and subject.split()[0].endswith("'s") else subject


def _is_well_formed(question: str) -> bool:
    words = question.split()
    last = words[-1].rstrip("?").lower()
    even = question.count("(") == question.count(")") and question.count('"') % 2 == 0
    return (
        _WORDS[0] <= len(words) <= _WORDS[1]
        and even
        and not _CUT.search(question)
        and not _BAD.search(question)
        and is_clear(question.replace(" are there ", " "))
        and last not in _NO_END
        and (last not in _NO_END_BUT_WHO or re.search(r"\b(?:who|what|where|which)\b", question.lower()) is not None)
    )
