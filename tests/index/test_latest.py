"""The newest rules are found on the publisher's page and added, or one sentence says why not."""

import pytest
from refusals import on_disk

from index import latest, library
from index.errors import SticklerError

NAME = "MagicCompRules 20250704.txt"
TEXT = "/2026/downloads/MagicCompRules%2020250704.txt"


def refusal(home):
    """The sentence that getting the newest rules ends with; nothing may have changed."""
    before = on_disk(home)
    with pytest.raises(SticklerError) as refused:
        latest.get()
    assert on_disk(home) == before
    sentence = str(refused.value)
    assert sentence.endswith(".")
    return sentence


@pytest.fixture
def july(publisher, small_release):
    """A publisher whose newest rules are of July 2025."""
    publisher.publish(NAME, small_release("July 4, 2025"))
    return publisher


def test_the_newest_rules_are_fetched_added_and_compared(july):
    told = []
    found = latest.get(tell=told.append)
    assert (found.status, found.edition, found.newest) == ("added", "2025-07-04", "2024-03-08")
    assert found.sentence == "Added the edition 2025-07-04: 8 rules."
    assert (found.diff.old, found.diff.new) == ("2024-03-08", "2025-07-04")
    assert "Only excerpts of the edition 2024-03-08 are loaded" in found.diff.notes[0]
    assert july.asked == ["/en/rules", TEXT]
    assert [step.split()[0] for step in told] == ["Reading", "Fetching", "Adding"]
    assert library.load().current.rule("702.2a").edition == "2025-07-04"
    assert library.documents()[-1].source == july.address + TEXT


def test_what_is_new_is_told_from_the_newest_whole_edition(july, small_release):
    for day in ("July 4, 2023", "July 4, 2022"):
        library.add_text(small_release(day).replace("100.2 To play", "100.2 To win").encode(), day)
    found = latest.get()
    assert (found.diff.old, found.diff.notes) == ("2023-07-04", ())
    assert found.diff.counts == {"added": 0, "removed": 0, "renumbered": 0, "reworded": 1}


def test_where_the_newest_is_loaded_only_the_page_is_fetched(july):
    latest.get()
    july.asked.clear()
    found = latest.get()
    assert found.status == "loaded"
    assert "The newest edition, 2025-07-04, is already loaded" in found.sentence
    assert july.asked == ["/en/rules"]


def test_a_text_whose_name_has_another_day_is_fetched_once(publisher, small_release):
    publisher.publish(NAME, small_release("July 11, 2025"))
    assert latest.get().edition == "2025-07-11"
    publisher.asked.clear()
    assert (latest.get().status, publisher.asked) == ("loaded", ["/en/rules"])


def test_excerpts_of_the_same_edition_do_not_keep_the_whole_from_being_added(
    publisher, small_release
):
    publisher.publish("MagicCompRules 20240308.txt", small_release("March 8, 2024"))
    found = latest.get()
    assert (found.status, found.edition) == ("added", "2024-03-08")
    assert library.load().edition("2024-03-08").is_whole


def test_an_older_edition_is_not_added(publisher, small_release):
    publisher.publish("MagicCompRules 20230101.txt", small_release("January 1, 2023"))
    found = latest.get()
    assert found.status == "older"
    assert found.sentence == (
        "The rules page offers the edition 2023-01-01, which is older than 2024-03-08, the newest "
        "that is loaded: nothing was added."
    )
    assert publisher.asked == ["/en/rules"]
    assert all(document.added is None for document in library.documents())


def test_a_text_that_turns_out_to_be_older_is_not_added(publisher, small_release):
    publisher.publish(NAME, small_release("January 1, 2023"))
    assert latest.get().status == "older"
    assert all(document.added is None for document in library.documents())


@pytest.mark.parametrize(
    "target",
    [
        "/2026/downloads/MagicCompRules 20250704.txt",
        "../2026/downloads/MagicCompRules%2020250704.txt?from=page#top",
        "  /2026/downloads/MagicCompRules%2020250704.txt\n",
    ],
)
def test_an_address_with_spaces_or_from_the_page_on_is_followed(target, july):
    july.link(target)
    july.files[TEXT + "?from=page"] = july.files[TEXT]
    assert latest.get().status == "added"


def test_of_two_links_the_newest_day_is_taken(july):
    july.link("/MagicCompRules%2020240101.txt", TEXT, "/MagicCompRules.txt", "/license.txt")
    assert latest.get().edition == "2025-07-04"


def test_a_single_link_needs_no_day(july):
    july.files["/rules.txt"] = july.files[TEXT]
    july.link("/rules.txt", "/rules.txt", "/robots.txt")
    assert latest.get().edition == "2025-07-04"


def test_two_links_without_a_day_are_not_guessed_among(july, home):
    july.link("/MagicRules-a.txt", "/MagicRules-99999999.txt")
    sentence = refusal(home)
    assert "links to 2 plain texts without a date in their names" in sentence
    assert sentence.endswith("save the plain text with a browser and add that.")


@pytest.mark.parametrize("targets", [(), ("/rules.pdf", "/rules.txt.zip")])
def test_a_page_without_the_link_is_one_sentence(targets, publisher, home):
    publisher.link(*targets)
    assert "has no link to the rules as plain text: check the address" in refusal(home)


def test_a_page_that_is_not_there_is_one_sentence(publisher, home):
    assert "Could not fetch" in (sentence := refusal(home))
    assert "404" in sentence


def test_a_page_that_is_too_large_is_not_read(july, home, monkeypatch):
    monkeypatch.setattr(latest, "_LARGEST_PAGE", 300)
    assert "far more than a rules page" in refusal(home)
    assert july.asked == ["/en/rules"]


def test_no_network_is_one_sentence(monkeypatch, home):
    monkeypatch.setenv("STICKLER_RULES_PAGE", "http://127.0.0.1:1/en/rules")
    sentence = refusal(home)
    assert "Could not fetch http://127.0.0.1:1/en/rules (Connection refused)" in sentence
    assert "check the address and your connection" in sentence


def test_a_web_page_instead_of_the_text_is_one_sentence(july, home):
    july.files[TEXT] = july.files["/en/rules"]
    assert f"{NAME} is a web page, not a rulebook in plain text" in refusal(home)


def test_a_text_that_comes_in_part_is_one_sentence(july, home):
    july.missing_bytes = 10
    assert "bytes arrived" in refusal(home)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_text_that_was_cut_off_is_one_sentence(share, july, home):
    whole = july.files[TEXT]
    july.files[TEXT] = whole[: int(len(whole) * share)]
    assert NAME in refusal(home)


def test_the_page_can_be_named(july, monkeypatch):
    monkeypatch.setenv("STICKLER_RULES_PAGE", "http://127.0.0.1:1/en/rules")
    assert latest.get(july.page).status == "added"
    monkeypatch.delenv("STICKLER_RULES_PAGE")
    assert latest.rules_page() == latest.PAGE
