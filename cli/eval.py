"""The commands that measure: stickler eval ...

Run as: stickler eval run --set dev --model none -o runs/dev
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import EmbedderName, Json, ModelName
from cli.terminal import progress_bar, show
from eval.items import DEFAULT as DEFAULT_SETS
from index.embedder import DEFAULT as EMBEDDER
from index.errors import SticklerError
from qa.models import DEFAULT as MODEL

if TYPE_CHECKING:
    from eval.run import Run
    from qa.resources import Resources

app = typer.Typer()
eval_app = typer.Typer(
    help="Measure how well rules are found and questions answered.", no_args_is_help=True
)
app.add_typer(eval_app, name="eval")

Folder = Annotated[Path, typer.Argument(help="The folder of a run.", show_default=False)]


@eval_app.command("build")
def build_sets(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output folder; default: the data folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the sets that are made from the examples of all loaded documents."""
    from eval import examples, items
    from index import files, library

    book = library.load()
    made = examples.build(book)
    gone = examples.unmatched(book)
    paths = examples.write(made, out or files.data_folder() / "sets" / "examples")
    kinds = {path.stem: sum(item.kind == path.stem for item in made) for path in paths}
    distinct = len({item.masked for item in made})
    by_code = len({item.masked for item in made if item.source == "split by code"})
    result = {"version": items.version(made), "examples": distinct, "split by code": by_code}
    lines = [
        f"{distinct} distinct examples, {by_code} of them split by code and not reviewed.",
        *(f"{path}: {kinds[path.stem]} items" for path in paths),
    ]
    show({**result, **kinds, "files": [str(path) for path in paths]}, lines, as_json)
    if gone:
        raise SticklerError(
            f"{len(gone)} examples that were split by hand are no longer in the documents "
            f"('{gone[0][:60]}...')",
            f"correct {examples.READ.name}",
        )


@eval_app.command("run")
def run_sets(
    out: Annotated[Path, typer.Option("--out", "-o", help="The run's folder.")],
    sets: Annotated[
        str, typer.Option("--set", help="One or more sets, separated by commas.")
    ] = ",".join(DEFAULT_SETS),
    model: ModelName = MODEL,
    embedder: EmbedderName = EMBEDDER,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only this many items of each set.")
    ] = None,
    rules: Annotated[
        str,
        typer.Option(
            help="Rules to show the model: found, gold, or placebo (those of another question)."
        ),
    ] = "found",
    variant: Annotated[
        str, typer.Option(help="Search variant: default, fused, dense or bm25.")
    ] = "default",
    verdicts_only: Annotated[
        bool, typer.Option("--verdicts-only", help="Only yes or no, no sentences: faster.")
    ] = False,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Start over and discard the records of an earlier run."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask every item of the sets; resumes if interrupted."""
    from eval.run import Plan, Runner

    plan = Plan(tuple(sets.split(",")), model, embedder, limit, rules, variant)
    if verdicts_only:
        plan = replace(plan, answer_tokens=0)
    runner = Runner(plan, _resources(embedder))
    _show(runner.run(out, restart, progress_bar("Asking")), as_json)


@eval_app.command("report")
def write_report(folder: Folder, as_json: Json = False) -> None:
    """Write a run's report as one page with plots, report.html, and as report.md."""
    from eval import report
    from eval.run import open_run

    paths = [str(path) for path in report.write(open_run(folder))]
    show(paths, paths, as_json)


@eval_app.command("compare")
def compare_runs(first: Folder, second: Folder, as_json: Json = False) -> None:
    """Compare two runs item by item, with a paired permutation test."""
    from eval import report
    from eval.run import open_run

    rows = report.compare(open_run(first), open_run(second))
    lines = [
        f"{name:14} {what:24} {d.first:.3f} -> {d.second:.3f}  "
        f"difference [{d.low:+.3f}, {d.high:+.3f}], p {d.p:.4f}, {d.items} items"
        for name, what, d in rows
    ]
    found = [{"set": name, "measure": what, **d._asdict()} for name, what, d in rows]
    show(found, lines, as_json)


