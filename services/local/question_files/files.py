"""Whatever holds questions: our JSON lines, a reviewed YAML file, SQuAD's JSON, or the folder of a data set."""

from pathlib import Path

from services.local.folder import shown
from services.local.question_files.folders import question_of, read_folder
from services.local.question_files.rows import Seen, json_rows, message, whole_text, wrong
from services.local.question_files.sets import QuestionSet
from services.local.question_files.squad import read_squad
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.golden import QUESTIONS_MAX, GoldenIn, GoldenState, Question

LINES = (".jsonl", ".ndjson")
REVIEWS = (".yaml", ".yml")


def read_questions(path: Path) -> QuestionSet:
    """The questions of a file or of a data set's folder, by what its name ends in.

    Of a review file those that are approved. Raises: RagstoneError that names the file and the line.
    """
    if path.is_dir():
        return read_folder(path)
    suffix, notes = path.suffix.lower(), tuple[str, ...]()
    if suffix == ".json":
        return read_squad(path)
    if suffix in LINES:
        found = read_lines(path)
    elif suffix in REVIEWS:
        reviewed = read_golden(path)
        found = [item.question for item in reviewed if item.state is GoldenState.APPROVED]
        left = len(reviewed) - len(found)
        notes = (f"{left} questions of {shown(path.name)} are not approved and are left out",) if left else ()
    else:
        known = ", ".join((*LINES, *REVIEWS, ".json"))
        raise wrong(path, f"it is no folder, and its name ends in none of {known}")
    if not found:
        raise wrong(path, "it holds no question to ask")
    return QuestionSet(path.stem, found, notes=notes)


def read_lines(path: Path) -> list[Question]:
    """Questions, one JSON object a line; those with ``_id`` are queries as data sets have them.

    Raises: RagstoneError.
    """
    questions, seen = list[Question](), Seen(path, "question")
    for line, row in json_rows(path):
        question = question_of(row, path, line, path.stem, None) if "_id" in row else message(Question, row, path, line)
        if question is not None:
            seen.add(question.id, line)
            questions.append(question)
    return questions


def read_golden(path: Path) -> list[GoldenIn]:
    """Golden questions of a review file, or of JSON lines (which are approved).

    Raises: RagstoneError.
    """
    if path.suffix.lower() in LINES:
        questions = read_lines(path)
        if len(questions) > QUESTIONS_MAX:
            raise wrong(
                path, f"it holds {len(questions)} questions; {QUESTIONS_MAX} can be taken in at once, so split it"
            )
        return [GoldenIn(question=question) for question in questions]
    if path.suffix.lower() not in REVIEWS:
        raise wrong(path, f"its name ends in none of {', '.join((*REVIEWS, *LINES))}")
    from services.shared.evaluation.golden.review import read_review

    text = whole_text(path)
    try:
        return read_review(text)
    except RagstoneError as error:
        raise wrong(path, error.detail.removesuffix(".")) from error
