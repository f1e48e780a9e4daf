"""The questions of ``evals/questions.jsonl`` fit the sample corpus as it stands, and are what they claim to be."""

import re
from collections import Counter
from pathlib import Path

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.golden import Behaviour, Question
from tests.unit.ingestor.fake_documents import incoming

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "corpus"
SETTINGS_FILE = "profile.yaml"
SUBJECT = re.compile(r"\b(?:Juno|Tarkwell|she|her|tidegate|Lowland Backend Days)\b", re.IGNORECASE)
NEGATIVE = re.compile(r"\b(?:no|not|never|cannot|by others)\b", re.IGNORECASE)

KINDS = {
    "fr": "factual_recall",
    "id": "identity",
    "sy": "synthesis",
    "so": "soft_skills",
    "bo": "boundaries",
    "rp": "role_play",
    "ef": "effort",
    "ho": "honesty",
}
IN_EACH_KIND = range(9, 13)
QUESTIONS_MIN = 80
ABSTAIN_SHARE_MIN = 0.2
TAGS_MIN = {"false_premise": 7, "negative_fact": 8, "two_part": 6, "off_topic": 8, "near_miss": 8, "override": 5}


def plain(text: str) -> str:
    """The text as wordings are looked for in it: whatever the letter case and the spaces."""
    return " ".join(text.split()).casefold()


def holds(text: str, wordings: list[str]) -> bool:
    """Whether at least one of the wordings stands in the text."""
    return any(plain(wording) in plain(text) for wording in wordings)


def read_documents() -> dict[str, Extracted]:
    """The sample corpus as the worker reads it, under the ids that ``ragstone ingest corpus`` gives."""
    parsers = FileParsers(1_000_000, TimeoutError)
    paths = [path for path in sorted(CORPUS.rglob("*")) if path.is_file() and path.name != SETTINGS_FILE]
    return {
        document_id: parsers.parse(incoming(document_id, filename=path.name, media_type=""), path.read_bytes())
        for document_id, path in ((path.relative_to(CORPUS).as_posix(), path) for path in paths)
    }


LINES = (ROOT / "evals" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = [Question.model_validate_json(line) for line in LINES]
DOCUMENTS = read_documents()
ANSWERED = [question for question in QUESTIONS if question.behaviour == Behaviour.ANSWER]
DECLINED = [question for question in QUESTIONS if question.behaviour != Behaviour.ANSWER]
NEGATIVES = [question for question in QUESTIONS if "negative_fact" in question.tags]


def quotes(question: Question) -> str:
    """What a reader sees who opens the passages of a question, and nothing else."""
    return "\n".join(span.quote or "" for span in question.gold)


def test_ids_and_texts_are_unique_and_ids_name_the_kind() -> None:
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert len({plain(question.text) for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        prefix, number = question.id.split("-")
        assert (question.kind, len(number)) == (KINDS[prefix], 2), question.id


def test_every_kind_has_its_share() -> None:
    counts = Counter(question.kind for question in QUESTIONS)
    assert set(counts) == set(KINDS.values())
    assert {kind: count for kind, count in counts.items() if count not in IN_EACH_KIND} == {}
    assert len(QUESTIONS) >= QUESTIONS_MIN


def test_every_kind_asks_for_something_that_is_not_there() -> None:
    abstain = [question for question in QUESTIONS if question.behaviour == Behaviour.ABSTAIN]
    assert len(abstain) >= ABSTAIN_SHARE_MIN * len(QUESTIONS)
    assert {question.kind for question in abstain} == set(KINDS.values())
    assert [question.id for question in abstain if not {"off_topic", "near_miss"} & set(question.tags)] == []


def test_tags_are_as_frequent_as_promised() -> None:
    counts = Counter(tag for question in QUESTIONS for tag in question.tags)
    assert {tag: counts[tag] for tag, least in TAGS_MIN.items() if counts[tag] < least} == {}


def test_only_overrides_in_role_play_are_declined() -> None:
    declined = {question.id for question in QUESTIONS if question.behaviour == Behaviour.DECLINE}
    assert declined == {question.id for question in QUESTIONS if "override" in question.tags}
    assert {question.kind for question in QUESTIONS if question.id in declined} == {"role_play"}


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.id)
def test_a_gold_passage_stands_word_for_word_in_its_document(question: Question) -> None:
    assert question.gold
    for span in question.gold:
        assert span.quote
        assert span.quote in DOCUMENTS[span.document_id].text, f"{span.document_id}: {span.quote}"


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.id)
def test_quoting_the_gold_passages_is_a_right_answer(question: Question) -> None:
    """Every fact, not only as many as are needed: a fact that no passage holds would be one nobody can find."""
    assert [fact for fact in question.facts if not holds(quotes(question), fact)] == []
    assert holds(quotes(question), question.must_not) is False


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.id)
def test_the_expected_answer_is_right_by_its_own_facts(question: Question) -> None:
    assert question.expected
    assert question.facts
    said = [fact for fact in question.facts if holds(question.expected, fact)]
    assert len(said) >= (question.needed or len(question.facts)), question.facts
    assert (question.needed or 1) <= len(question.facts)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_expected_answer_holds_no_forbidden_words(question: Question) -> None:
    assert question.expected
    assert [words for words in question.must_not if holds(question.expected, [words])] == []
    assert question.language == "en"


