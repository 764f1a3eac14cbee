"""Each stage of search by itself, over a book of six rules with vectors made by hand."""

import faiss
import numpy as np
import pytest

from index.bm25 import Bm25, stems
from index.editions import Rulebook
from index.hits import Hit, SearchResult
from index.passages import passages
from index.rulebook import Example, GlossaryEntry, ParsedDocument, Rule
from index.stages import Candidates, Query, ScoreWeights, ViewSearch, rerank
from index.store import View

EDITION = "2024-03-08"
WEIGHTS = ScoreWeights(dense=1.0, bm25=0.5, heading=10.0, around=0.25, example=-2.0, reference=0.1)
RULES = (
    Rule("702.9", "Flying", EDITION, "text"),
    Rule("702.9a", "Flying is an evasion ability.", EDITION, "text"),
    Rule("702.9b", "It can’t be blocked. See rule 702.17b.", EDITION, "text"),
    Rule("702.17", "Reach", EDITION, "text"),
    Rule("702.17a", "Reach is a static ability.", EDITION, "text"),
    Rule(
        "702.17b", "It can block a flyer.", EDITION, "text", examples=(Example("A spider blocks."),)
    ),
)


@pytest.fixture(scope="module")
def view():
    """Five passages: row 0 is 702.9a, 1 702.9b, 2 702.17a, 3 702.17b and 4 its example."""
    book = Rulebook([ParsedDocument("text", EDITION, RULES, {})]).current
    embedded = [passage for passage in passages(book) if passage.embedded]
    vectors = faiss.IndexFlatIP(5)
    vectors.add(np.eye(5, dtype="float32"))
    return View(book, embedded, vectors, Bm25.build([passage.embedded for passage in embedded]))


@pytest.fixture(scope="module")
def stages(view):
    return ViewSearch(view, WEIGHTS)


def query(text="", vector=(0, 0, 0, 0, 0), headings=(), masked=(), names_format=False):
    floats = np.array(vector, dtype="float32")
    return Query(text, stems(text), set(headings), names_format, floats, frozenset(masked))


def candidates(rows, dense, bm25=None):
    zeros = [0.0] * len(rows)
    return Candidates(rows, *(np.array(each, "float32") for each in (zeros, dense, bm25 or zeros)))


def scores(scored):
    return {one.passage.number: pytest.approx(one.score, abs=1e-5) for one in scored}


# Candidates: rows that FAISS or BM25 finds, scored by both.


def test_candidates_carry_the_cosine_and_both_z_scores(stages):
    found = stages.candidates(query("the spider", (0, 0.6, 0, 0.8, 0)), 10)
    assert sorted(found.rows) == [0, 1, 2, 3, 4]
    by_row = dict(zip(found.rows, found.similarity.tolist(), strict=True))
    assert by_row == {row: pytest.approx(c) for row, c in enumerate([0, 0.6, 0, 0.8, 0])}
    assert found.rows[found.dense.argmax()] == 3
    assert found.rows[found.bm25.argmax()] == 4
    for each in (found.dense, found.bm25):
        assert each.mean() == pytest.approx(0, abs=1e-5)
        assert each.std() == pytest.approx(1, abs=1e-5)


def test_a_question_without_a_known_word_has_candidates_by_its_vector_alone(stages):
    found = stages.candidates(query("zebra", (0, 0, 1, 0, 0)), 10)
    assert found.rows[0] == 2
    assert found.bm25.tolist() == [0] * 5


def test_a_masked_passage_is_no_candidate(stages):
    found = stages.candidates(query("spider", (0, 0, 0, 0, 1), masked=[f"{EDITION}/702.17b#1"]), 10)
    assert sorted(found.rows) == [0, 1, 2, 3]


# Fuse: one score a rule.


def test_fusing_adds_the_weighted_scores_and_keeps_each_rules_best_passage(stages):
    best = stages.fuse(query(), candidates([3, 4, 0], [1.0, 5.0, 2.0], [4.0, 0.0, 1.0]))
    assert best == {
        "702.17b": (pytest.approx(3.0), 3),  # 1 + 0.5 * 4; its example has 5 - 2, no more
        "702.9a": (pytest.approx(2.5), 0),
    }


def test_an_example_speaks_for_its_rule_where_it_fits_better(stages):
    assert stages.fuse(query(), candidates([3, 4], [1.0, 6.0])) == {
        "702.17b": (pytest.approx(4.0), 4)
    }


def test_a_named_heading_lifts_the_rules_below_it(stages):
    best = stages.fuse(query(headings=["Reach"]), candidates([0, 2], [3.0, 1.0]))
    assert best == {"702.9a": (pytest.approx(3.0), 0), "702.17a": (pytest.approx(11.0), 2)}


def other_stages(rules, glossary=()):
    """The stages over another book, whose vectors do not matter."""
    book = Rulebook([ParsedDocument("text", EDITION, rules, {}, glossary=glossary)]).current
    embedded = [passage for passage in passages(book) if passage.embedded]
    vectors = faiss.IndexFlatIP(2)
    vectors.add(np.zeros((len(embedded), 2), dtype="float32"))
    texts = Bm25.build([passage.embedded for passage in embedded])
    return ViewSearch(
        View(book, embedded, vectors, texts), ScoreWeights(pointer=-3.0, other_format=-1.0)
    )


