"""BM25 scores texts by the stems that they share with a question."""

from index.bm25 import Bm25, stems


def test_bm25_prefers_the_text_with_the_rarer_word(tmp_path):
    texts = ["the creature blocks", "the creature phases out", "creature creature creature", ""]
    built = Bm25.build(texts)
    built.save(tmp_path)
    for index in (built, Bm25.load(tmp_path)):
        scores = index.scores(stems("a phasing creature"))
        assert scores.argmax() == 1
        assert index.scores(stems("zebra")).tolist() == [0, 0, 0, 0]
        assert index.scores([]).tolist() == [0, 0, 0, 0]


def test_words_that_stand_together_as_in_the_question_score_higher(tmp_path):
    texts = ["first strike damage", "strike first damage", "first strike", "damage"]
    Bm25.build(texts).save(tmp_path)
    together, apart, *_ = Bm25.load(tmp_path).scores(stems("damage by first strike"))
    assert together > apart > 0


def test_a_rarer_stem_weighs_more_and_an_unknown_one_like_the_rarest():
    index = Bm25.build(["a creature blocks", "a creature phases out", "creatures attack"])
    common, rare, unknown = (index.weight(stem) for stem in ("creatur", "phase", "zebra"))
    assert 0 < common < rare == unknown
    assert (index.knows("creatur"), index.knows("zebra")) == (True, False)
