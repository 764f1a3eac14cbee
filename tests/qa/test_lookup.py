import pytest

from qa import lookup


@pytest.mark.parametrize(
    ("question", "first"),
    [("what is trample?", "702.19a"), ("702.19b", "702.19b"), ("what does rule 506 say?", "506.4b"),
     ("explain keyword abilities", "702.1"), ("cleanup step", "514.1")],
)  # fmt: skip
def test_a_number_or_a_name_is_answered_from_the_book(question, first, book):
    assert lookup.rules(question, book.current)[0].number == first


@pytest.mark.parametrize(
    "question",
    ["what is the combat phase?", "what is the turn structure?", "what is timing and priority?"],
)
def test_a_section_without_its_beginning_and_a_chapter_are_left_to_search(question, book):
    assert lookup.rules(question, book.current) == []
