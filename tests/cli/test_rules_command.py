"""stickler rules: each command, for people and for programs."""

import pytest


@pytest.fixture
def release(tmp_path, small_release):
    path = tmp_path / "rules.txt"
    path.write_text(small_release("July 4, 2025"), encoding="utf-8")
    return str(path)


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


@pytest.fixture
def two_releases(tmp_path, small_release, stickler):
    """Two whole editions: one rule was added, so that another moved, and two were reworded."""
    old = small_release("July 4, 2024")
    new = small_release("July 4, 2025").replace("is a static ability", "is an evasion ability")
    new = new.replace("101.1.", "101.1. Two <players> or more play.\n\n101.2. ")
    new = new.replace("100.1a A two-player game begins", "100.1a A duel, *usually*, begins")
    for name, text in (("old.txt", old), ("new.txt", new)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert stickler("rules", "add", str(tmp_path / name))[0] == 0


def test_diff_says_what_changed_by_section(stickler, result, two_releases):
    code, out, err = stickler("rules", "diff")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "From 2024-07-04 to 2025-07-04: 1 added, 0 removed, 1 renumbered, 2 reworded.",
        "",
        "100 General",
        "  100.1a reworded: A duel, *usually*, begins with two players. See rules ...",
        "",
        "101 The Magic Golden Rules",
        "  101.1 added: Two <players> or more play.",
        "  101.1 -> 101.2 renumbered: Whenever a card contradicts these rules, the card takes ...",
        "",
        "702 Keyword Abilities",
        "  702.2a reworded: Deathtouch is an evasion ability.",
    ]
    assert stickler("rules", "diff", "2024-07-04", "2025-07-04")[1] == out
    row = result("rules", "diff")
    assert row["counts"] == {"added": 1, "removed": 0, "renumbered": 1, "reworded": 2}
    assert [section["number"] for section in row["sections"]] == ["100", "101", "702"]
    _, moved = row["sections"][1]["changes"]
    assert (moved["old"]["number"], moved["new"]["number"]) == ("101.1", "101.2")
    assert "words" not in moved


def test_diff_shows_words_on_request(stickler, result, two_releases):
    out = stickler("rules", "diff", "--words")[1]
    assert "    Deathtouch is [-a static-] {+an evasion+} ability." in out.splitlines()
    assert "    {+Two <players> or more play.+}" in out.splitlines()
    changed = result("rules", "diff", "--words")["sections"][2]["changes"][0]
    assert changed["words"][1:3] == [["gone", "a static "], ["new", "an evasion "]]


def test_diff_as_markdown_shows_texts_as_they_are(stickler, two_releases):
    code, out, err = stickler("rules", "diff", "--markdown", "--words")
    assert (code, err) == (0, "")
    assert out.startswith("# From 2024-07-04 to 2025-07-04\n\n1 added, 0 removed,")
    assert "## 702 Keyword Abilities" in out.splitlines()
    assert "- **702.2a** (reworded): Deathtouch is ~~a static~~ **an evasion** ability." in out
    assert "**duel, \\*usually\\*,**" in out
    assert "- **101.1** (added): **Two \\<players\\> or more play.**" in out


def test_diff_says_where_only_excerpts_can_be_compared(stickler):
    code, out, _ = stickler("rules", "diff", "2022-06-10", "2024-03-08")
    assert code == 0
    assert "Only excerpts of the edition 2022-06-10 are loaded (603 rules)" in out
    code, out, err = stickler("rules", "diff")
    assert (code, out) == (1, "")
    assert err.startswith("Error: There are fewer than two full editions to compare (loaded: 2024-")
    assert err.endswith("or get the full rules with 'stickler rules latest'.\n")


@pytest.mark.parametrize("wrong", [["2024-03-08"], ["--json", "--markdown"]])
def test_diff_is_called_with_two_editions_and_one_format(wrong, stickler):
    assert stickler("rules", "diff", *wrong)[0] == 2


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


def test_latest_adds_the_newest_rules_once(stickler, result, publisher, small_release):
    publisher.publish("MagicCompRules 20250704.txt", small_release("July 4, 2025"))
    code, out, err = stickler("rules", "latest")
    assert code == 0
    first, since, note, see = out.splitlines()
    assert first == "Added the edition 2025-07-04: 8 rules."
    assert since.startswith("Since 2024-03-08: 0 added, ")
    assert note.startswith("Only excerpts of the edition 2024-03-08 are loaded")
    assert see == "See 'stickler rules diff 2024-03-08 2025-07-04'."
    assert err.splitlines()[0] == f"Reading {publisher.page} ..."
    row = result("rules", "latest", "--page", publisher.page)
    assert (row["status"], row["edition"], row["counts"]) == ("loaded", "2025-07-04", None)


def test_latest_says_what_is_wrong_in_one_sentence(stickler, publisher):
    publisher.link("/rules.pdf")
    code, out, err = stickler("rules", "latest")
    assert (code, out) == (1, "")
    assert "has no link to the rules as plain text" in err.splitlines()[-1]


def test_add_puts_what_it_noticed_on_standard_error(stickler, releases):
    code, out, err = stickler("rules", "add", str(releases / "2009-10-01.txt"))
    assert code == 0
    assert "1599 rules, 195 examples" in out
    assert any(line.startswith("Note: ") and "702.30d" in line for line in err.splitlines())
    assert "Note" not in out
