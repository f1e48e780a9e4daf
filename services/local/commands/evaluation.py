"""`ragstone eval`: how good the passages and the answers are, and whether a change made them worse."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from services.local import background, evaluating, sending, show_evaluation
from services.local.commands.options import AsJson, Space, Url
from services.local.evaluating import Wish
from services.local.evaluation_api import EvaluationApi
from services.local.question_files.files import read_questions
from services.local.question_files.sets import QuestionSet, space_for
from services.local.settings import local_settings
from services.local.terminal import FAILED, console_for, gateway, out, share
from services.shared.contracts.evaluation import Comparison, StartedEvaluation, Subject
from services.shared.evaluation.comparison import compare, unjudged

Questions = Annotated[
    Path | None,
    typer.Option(
        help="File of questions: JSON lines, a reviewed YAML file, or SQuAD's JSON.", exists=True, dir_okay=False
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder of a data set: corpus.jsonl, queries.jsonl, qrels.tsv.", exists=True, file_okay=False),
]
NoIngest = Annotated[bool, typer.Option("--no-ingest", help="Do not send the data set's documents; they are there.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask so many of the questions, drawn by lot.")]
Seed = Annotated[int, typer.Option(min=0, help="Of the lot and of the intervals' resampling.")]
Ablate = Annotated[
    bool, typer.Option("--ablate", help="Search again with stages switched off, and say what each adds.")
]
NoJudge = Annotated[bool, typer.Option("--no-judge", help="Do not ask the judge model.")]
Against = Annotated[
    str | None,
    typer.Option(
        help="Compare with this evaluation: its id, its evaluation.json, or last for the newest of these questions."
    ),
]
Veto = Annotated[
    bool,
    typer.Option(
        "--veto", help="Exit 1 when a metric got worse beyond its interval, or too little can be compared to say so."
    ),
]
Risk = Annotated[float, typer.Option(help="Share of wrong answers that the threshold may allow.", callback=share)]
Background = Annotated[bool, typer.Option("--background", help="Return the id at once.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        file_okay=False,
        help="Folder for evaluation.json, report.md and report.html; the default is in the state folder.",
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the evaluation.")]


class SubjectGroup(TyperGroup):
    """`eval list` is a command; any other word behind `eval` is the group's own, and its options may follow.

    By itself Typer takes the first word of `eval list` for the subject, and what follows `eval retrieval` for a
    command.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Fill the places of the group's own words where a command is named."""
        if args and args[0] in self.commands:
            args = [Subject.ALL.value, "", *args]
        else:
            ctx.allow_interspersed_args = True
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The group's own words are no part of how its commands are called, which their help says."""
        params = super().get_params(ctx)
        return params if ctx.command is self else [param for param in params if param.param_type_name == "option"]


eval_app = typer.Typer(
    cls=SubjectGroup,
    invoke_without_command=True,
    subcommand_metavar="| COMMAND [ARGS]...",
    rich_markup_mode=None,
)


