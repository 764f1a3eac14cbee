"""The command as a whole: exit codes, errors, encodings, and how light it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import COMMANDS
from index import library

ROOT = Path(__file__).resolve().parents[2]


def spawned(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        env={**os.environ, **environment},
    )


# What goes wrong: one sentence on standard error, and the exit code says whose fault it is.


@pytest.mark.parametrize(
    "arguments",
    [
        ["rules", "show", "999.1"],
        ["rules", "show", "banana"],
        ["rules", "show", "702.19b", "--edition", "1999-01-01"],
        ["rules", "show", "702.19b", "--edition", "nonsense", "--json"],
        ["rules", "show", ""],
        ["rules", "show", "702.1a-ſ"],
        ["rules", "show", "001.1-5"],
        ["rules", "list", "999"],
        ["rules", "history", "banana"],
        ["rules", "add", "no-such-file.txt"],
        ["rules", "add", "~nobody-of-this-name/rules.txt"],
        ["rules", "add", "."],
        ["rules", "add", "gopher://example.org/rules"],
        ["rules", "remove", "2024-03-08"],
        ["rules", "remove", "1999-01-01"],
        ["eval", "report", "no-such-run"],
        ["eval", "compare", "no-such-run", "nor-this"],
        ["eval", "add", "no-such-file.jsonl"],
        ["batch", "no-such-file.csv", "-o", "out.csv"],
        ["batch", ".", "-o", "out.csv"],
        ["serve", "--auth", "no-colon"],
        ["serve", "--edition", "1999-01-01"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_ends_with_1_and_one_sentence(arguments, stickler):
    code, out, err = stickler(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert err.endswith(".\n")
    assert "Traceback" not in err
    assert "Stickler failed" not in err  # the sentence of a bug, not of a mistake


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["rules"],
        ["rules", "show"],
        ["rules", "show", "702.19b", "702.19c"],
        ["rules", "show", "702.19b", "--nonsense"],
        ["rules", "nonsense"],
        ["nonsense"],
        ["rules", "add"],
        ["rules", "remove"],
        ["eval"],
        ["eval", "run"],
        ["batch"],
        ["batch", "questions.txt"],
        ["serve", "--port", "many"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(arguments, stickler):
    code, out, err = stickler(*arguments)
    assert code == 2
    assert "Usage" in out + err
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["rules", "--help"], ["rules", "show", "--help"], ["eval", "run", "--help"]],
)
def test_help_ends_with_0(arguments, stickler):
    code, out, err = stickler(*arguments)
    assert (code, err) == (0, "")
    assert "Usage" in out


def test_every_command_is_listed_and_has_a_page_of_help(stickler):
    listed = stickler("--help")[1]
    for name in COMMANDS:
        assert f"│ {name} " in listed
        code, out, _ = stickler(name, "--help")
        assert (code, f" {name} " in out) == (0, True)


def test_the_command_itself_ends_with_its_codes():
    done = spawned("-m", "cli", "rules", "show", "702.19b")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("702.19b Trample [2024-03-08]\n")
    could_not = spawned("-m", "cli", "rules", "show", "999.1")
    assert (could_not.returncode, could_not.stdout) == (1, "")
    assert could_not.stderr.startswith("Error: There is no rule 999.1")
    assert "Traceback" not in could_not.stderr
    assert spawned("-m", "cli", "rules", "nonsense").returncode == 2


def test_debug_shows_a_traceback():
    run = spawned("-m", "cli", "--debug", "rules", "show", "999.1")
    assert run.returncode == 1
    assert "Traceback" in run.stderr
    assert "There is no rule 999.1" in run.stderr


def test_a_reader_that_goes_away_is_no_error():
    """stickler rules show 702 | head -1"""
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "cli", "rules", "show", "702"],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    os.close(writing)
    assert run.returncode in (0, 1)
    assert run.stderr == ""


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_a_rule_can_be_shown_in_any_encoding(encoding, tmp_path, small_release):
    """A pipe on Windows speaks cp1252, which has neither the minus sign nor infinity."""
    release = tmp_path / "rules.txt"
    release.write_text(small_release().replace("{W/B}", "−X and ∞"), encoding="utf-8")
    library.add(str(release))
    run = subprocess.run(
        [sys.executable, "-m", "cli", "rules", "show", "100.2"],
        cwd=ROOT,
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"needs a deck" in run.stdout


def heavy_modules_after(*arguments, **environment):
    """The heavy packages that a command has imported by its end."""
    heavy = {"torch", "transformers", "gradio", "faiss", "sentence_transformers", "numpy"}
    code = (
        f"import sys; sys.argv = ['stickler', *{arguments!r}]\n"
        "from cli.main import main\n"
        "try: main()\n"
        f"finally: print(*sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
    )
    return spawned("-c", code, **environment).stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "command",
    [
        "rules show 702.19b",
        "rules list",
        "rules history trample",
        "rules documents",
        "index info",
        "doctor",
        "ask trample",
        "ask 702.19b --json",
    ],
)
def test_a_light_command_imports_nothing_heavy(command):
    assert heavy_modules_after(*command.split()) == ""


@pytest.mark.parametrize("command", [["ask", "why?"], ["chat"], ["search", "why?"]])
def test_an_unknown_edition_is_an_error_before_anything_heavy_is_imported(command):
    assert heavy_modules_after(*command, "--edition", "1999-01-01") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["rules", "show", "702.19b", "--edition", "2009-10-01"],
        ["rules", "documents", "--edition", "2009-10-01"],
        ["rules", "documents"],
        ["ask", "what is defender?"],
    ],
    ids=" ".join,
)
def test_a_command_parses_each_document_at_most_once(arguments, stickler, monkeypatch):
    parsed = []
    read = library.read
    monkeypatch.setattr(library, "read", lambda doc: parsed.append(doc.file) or read(doc))
    stickler(*arguments)
    assert 0 < len(parsed) == len(set(parsed))