@pytest.mark.parametrize("question", DECLINED, ids=lambda question: question.id)
def test_where_no_answer_is_right_there_is_nothing_to_find(question: Question) -> None:
    assert (question.gold, question.facts, question.needed) == ([], [], None)
    assert question.must_not


@pytest.mark.parametrize("question", NEGATIVES, ids=lambda question: question.id)
def test_a_negative_fact_is_answered_from_a_sentence_that_denies(question: Question) -> None:
    assert question.behaviour == Behaviour.ANSWER
    assert any(NEGATIVE.search(span.quote or "") for span in question.gold)


def test_passages_that_say_the_same_facts_are_alternatives() -> None:
    """Else a system that leaves near-copies out would be told that it missed something."""
    for question in QUESTIONS:
        said = [
            tuple(n for n, fact in enumerate(question.facts) if holds(plain(span.quote or ""), fact))
            for span in question.gold
        ]
        groups = {
            facts: {span.group for span, one in zip(question.gold, said, strict=True) if one == facts} for facts in said
        }
        for facts, names in groups.items():
            assert len(names) == 1, (question.id, facts)
            assert (names == {None}) == (not facts or said.count(facts) == 1), (question.id, facts)


def test_near_misses_are_about_the_subject_and_off_topic_ones_are_not() -> None:
    """Juno Temple shares a first name on purpose."""
    near = [question for question in QUESTIONS if "near_miss" in question.tags]
    far = [question for question in QUESTIONS if "off_topic" in question.tags]
    known = plain("\n".join(document.text for document in DOCUMENTS.values()))
    assert [question.id for question in near if not SUBJECT.search(question.text)] == []
    assert [question.id for question in far if SUBJECT.search(question.text.replace("Juno Temple", ""))] == []
    assert [question.id for question in far if holds(known, question.must_not)] == []


def test_no_question_repeats_one_that_its_document_already_asks() -> None:
    """Documents list likely questions in their front matter; a set that repeats them would measure nothing."""
    asked = {plain(one) for document in DOCUMENTS.values() for one in document.metadata.get("questions", [])}
    assert asked
    assert [question.id for question in QUESTIONS if plain(question.text) in asked] == []


def test_the_readme_counts_what_is_there() -> None:
    readme = (ROOT / "evals" / "README.md").read_text(encoding="utf-8")
    kinds = Counter(question.kind for question in QUESTIONS)
    tags = Counter(tag for question in QUESTIONS for tag in question.tags)
    told_kinds = {kind: int(count) for kind, count in re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", readme, re.MULTILINE)}
    told_tags = {tag: int(count) for tag, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", readme, re.MULTILINE)}
    behaviours = Counter(question.behaviour for question in QUESTIONS)
    in_all = " | ".join(str(behaviours[one]) for one in Behaviour)
    assert told_kinds == kinds
    assert told_tags == tags
    assert f"| together | | {in_all} | {len(QUESTIONS)} |" in readme
