"""`ragstone critic`: the small model that judges passages, what it was made of, and making it anew."""

from pathlib import Path
from typing import Annotated

import typer

from services.local.commands.options import AsJson
from services.local.terminal import console_for, out

Data = Annotated[
    Path, typer.Option(exists=True, file_okay=False, help="Folder with the data sets that docs/critic.md names.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", file_okay=False, help="Where the critic is written; the default is the product's own place."),
]
Folder = Annotated[
    Path | None, typer.Option("--from", exists=True, file_okay=False, help="A critic elsewhere than in the product.")
]

critic_app = typer.Typer(
    help="The small model that judges whether a passage is relevant to a question.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@critic_app.command("train")
def train_command(
    data: Data,
    into: Out = None,
    seed: Annotated[int, typer.Option(min=0, help="Of every choice that is made.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make the critic anew from public data sets, and measure it on one that it never saw. Takes some minutes."""
    # These bring the embedder and scikit-learn, which no other command should wait for.
    from services.local.critic_training import make
    from services.shared.kit.settings import EmbedderSettings
    from services.shared.models.backends import Use
    from services.shared.models.critic.runtime import SHIPPED
    from services.shared.models.loader import load_embedder

    console = console_for(stderr=as_json)
    embedder = load_embedder(EmbedderSettings(), Use.DOCUMENTS)
    folder = into or SHIPPED
    critic = make(
        data, folder, embedder, seed=seed, say=lambda line: console.print(line, markup=False, highlight=False)
    )
    _show(critic.manifest.model_dump(mode="json"), folder, as_json=as_json)


@critic_app.command("show")
def show_command(folder: Folder = None, as_json: AsJson = False) -> None:
    """Check the critic's files, and say what it was trained on and how it did on what it had not seen."""
    from services.shared.models.critic.runtime import SHIPPED, load

    _show(load(folder or SHIPPED).manifest.model_dump(mode="json"), folder or SHIPPED, as_json=as_json)


def _show(manifest: dict[str, object], folder: Path, *, as_json: bool) -> None:
    if as_json:
        out({"folder": str(folder), **manifest})
        return
    from services.shared.models.critic.weights import Manifest

    made = Manifest.model_validate(manifest)
    lines = [
        f"The critic in {folder}",
        f"SHA-256 {made.sha256}, seed {made.seed}, with {made.embedder}",
        "",
        "trained on",
    ]
    lines += [f"  {one.name}: {one.questions} questions, {one.rows} passages ({one.licence})" for one in made.sources]
    lines += ["", "held out (area under the ROC curve)"]
    lines += [f"  {value:.4f}  {name.replace('_', ' ')}" for name, value in made.held_out.items()]
    console = console_for()
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