@eval_app.callback()
def evaluate(
    context: typer.Context,
    subject: Annotated[Subject, typer.Argument(help="What to evaluate.")] = Subject.ALL,
    path: Annotated[str | None, typer.Argument(help="The same as --questions FILE or --data FOLDER.")] = None,
    questions: Questions = None,
    data: Data = None,
    no_ingest: NoIngest = False,
    limit: Limit = None,
    seed: Seed = 0,
    ablate: Ablate = False,
    no_judge: NoJudge = False,
    against: Against = None,
    veto: Veto = False,
    risk: Risk = 0.05,
    in_background: Background = False,
    keep_in: Out = None,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions whose right answers are known, and say how good passages and answers are.

    Without a file or a data set these are the approved questions of the golden set. The documents of a data set are
    ingested into a space of their own (eval-NAME unless --space names one). Ctrl-C cancels the evaluation.
    """
    if context.invoked_subcommand is not None:
        return
    _fit_together(veto=veto, against=against, in_background=in_background, keep_in=keep_in)
    source = _source(path, questions, data)
    chosen = None if source is None else read_questions(source)
    before = evaluating.kept_earlier(against)
    wish = Wish(subject, limit, seed, ablate, not no_judge, None if before else against, risk)
    console = console_for(stderr=as_json)
    own = None if source is None or chosen is None else _own_space(source, chosen, no_ingest=no_ingest)
    with gateway(url, space or own) as api, sending.interruptible() as stop:
        doors = EvaluationApi(api)
        request = evaluating.request_for(doors, wish, chosen)
        if chosen is not None:
            for note in chosen.notes:
                console.print(f"{chosen.name}: {note}.", style="yellow", markup=False, soft_wrap=True)
            if not no_ingest:
                evaluating.send_corpus(api, console, chosen, stop)
        started = evaluating.start(doors, request)
        if in_background:
            _say_started(console, started, background.where(api), as_json=as_json)
            return
        later = f"`ragstone eval show {started.id} --out FOLDER{background.where(api)}` gets the report"
        work = background.Work(str(started.job_id), f"evaluation {started.id}", later)
        _, done = background.wait_for(api, console, work, lambda: doors.evaluation(started.id), stop)
    if before is not None:
        done = evaluating.with_comparison(before, done)
    files = evaluating.save(done, keep_in or evaluating.usual_folder(local_settings().state_dir, started.id))
    if as_json:
        out(evaluating.for_programs(done, files))
    else:
        show_evaluation.evaluation(console, done)
        show_evaluation.files(console, files)
    _end(console, done.comparison, against=against, veto=veto)


@eval_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """List the newest evaluations of a space."""
    with gateway(url, space) as api:
        found = EvaluationApi(api).evaluations(limit)
    if as_json:
        out(found.model_dump(mode="json"))
    else:
        show_evaluation.evaluations(console_for(), found.items)


@eval_app.command("show")
def show_command(
    evaluation_id: Id,
    keep_in: Annotated[Path | None, typer.Option("--out", file_okay=False, help="Also keep its files here.")] = None,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Show an evaluation that has ended, such as one that was started with --background."""
    with gateway(url, space) as api:
        done = EvaluationApi(api).evaluation(evaluation_id)
    files = {} if keep_in is None else evaluating.save(done, keep_in)
    if as_json:
        out(done.model_dump(mode="json") | {"files": files})
    else:
        console = console_for()
        show_evaluation.evaluation(console, done)
        show_evaluation.files(console, files)


@eval_app.command("compare")
def compare_command(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="Id of an evaluation, or its evaluation.json.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another of the same questions.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals' resampling.")] = 0,
    veto: Veto = False,
    space: Space = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Compare two evaluations, question by question."""
    console = console_for(stderr=as_json)
    with gateway(url, space) as api:
        doors = EvaluationApi(api)
        first, second = (evaluating.earlier(doors, named) for named in (before, after))
    compared = compare(first, second, seed)
    if as_json:
        out(compared.model_dump(mode="json"))
    else:
        show_evaluation.comparison(console, second.model_copy(update={"comparison": compared}))
    _end(console, compared, against=before, veto=veto)


def _fit_together(*, veto: bool, against: str | None, in_background: bool, keep_in: Path | None) -> None:
    if veto and against is None:
        raise typer.BadParameter("it needs --against, which says what to compare with.", param_hint="'--veto'")
    if in_background and (veto or keep_in is not None):
        raise typer.BadParameter("it does not wait for what --veto and --out need.", param_hint="'--background'")
    if in_background and against is not None and Path(against).exists():
        detail = "the server knows no kept file; `ragstone eval compare FILE ID` compares when it has ended."
        raise typer.BadParameter(detail, param_hint="'--background'")


def _source(path: str | None, questions: Path | None, data: Path | None) -> Path | None:
    given = [source for source in (None if path is None else Path(path), questions, data) if source is not None]
    if len(given) > 1:
        raise typer.BadParameter("only one of a path, --questions and --data can be asked.")
    if path is not None and (not path.strip() or not Path(path).exists()):
        raise typer.BadParameter(f"{path!r} is not there.", param_hint="'path'")
    return given[0] if given else None


def _own_space(source: Path, chosen: QuestionSet, *, no_ingest: bool) -> str | None:
    """The space of a data set; questions without documents are asked where everybody asks."""
    if source.is_dir() and chosen.corpus is None and not no_ingest:
        detail = f"{source} holds no corpus.jsonl; --no-ingest asks about the documents that are there already."
        raise typer.BadParameter(detail)
    return space_for(chosen.name) if source.is_dir() or chosen.corpus is not None else None


def _say_started(console: Console, started: StartedEvaluation, where: str, *, as_json: bool) -> None:
    if as_json:
        out(started.model_dump(mode="json"))
        return
    console.print(f"{started.id} asks {started.questions} questions (job {started.job_id}).", highlight=False)
    console.print(f"`ragstone eval show {started.id}{where}` shows it when it has ended.", highlight=False)


def _end(console: Console, comparison: Comparison | None, *, against: str | None, veto: bool) -> None:
    """Say how much was compared; exit 1 when the change is vetoed, or cannot be judged, and that was asked for."""
    if comparison is None:
        if against is not None:
            console.print(evaluating.NONE_EARLIER, style="yellow", markup=False, soft_wrap=True)
        return
    if comparison.only_before:
        there = comparison.paired + comparison.only_before
        said = f"Only {comparison.paired} of the {there} questions of the run before could be compared."
        console.print(said, style="bold yellow", highlight=False, soft_wrap=True)
    if not veto:
        return
    why = unjudged(comparison)
    if comparison.vetoed:
        said = f"Vetoed: {'; '.join(evaluating.got_worse(comparison))}."
        console.print(said, style="bold red", markup=False, highlight=False, soft_wrap=True)
    elif why is not None:
        console.print(f"Refused: {why}.", style="bold red", markup=False, highlight=False, soft_wrap=True)
    if comparison.vetoed or why is not None:
        raise typer.Exit(FAILED)
