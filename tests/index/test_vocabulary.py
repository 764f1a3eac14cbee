"""Table talk becomes the rules' words, and headings are found in a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.bm25 import stems
from index.errors import SticklerError
from index.vocabulary import Headings, Vocabulary, names_format

HEADINGS = ["Trample", "Flying", "First Strike", "Deathtouch", "Lifelink", "Banding"]


@pytest.fixture
def vocabulary(home):
    return Vocabulary(HEADINGS)


@pytest.mark.parametrize(
    ("talk", "rules"),
    [
        ("my trampler", "trample"),
        ("two flyers", "flying"),
        ("a first-striker", "first strike"),
        ("both first strikers", "first strike"),
        ("the deathtoucher", "deathtouch"),
        ("his lifelinkers", "lifelink"),
        ("I swing", "attack"),
        ("she swings", "attack"),
        ("swinging now", "attack"),
        ("chump", "block"),
        ("chumped", "block"),
        ("bounced it", "owner's hand"),
        ("sac it", "sacrifice"),
        ("saccing it", "sacrifice"),
        ("ETB", "enters the battlefield"),
        ("pumped", "+1/+1"),
        ("milled", "graveyard"),
    ],
)
def test_table_talk_becomes_the_rules_words(vocabulary, talk, rules):
    assert rules in vocabulary.translate(talk)


@pytest.mark.parametrize("plain", ["swinging-door", "a boardroom", "sacred", "indeed", "hitch"])
def test_words_that_only_look_like_talk_stay(vocabulary, plain):
    assert vocabulary.translate(plain) == plain


def test_people_can_add_words_of_their_own(home):
    home.mkdir()
    (home / "vocabulary.toml").write_text('[talk]\nyeet = "exile"\n', encoding="utf-8")
    assert Vocabulary(HEADINGS).translate("he yeets it") == "he exile it"


@pytest.mark.parametrize("content", ["yeet = exile", "", "[talk]\n[talk]\n", "talk = 3"])
def test_a_vocabulary_that_cannot_be_read_says_what_to_write(home, content):
    home.mkdir()
    (home / "vocabulary.toml").write_text(content, encoding="utf-8")
    with pytest.raises(SticklerError, match=r"below a line \[talk\]"):
        Vocabulary(HEADINGS)


def test_any_text_can_be_translated_and_stemmed(home):
    vocabulary = Vocabulary(HEADINGS)

    @given(st.text(max_size=300))
    def translated(text):
        assert isinstance(stems(vocabulary.translate(text)), list)

    translated()


def test_a_heading_is_named_by_its_words_in_a_row():
    headings = Headings(HEADINGS)
    assert headings.named(stems("does first strike beat trampling damage")) >= {"First Strike"}
    assert headings.named(stems("who strikes first, the trample one?")) == {"Trample"}
    assert headings.named(stems("nothing of the sort")) == set()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("In Two-Headed Giant, can I block for my partner?", True),
        ("Does my commander cost more each time?", True),
        ("Can I attack someone in a three-player game?", True),
        ("Can two creatures block my one attacker?", False),
        ("Does the player lose life?", False),
    ],
)
def test_formats_are_known_by_their_words(question, named):
    assert names_format(question) is named
