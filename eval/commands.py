"""The commands that measure: stickler eval ..."""

import typer

from index.embed import DEFAULT as EMBEDDER
from index.errors import SticklerError
from index.terminal import EmbedderName, Json, progress_bar, show

app = typer.Typer()
eval_app = typer.Typer(help="Measure how well rules are found.", no_args_is_help=True)
app.add_typer(eval_app, name="eval")


@eval_app.callback()
def group() -> None:
    """Measure how well rules are found."""


@eval_app.command("check")
def check_baselines(embedder: EmbedderName = EMBEDDER, as_json: Json = False) -> None:
    """Measure the published figures anew; exit code 1 where one is missed."""
    from eval.check import check
    from index.search import Searcher

    results = list(check(Searcher.open(embedder, progress_bar("Embedding"))))
    rows = [
        {
            "name": result.name,
            "expected": result.expected,
            "tolerance": result.tolerance,
            **result.figure._asdict(),
            "kept": result.kept,
        }
        for result in results
    ]
    lines = [
        f"{'ok    ' if result.kept else 'MISSED'} {result.name:45} {result.figure} "
        f"of {result.figure.items}, expected {result.expected:.3f}"
        for result in results
    ]
    show(rows, lines, as_json)
    missed = [result.name for result in results if not result.kept]
    if missed:
        raise SticklerError(
            f"{len(missed)} of {len(results)} published figures were missed: find the change that "
            "lowered them, or publish the new figures in eval/baselines.toml."
        )


@eval_app.command("calibrate")
def calibrate(embedder: EmbedderName = EMBEDDER, as_json: Json = False) -> None:
    """Fit anew when to answer and how sure to be; writes qa/confidence.json."""
    from eval.calibrate import fit
    from index.search import Searcher

    report = fit(Searcher.open(embedder, progress_bar("Embedding")))
    lines = [
        f"{table}: {what:22} {figure} of {figure.items}"
        for table, figures in report.items()
        for what, figure in figures.items()
    ]
    show(report, lines, as_json)