def test_a_glossary_entry_that_points_to_a_heading_goes_behind_the_rules():
    reach = GlossaryEntry("Reach", ("A keyword ability. See rule 702.17, “Reach.”",))
    spider = GlossaryEntry("Spider", ("It blocks flyers. See rule 702.17b.",))
    stages = other_stages(RULES, (reach, spider))
    best = stages.fuse(query(), candidates([3, 5, 6], [1.0, 2.0, 2.0]))
    assert best == {
        "702.17b": (pytest.approx(2.0), 6),  # an entry that points to a rule speaks for it
        "702.17": (pytest.approx(-1.0), 5),
    }


def test_rules_of_other_formats_count_less_unless_the_question_speaks_of_one():
    giant = Rule("810.8a", "A team’s creatures attack together.", EDITION, "text")
    stages = other_stages((RULES[1], giant))
    either = candidates([0, 1], [2.0, 2.0])
    assert stages.fuse(query(), either) == {
        "702.9a": (pytest.approx(2.0), 0),
        "810.8a": (pytest.approx(1.0), 1),
    }
    assert stages.fuse(query(names_format=True), either)["810.8a"][0] == pytest.approx(2.0)


# Boost: what the surroundings and references of a rule add.


def test_a_rule_gains_a_share_of_the_best_of_its_group(stages):
    of = candidates([0, 2, 3], [1.0, 4.0, 2.0])
    scored = stages.boost(
        query(), of, {"702.9a": (1.0, 0), "702.17a": (4.0, 2), "702.17b": (2, 3)}, 9
    )
    assert scores(scored) == {"702.17a": 5.0, "702.17b": 3.0, "702.9a": 1.25}
    assert [one.passage.number for one in scored] == ["702.17a", "702.17b", "702.9a"]
    assert {one.via for one in scored} == {("dense", "lexical")}


def test_a_rule_gains_from_a_good_one_that_refers_to_it_unless_that_is_masked(stages):
    of, best = candidates([1, 3], [8.0, 2.0]), {"702.9b": (8.0, 1), "702.17b": (2.0, 3)}
    scored = stages.boost(query(), of, best, 9)
    assert scores(scored) == {"702.9b": 10.0, "702.17b": 2.5 + 1.0}
    assert "reference" in scored[1].via
    hidden = stages.boost(query(masked=[f"{EDITION}/702.9b"]), of, best, 9)
    assert scores(hidden) == {"702.9b": 10.0, "702.17b": 2.5}
    assert "reference" not in hidden[1].via


# Look-up: rules whose numbers stand in the question.


def test_a_number_is_looked_up_with_what_is_below_it(stages):
    found = stages.look_up(query("and what does 702.9 say?"), 10)
    assert [one.passage.number for one in found] == ["702.9", "702.9a", "702.9b"]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert {one.via for one in found} == {("number",)}
    assert [one.passage.number for one in stages.look_up(query("702.9"), 1)] == ["702.9", "702.9a"]


def test_a_masked_or_missing_number_is_not_looked_up(stages):
    assert stages.look_up(query("999.9 and 702.9b", masked=[f"{EDITION}/702.9b"]), 10) == []


# Rerank: the first hits once more, by another score.


def result(view, *found):
    """Hits of (row, score, via), in this order."""
    hits = [
        Hit(view.passages[row], rank, score, (via,))
        for rank, (row, score, via) in enumerate(found, 1)
    ]
    return SearchResult(hits, None)


def test_reranking_adds_what_lies_above_or_below_the_mean(view):
    before = result(view, (0, 3.0, "dense"), (1, 2.9, "dense"), (2, 1.0, "dense"))
    after = rerank(before, {"702.9a": 0.1, "702.9b": 0.4, "702.17a": 0.1}, weight=2.0)
    assert [(h.passage.number, h.rank, h.score) for h in after.hits] == [
        ("702.9b", 1, 3.3),
        ("702.9a", 2, 2.8),
        ("702.17a", 3, 0.8),
    ]


def test_reranking_keeps_numbers_in_front_and_the_rest_behind(view):
    before = result(view, (3, 100.0, "number"), (0, 3.0, "dense"), (1, 2.0, "dense"), (2, 1.9, "d"))
    after = rerank(before, {"702.9a": 0.0, "702.9b": 1.0}, weight=4.0)
    assert [h.passage.number for h in after.hits] == ["702.17b", "702.9b", "702.9a", "702.17a"]
    assert [h.score for h in after.hits] == [100.0, 4.0, 1.0, 1.0]  # none behind scores more


def test_reranking_without_scores_changes_nothing(view):
    before = result(view, (0, 3.0, "dense"), (1, 2.0, "dense"))
    assert rerank(before, {}, weight=4.0) == before
