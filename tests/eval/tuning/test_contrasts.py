import random
import re

import pytest

from eval import items
from eval.tuning import data
from eval.tuning.contrasts import Contrasts

BLANK = re.compile(r"\{(?:[a-z]\w*|Name|NAME)\}")


@pytest.fixture(scope="module")
def families():
    known = data.load(more=True)
    return Contrasts(known).all(random.Random(0))


def test_most_rules_are_read_in_two_versions_that_differ(families):
    pairs = [family for family in families if len(family) == 2]
    assert len(pairs) > 0.6 * len(families)
    assert all(one.text != other.text for one, other in pairs)


def test_yes_and_no_are_balanced_so_that_a_question_alone_tells_nothing(families):
    pairs = [family for family in families if len(family) == 2]
    said = [yes for family in pairs for told in family for _, yes in told.asked]
    assert abs(sum(said) / len(said) - 0.5) < 0.02
    both = [(dict(one.asked), dict(other.asked)) for one, other in pairs]
    turned = [one[q] != other[q] for one, other in both for q in one if q in other]
    assert sum(turned) > 0.7 * len(turned)


def test_no_blank_is_left_open(families):
    texts = {
        text for family in families for told in family for text in (told.text, told.asked[0][0])
    }
    assert len(texts) > 10_000
    assert not [text for text in texts if BLANK.search(text)]


def test_every_question_of_a_schema_has_a_verdict_under_every_version():
    schemas = items.schemas()
    assert len({schema["id"] for schema in schemas}) == len(schemas)
    for schema in schemas:
        versions = set(schema["texts"])
        assert len(versions) > 1
        assert all(set(ask) == versions | {"q"} for ask in schema["asks"])
        assert all(ask[v] in ("yes", "no") for ask in schema["asks"] for v in versions)


def test_an_epoch_is_the_same_for_the_same_chance():
    contrasts = Contrasts(data.load(60))
    assert contrasts.all(random.Random(4)) == contrasts.all(random.Random(4))
    assert contrasts.all(random.Random(4)) != contrasts.all(random.Random(5))
