import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from index import library

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def release(tmp_path, small_release):
    path = tmp_path / "rules.txt"
    path.write_text(small_release("July 4, 2025"), encoding="utf-8")
    return str(path)


def spawned(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        env={**os.environ, **environment},
    )


# Each command, for people and for programs.


def test_list_counts_the_rules_of_each_section(stickler, result):
    code, out, err = stickler("rules", "list")
    assert (code, err) == (0, "")
    assert "702  Keyword Abilities  (603)" in out.splitlines()
    rows = {row["number"]: row for row in result("rules", "list")}
    assert rows["702"] == {"number": "702", "heading": "Keyword Abilities", "rules": 603}
    assert sum(row["rules"] for row in rows.values()) == 803


def test_list_of_a_section_gives_its_headings(stickler, result):
    code, out, _ = stickler("rules", "list", "702")
    assert code == 0
    assert "702.19   Trample" in out.splitlines()
    assert "702.19b" not in out
    numbers = [row["number"] for row in result("rules", "list", "702")]
    assert len(numbers) == 153
    assert numbers.index("702.2") < numbers.index("702.10") < numbers.index("702.100")


def test_show_gives_a_rule_with_edition_and_examples(stickler):
    code, out, err = stickler("rules", "show", "702.19b")
    assert (code, err) == (0, "")
    assert out.startswith("702.19b Trample [2024-03-08]\n")
    assert out.count("Example: ") == 2
    assert max(map(len, out.splitlines())) <= 100


def test_show_as_json_is_the_rule_word_for_word(result, book):
    (row,) = result("rules", "show", "702.19b")
    rule = book.current.rule("702.19b")
    assert (row["number"], row["text"], row["edition"]) == (rule.number, rule.text, "2024-03-08")
    assert [e["text"] for e in row["examples"]] == [e.text for e in rule.examples]
    assert (row["heading"], row["parent"]) == ("Trample", "702.19")
    assert row["referred_from"] == ["702.19c"]
    (row,) = result("rules", "show", "702.2b")
    assert row["references"] == [{"number": "704", "known": False}]


@pytest.mark.parametrize("query", ["510.1c-d", "510.1c–d", "Rule 510.1c through Rule 510.1d"])
def test_show_takes_a_range(query, result):
    assert [row["number"] for row in result("rules", "show", query)] == ["510.1c", "510.1d"]


def test_show_takes_a_keyword(stickler, result):
    assert [row["number"] for row in result("rules", "show", "trample")][:2] == [
        "702.19",
        "702.19a",
    ]
    assert stickler("rules", "show", "trample")[1].count("[2024-03-08]") == 8


def test_show_says_what_is_cut_off_and_what_is_not_loaded(stickler):
    assert "[cut off in the source]" in stickler("rules", "show", "506.4c")[1]
    assert "[cut off in the source]" not in stickler("rules", "show", "506.4b")[1]
    assert "(not loaded: 704)" in stickler("rules", "show", "702.2b")[1]


def test_show_takes_an_older_edition(stickler, result):
    code, out, _ = stickler("rules", "show", "702.17", "--edition", "2009-10-01")
    assert code == 0
    assert out.startswith("702.17 Trample [2009-10-01]\n")
    (row,) = result("rules", "show", "702.17b", "--edition", "2009-10-01")
    assert row["dated"] == "2009-07-08"


def test_history_shows_every_edition_and_marks_what_changed(stickler, result):
    code, out, err = stickler("rules", "history", "702.19b")
    assert (code, err) == (0, "")
    titles = [line for line in out.splitlines() if not line.startswith(" ")]
    assert titles == [
        "702.17b Trample [2009-10-01]",
        "702.19b Trample [2022-06-10]",
        "702.19b Trample [2024-03-08]",
    ]
    assert "[-remaining-] {+excess+}" in " ".join(out.split())
    ((first, *_, last),) = result("rules", "history", "702.19b")
    assert (first["number"], last["number"]) == ("702.17b", "702.19b")
    new = "".join(text for kind, text in last["changes"] if kind != "gone")
    assert new == last["text"]
    assert len(result("rules", "history", "trample")[0]) == 3


def test_documents_lists_what_ships(stickler, result):
    code, out, err = stickler("rules", "documents")
    assert (code, err) == (0, "")
    assert out.count("  ships  ") == 5
    assert "Wizards of the Coast" in out
    rows = result("rules", "documents")
    assert [(row["edition"], row["rules"], row["examples"]) for row in rows] == [
        ("2024-03-08", 100, 11),
        ("2024-03-08", 100, 13),
        ("2024-03-08", 100, 13),
        ("2022-06-10", 603, 23),
        ("2009-10-01", 319, 15),
    ]
    assert len(result("rules", "documents", "--edition", "2024-03-08")) == 3


def test_add_and_remove_say_what_they_did(stickler, result, release):
    code, out, err = stickler("rules", "add", release)
    assert (code, err) == (0, "")
    assert out == "Added the edition 2025-07-04: 8 rules, 2 examples, 2 glossary entries.\n"
    assert "added 20" in stickler("rules", "documents")[1]
    assert result("rules", "show", "702.2a")[0]["edition"] == "2025-07-04"
    code, out, _ = stickler("rules", "remove", "2025-07-04")
    assert code == 0
    assert out.startswith("Removed 2025-07-04-official-")
    row = result("rules", "add", release)
    assert (row["edition"], row["rules"], row["examples"]) == ("2025-07-04", 8, 2)
    assert row["notices"] == []
    assert [gone["edition"] for gone in result("rules", "remove", "2025-07-04")] == ["2025-07-04"]


def test_add_puts_what_it_noticed_on_standard_error(stickler, releases):
    code, out, err = stickler("rules", "add", str(releases / "2009-10-01.txt"))
    assert code == 0
    assert "1599 rules, 195 examples" in out
    assert any(line.startswith("Note: ") and "702.30d" in line for line in err.splitlines())
    assert "Note" not in out


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
        timeout=30,
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
        timeout=30,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"needs a deck" in run.stdout


@pytest.mark.parametrize("command", ["show 702.19b", "list", "history trample", "documents"])
def test_a_rules_command_starts_without_anything_heavy(command):
    heavy = "{'torch', 'transformers', 'gradio', 'faiss', 'sentence_transformers', 'numpy'}"
    code = (
        f"import sys; sys.argv = ['stickler', 'rules', *{command.split()!r}]\n"
        "import cli\n"
        "try: cli.main()\n"
        f"finally: print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    run = spawned("-c", code)
    assert run.returncode == 0
    assert run.stderr == "[]\n"


def test_a_keyword_is_answered_from_the_book(stickler):
    code, out, err = stickler("ask", "what is defender?")
    assert (code, err) == (0, "")
    assert "702.3b Defender [2022-06-10]\n  A creature with defender can’t attack." in out
    code, out, _ = stickler("ask", "702.3b", "--json")
    assert json.loads(out)["citations"][0]["number"] == "702.3b"
