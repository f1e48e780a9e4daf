"""What is asked: questions whose passages are all known, and searches where no rule knows the language."""

from services.shared.contracts.ids import ChunkId
from services.shared.evaluation.calibration.by_words import searches
from services.shared.evaluation.calibration.cases import Case, Kind
from services.shared.evaluation.calibration.holders import holders, holds, tokens
from services.shared.evaluation.calibration.questions import Source, cases_of
from services.shared.evaluation.golden.drafts import question_id
from services.shared.evaluation.golden.rules import drafts_of
from services.shared.evaluation.golden.words import Corpus
from tests.unit.evaluation_golden.documents import document

ANSWER = "The Alder Pool has employed 31 people in hall 4 since 2019."


def sources(*texts: str) -> list[Source]:
    found = []
    for n, text in enumerate(texts):
        one = document(text, id=f"{n}.md", title=f"Alder {n}")
        found.append(Source(one, tuple(ChunkId(f"{n}-{k}") for k in range(len(one.passages)))))
    return found


def made(found: list[Source], most: int = 100, known: tuple[str, ...] = ()) -> list[Case]:
    corpus = Corpus([source.document for source in found])
    drafts = [draft for source in found for draft in drafts_of(source.document, corpus)]
    return cases_of(found, drafts, corpus, most, 0, known)


def test_copies_and_overlapping_neighbours_hold_an_answer() -> None:
    whole = f"Before. {ANSWER} After it comes more."
    copy = "the alder pool has employed 31 people, in Hall 4 since 2019!"
    half = "people in hall 4 since 2019. And then much else is told."
    other = "The Alder Pool opens at seven, and people in hall 3 sell tea."
    passages = [("whole", whole), ("copy", copy), ("half", half), ("other", other)]
    assert holders([ANSWER, "Nothing of the kind stands here"], passages) == [["whole", "copy"], []]
    for key, text in passages:
        assert holds(text, ANSWER, [], "") is (key in ("whole", "copy"))


def test_the_same_told_in_other_words_holds_it_when_the_facts_agree() -> None:
    facts = [["31 people", "thirty-one people"]]
    turned = "In hall 4, since 2019, there have been 31 people employed at the Alder Pool."
    assert holds(turned, ANSWER, facts, "")
    assert not holds(turned.replace("31", "13"), ANSWER, facts, "")
    asked, told = (
        "How many people work in the Alder Pool?",
        "Many find that the 31 people who work in this pool (Alder) do.",
    )
    assert holds(told, ANSWER, facts, asked)
    assert not holds(told, ANSWER, [], asked), "without a fact, the question's words alone say nothing"
    assert not holds(told.replace("31", "13"), ANSWER, facts, asked)
    assert not holds("", ANSWER, [], "")
    assert not holds(ANSWER, "", [], "")


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    assert tokens("東京は C++ です") == ["東", "京", "は", "c", "で", "す"]
    assert holds("昨日、市営プールは七時に開きます。", "市営プールは七時に開きます", [], "")
    assert not holds("市営プールは休みです。", "図書館は七時に開きます", [], "")


def test_every_answerable_question_has_its_twin() -> None:
    found = sources(f"{ANSWER}\n\nUnrelated words stand here for nobody.", f"Some say: {ANSWER}")
    cases = made(found)
    answerable = [case for case in cases if case.kind is Kind.ANSWERABLE]
    left_out = [case for case in cases if case.kind is Kind.LEFT_OUT]
    assert [case.question for case in answerable] == [case.question for case in left_out]
    one = next(case for case in answerable if case.question.startswith("How many people"))
    assert set(one.holders) == {"0-0", "1-0"}
    assert one.gold == ["0-0"]
    assert all(not case.holders for case in cases if case.kind in (Kind.NEAR_MISS, Kind.OFF_TOPIC))


def test_a_question_about_a_section_leaves_all_of_it_out() -> None:
    text = (
        "## Fire drills\n\nFire drills are held twice a year by the wardens, who wear yellow and count heads.\n\n"
        "Whoever misses the count calls the desk at once and says where they are.\n\n"
        "## Towels\n\nTowels are lent at the desk for one coin, and come back dry."
    )
    cases = [case for case in made(sources(text)) if "fire drills" in case.question.lower() and not case.by_words]
    assert cases
    assert all(set(case.holders) == {"0-0", "0-1"} for case in cases)


def test_decided_golden_questions_are_not_asked() -> None:
    found = sources(ANSWER)
    text = next(case.question for case in made(found) if case.question.startswith("How many people"))
    ids = tuple(question_id(kind, text) for kind in ("factual_recall",))
    assert text not in [case.question for case in made(found, known=ids)]


def test_the_same_is_asked_for_the_same_seed_and_never_too_much() -> None:
    found = sources(*(ANSWER.replace("31", str(30 + n)).replace("Alder", f"Alder{n}") for n in range(30)))
    assert made(found) == made(found)
    few = made(found, most=10)
    assert all(sum(case.kind is kind for case in few) <= 10 for kind in Kind)


def test_other_languages_are_searched_by_rare_words() -> None:
    german = [
        f"Das Schwimmbad Nummer {n} öffnet morgens um sieben Uhr und verleiht Handtücher{n} an der Kasse{n} im Hof{n}."
        for n in range(4)
    ]
    cases = [case for case in made(sources(*german)) if case.kind is Kind.ANSWERABLE]
    assert len(cases) == 4
    assert all(case.by_words and len(case.question.split()) == 5 for case in cases)
    assert "handtücher0" in next(case.question for case in cases if case.gold == ["0-0"])


def test_searches_of_scripts_without_spaces_are_clauses() -> None:
    (found,) = searches(["市営プールは午前七時に開館します、タオルは受付で借りられます。"])
    assert found[1] in ("市営プールは午前七時に開館します", "タオルは受付で借りられます")
    assert list(searches(["Too short.", "1 2 3 4 5 6 7 8 9 10"])) == []
