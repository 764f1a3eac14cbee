"""The network that reads a question and a rule together."""

import pytest
import torch

from index.embed import PLAIN, Embedder
from index.pairs import LONGEST, Pair, Reader


@pytest.fixture(scope="module")
def reader():
    return Reader(Embedder(PLAIN).folder).eval()


def test_a_pair_is_read_alike_whatever_is_read_beside_it(reader):
    texts = [f"A creature. {'It attacks each combat if able. ' * at}" for at in range(20)]
    read = reader.apart(texts)
    pairs = [Pair(read[0], rule) for rule in read]
    with torch.no_grad():
        among, alone = reader(pairs), reader(pairs[4:5])
    assert torch.allclose(among[4], alone[0], atol=1e-4)


def test_question_and_rule_are_told_apart(reader):
    one, other = reader.apart(["can it block?", "Reach: It can block creatures with flying."])
    with torch.no_grad():
        reader.sides[0] += 0.5
        either = reader([Pair(one, other), Pair(other, one)])
        reader.sides[0] -= 0.5
    assert not torch.allclose(either[0], either[1], atol=1e-3)


def test_a_text_of_any_length_is_read(reader):
    read = reader.apart(["", "a", "word " * 5000])
    assert [len(each) for each in read] == [2, 3, LONGEST]
    with torch.no_grad():
        assert torch.isfinite(reader([Pair(a, b) for a in read for b in read])).all()


def test_only_what_reads_both_together_is_trained(reader):
    trained = {name.split(".")[0] for name, each in reader.named_parameters() if each.requires_grad}
    assert trained == {"upper", "sides", "sharpness", "head"}