@eval_app.command("add")
def add_set(
    file: Annotated[Path, typer.Argument(help="JSON lines with question and gold_rules.")],
    name: Annotated[str | None, typer.Option(help="The set's name; default: the file's.")] = None,
    as_json: Json = False,
) -> None:
    """Add your own questions, with the rules that decide them, as a set."""
    from eval import items
    from index import library

    called = name or file.stem
    kept, left_out = items.add(file, called, library.load())
    lines = [
        f"{len(kept)} questions added: run 'stickler eval run --set {called} -o FOLDER'.",
        *(f"Left out: {why}" for why in left_out),
    ]
    show({"set": called, "items": len(kept), "left_out": left_out}, lines, as_json)


@eval_app.command("check")
def check_baselines(
    embedder: EmbedderName = EMBEDDER,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Skip figures that need a language model or a search variant."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Re-measure the published figures; exit code 1 if any got worse."""
    from eval.check import check

    results = list(check(_resources(embedder), quick, progress_bar("Asking")))
    rows = [
        {
            "name": result.name,
            "command": result.command,
            "expected": result.expected,
            "tolerance": result.tolerance,
            **result.figure._asdict(),
            "kept": result.kept,
        }
        for result in results
    ]
    lines = [
        f"{'ok    ' if result.kept else 'MISSED'} {result.name:60} {result.figure} "
        f"of {result.figure.items}, expected {result.expected:.3f}"
        for result in results
    ]
    show(rows, lines, as_json)
    missed = [result.name for result in results if not result.kept]
    if missed:
        raise SticklerError(
            f"{len(missed)} of {len(results)} published figures got worse",
            "find the change that made them worse",
            "publish the new figures in eval/baselines.toml",
        )


@eval_app.command("agree")
def agree(embedder: EmbedderName = EMBEDDER, as_json: Json = False) -> None:
    """Show how well the metrics for free answers agree with a reader's 60 judgements."""
    from eval.agreement import agreement
    from index.embedder import Embedder

    found = agreement(Embedder(embedder))
    lines = [
        f"{one.measure:24} rank correlation {one.rank_correlation:.2f}, AUC {one.auc:.2f}, "
        f"{one.answers} answers"
        for one in found
    ]
    show([one._asdict() for one in found], lines, as_json)


@eval_app.command("calibrate")
def calibrate(
    model: Annotated[
        str | None,
        typer.Option("--model", help="Calibrate this model's yes or no instead."),
    ] = None,
    embedder: EmbedderName = EMBEDDER,
    limit: Annotated[int | None, typer.Option(min=40, help="Questions to fit on.")] = None,
    judged: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="A file of judged answers: calibrate the model's sentences on it instead.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Calibrate when to answer and what confidence to show.

    Writes qa/confidence.json; with --model, qa/verdict.json; with --judged,
    qa/answer_confidence.json.
    """
    from eval import answer_calibration, calibrate, verdict_calibration

    if judged is not None:
        report = {"answers": answer_calibration.fit(model or MODEL, judged)}
    elif model is None:
        report = calibrate.fit(_resources(embedder))
    else:
        bar = progress_bar("Asking")
        report = {"verdict": verdict_calibration.fit(_resources(embedder), model, limit, bar)}
    lines = [
        f"{table}: {what:22} {figure} of {figure.items}"
        for table, figures in report.items()
        for what, figure in figures.items()
    ]
    show(report, lines, as_json)


def _resources(embedder: str) -> "Resources":
    from qa.resources import Resources

    return Resources(embedder, progress_bar("Embedding"))


def _show(run: "Run", as_json: bool) -> None:
    from eval import report
    from eval.run import summary

    lines = [
        f"{name:14} {what:24} {figure} of {figure.items}"
        for name, what, figure in report.table(run)
    ]
    show({"run": run.made_with, **summary(run)}, lines, as_json)
