"""The documents keep their word: links lead somewhere, and the commands that they name exist."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from cli.main import make_app

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "eval").rglob("README.md")),
]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
INLINE_CODE = re.compile(r"`([^`]+)`")
COMMAND = typer.main.get_command(make_app([]))  # with all subcommands


def name(path):
    return path.relative_to(ROOT).as_posix()


def prose(path):
    """A document without its code blocks."""
    return FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path):
    """The names that a page gives its headings: 'The web page' -> 'the-web-page'."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path):
    found = LINK.findall(prose(path))
    return [link for link in found if not link.startswith(("http://", "https://"))]


def commands(path):
    """Every 'stickler ...' of a document, in a code block or in the text, as its words."""
    text = path.read_text(encoding="utf-8")
    lines = [line for block in FENCED.findall(text) for line in block.splitlines()]
    spans = [" ".join(span.split()) for span in INLINE_CODE.findall(FENCED.sub("", text))]
    for line in [*lines, *spans]:
        if match := re.match(r"(?:\$ )?stickler (.+)", line):
            yield shlex.split(match[1], comments=True)


def problem(words):
    """What is wrong with a command line, or None; its arguments are not looked at."""
    command = COMMAND
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if hasattr(command, "commands"):
        return f"unknown command {words[0]}" if words else None
    flags = {flag: param for param in command.params for flag in param.opts + param.secondary_opts}
    rest = iter(words)
    for word in rest:
        if word.startswith("-") and word != "-":
            if word not in flags:
                return f"unknown option {word}"
            if not flags[word].is_flag and next(rest, None) is None:
                return f"no value for {word}"
    return None


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(path):
    for link in links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_command_exists_with_its_options(path):
    problems = {shlex.join(words): problem(words) for words in commands(path)}
    assert {line: found for line, found in problems.items() if found} == {}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_make_target_exists(path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    code = "\n".join([*FENCED.findall(path.read_text("utf-8")), *INLINE_CODE.findall(prose(path))])
    assert set(re.findall(r"^make ([a-z]+)", code, re.MULTILINE)) <= targets


def test_every_published_figure_is_in_the_table():
    table = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    baselines = tomllib.loads((ROOT / "eval" / "baselines.toml").read_text(encoding="utf-8"))
    figures = {f"{row['expected']:.3f}" for row in baselines["baseline"]}
    assert {figure for figure in figures if figure not in table} == set()


def test_a_wrong_command_line_is_noticed():
    assert problem(["eval", "run", "--set", "dev", "-o", "runs/a"]) is None
    assert problem(["evaluate"]) == "unknown command evaluate"
    assert problem(["ask", "--no-such", "what?"]) == "unknown option --no-such"
    assert problem(["batch", "questions.csv", "-o"]) == "no value for -o"


def test_the_readme_shows_commands_and_stays_short():
    readme = ROOT / "README.md"
    assert len(list(commands(readme))) > 10
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 120
