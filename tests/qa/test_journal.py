"""A journal keeps every whole record through any interruption, and nothing else."""

import pytest

from index.errors import Action, Remedy, SticklerError
from qa import journal as journals
from qa.journal import Journal

MADE_WITH = {"settings": "1", "model": "none", "input": "abc"}


def outcome(number, error=None):
    answer = None if error else {"text": f"answer “{number}”", "n": [number]}
    return {"question": f"question {number}?", "answer": answer, "error": error}


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".out.jsonl.journal"


def test_what_was_added_is_found_again(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1), outcome(2)])
    journal.add([outcome(3)])
    for number in (3, 1, 2):
        assert journal.find(f"question {number}?") == (outcome(number), False)
    assert journal.find("question 1?") == (outcome(1), True)
    assert journal.find("never asked?") == (None, False)


def test_a_key_is_claimed_once(path):
    journal = Journal(path, MADE_WITH)
    assert [journal.claim(q) for q in ("a?", "b?", "a?")] == [True, True, False]
    journal.add([{"question": "a?", "answer": {"text": "yes"}}])
    assert not journal.claim("a?")
    assert journal.find("b?") == (None, False)


def test_a_resumed_journal_has_the_records_but_for_those_that_failed(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1), outcome(2, "The server went away.")])
    journal.close()
    again = Journal(path, MADE_WITH)
    assert (again.kept, again.damaged) == (1, 0)
    assert not again.claim("question 1?")
    assert again.claim("question 2?")
    again.add([outcome(2)])
    assert again.find("question 2?") == (outcome(2), False)


def test_torn_anywhere_it_keeps_every_whole_record(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1), outcome(2)])
    journal.close()
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        again = Journal(path, MADE_WITH)
        assert again.kept == max(0, sum(end <= cut for end in ends) - 1), cut
        again.add([outcome(3)])
        assert again.find("question 3?") == (outcome(3), False)
        again.close()
        last = Journal(path, MADE_WITH)
        assert (last.kept, last.damaged) == (again.kept + 1, 0)
        last.close()


@pytest.mark.parametrize("tail", [bytes(4096), b'{"question": "x', b"\xff\xfe"])
def test_what_a_power_cut_leaves_behind_is_dropped(path, tail):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1)])
    journal.close()
    sound = path.read_bytes()
    path.write_bytes(sound + tail)
    Journal(path, MADE_WITH).close()
    assert path.read_bytes() == sound


def test_a_damaged_line_costs_its_own_record_only(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1), outcome(2), outcome(3)])
    journal.close()
    lines = path.read_bytes().split(b"\n")
    lines[2] = lines[2][:5] + b"\0\0\0" + lines[2][8:]
    path.write_bytes(b"\n".join(lines))
    again = Journal(path, MADE_WITH)
    assert (again.kept, again.damaged) == (2, 1)
    assert again.claim("question 2?")
    assert again.find("question 3?") == (outcome(3), False)


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("settings", "settings"),
        ("model", "model"),
        ("input", "questions"),
        ("embedder", "embedding model"),
        ("code", "version of Stickler"),
    ],
)
def test_a_journal_made_with_something_else_is_not_resumed(path, name, called):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1)])
    journal.close()
    with pytest.raises(SticklerError, match=rf"\({called}\)") as caught:
        Journal(path, {**MADE_WITH, name: "other"})
    assert Remedy(Action.RESTART) in caught.value.remedies
    restarted = Journal(path, {**MADE_WITH, name: "other"}, restart=True)
    assert restarted.kept == 0
    assert restarted.claim("question 1?")


def test_a_file_that_is_no_journal_is_left_alone(path):
    path.write_text("my notes\n")
    with pytest.raises(SticklerError, match="is not a journal"):
        Journal(path, MADE_WITH)
    assert path.read_text() == "my notes\n"


def test_it_is_deleted_when_it_is_no_longer_needed(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1)])
    journal.remove()
    assert not path.exists()


def test_a_key_may_have_several_fields(path):
    one, other = {"set": "dev", "id": "a", "n": 1}, {"set": "test", "id": "a", "n": 2}
    made_with = {"sets": ("dev", "test"), "items": {"dev": "1"}}
    journal = Journal(path, made_with, key=("set", "id"))
    journal.add([one, other])
    journal.close()
    again = Journal(path, made_with, key=("set", "id"))
    assert again.find("test", "a") == (other, False)
    assert not again.claim("dev", "a")
    assert again.claim("dev", "b")


def test_a_journal_is_read_without_changing_it(path):
    journal = Journal(path, MADE_WITH)
    journal.add([outcome(1), outcome(2)])
    journal.close()
    torn = path.read_bytes() + b'{"question": "x'
    path.write_bytes(torn)
    assert journals.read(path) == (MADE_WITH, [outcome(1), outcome(2)])
    assert path.read_bytes() == torn
