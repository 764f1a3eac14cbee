"""How sure search can be of what it found."""

import pytest

from qa.confidence import confidence
from qa.out_of_scope import Neighbour

OFF_TOPIC = "Who won the football World Cup in 1998?"
ELSEWHERE = Neighbour(None, 0.5)


@pytest.fixture(scope="module")
def result(searcher):
    [found] = searcher.search([OFF_TOPIC])
    return found


def test_excerpts_and_whole_releases_weigh_what_search_found_each_in_its_way(result):
    excerpts, whole = (
        confidence(result.hits, result.features, ELSEWHERE, whole) for whole in (False, True)
    )
    assert excerpts != whole


def test_a_nearer_question_that_no_rule_settles_makes_it_less_sure(result):
    far, near = Neighbour(None, 0.2), Neighbour(None, 0.9)
    for whole in (False, True):
        less = confidence(result.hits, result.features, near, whole)
        assert less.answerable < confidence(result.hits, result.features, far, whole).answerable
