"""The language model's training: what it reads, that packing changes nothing, what is saved."""

import random

import pytest
import torch

from eval import items
from eval.training import loop, lora, packs
from eval.training.answers import AnswerReader
from eval.training.int8 import Int8Linear
from eval.training.packs import Pack
from index import numbers
from index.errors import SticklerError

TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def units(searcher):
    return packs.units(0, searcher, 150)


@pytest.fixture(scope="module")
def short(units):
    """The units with fewest words: the tiny model reads letter by letter."""
    return sorted(units, key=lambda unit: len(repr(unit)))[:2]


@pytest.fixture(scope="module")
def real(units):
    return list({unit.real for unit in units})


@pytest.fixture(params=[False, True], ids=["float32", "int8"])
def reader(short, request):
    """A tiny model whose weights are chance, with adapters on its second layer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain)
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(3)
    config = Qwen2Config(
        vocab_size=len(letters), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config).eval()
    lora.adapt(model, first_layer=1, int8=request.param)
    return AnswerReader(tokenizer, model, short)


def test_no_real_rule_is_one_that_something_measures(real):
    held_out = [*items.dev(), *items.test(), *items.calibration()]
    groups = {numbers.group(item.gold_rules[0]) for item in held_out}
    shown = {numbers.group(rule.number) for pack in real for rule in pack.rules}
    assert len(shown) > 50
    assert not shown & groups


def test_the_deciding_rule_is_shown_unless_the_pack_is_unsettled(real):
    unsettled = [pack for pack in real if not pack.settled]
    assert 0.05 < len(unsettled) / len(real) < 0.15
    for pack in real:
        shown = {rule.number for rule in pack.rules}
        assert all((question.rule in shown) == pack.settled for question in pack.questions)


def test_two_versions_ask_the_same_and_differ_in_rule_and_verdict(units):
    for a, b in (unit.versions for unit in units):
        assert [q.text for q in a.questions] == [q.text for q in b.questions]
        assert a.rules != b.rules
        assert {q.verdict for q in (*a.questions, *b.questions)} == {"yes", "no"}


def test_the_deciding_rule_stands_among_others_that_search_finds(real):
    several = [pack for pack in real if len(pack.rules) > 1 and pack.settled]
    places = {[rule.number for rule in p.rules].index(p.questions[0].rule) for p in several}
    assert len(several) > len(real) / 2
    assert places == {0, 1, 2}


def test_the_same_seed_gives_the_same_units(units, searcher):
    assert packs.fingerprint(packs.units(0, searcher, 30)) == packs.fingerprint(units[:30])
    assert packs.fingerprint(units[:30]) != packs.fingerprint(units[30:60])


def test_a_question_in_a_pack_is_read_as_if_it_were_alone(reader, units):
    pack = units[0].real
    [together, other], _ = reader.read([pack, units[1].real])
    alone = [reader.read([Pack(pack.rules, (each,))])[0][0].item() for each in pack.questions]
    assert together.tolist() == pytest.approx(alone, abs=1e-5)
    assert len({round(each, 5) for each in alone}) == len(alone)
    assert len(other) == len(units[1].real.questions)


def test_training_brings_the_loss_down_and_changes_the_adapters_alone(reader, tmp_path):
    rng = random.Random(0)
    weights = loop.trained_weights(reader)
    assert len(weights) == 2 * 7
    before = reader.loss([0], rng).item()
    loop.train(reader, 12, 0.02, 0, tmp_path, "key", lambda done, total: None)
    assert reader.loss([0], rng).item() < before - 0.03


def test_a_layer_in_8_bits_multiplies_like_the_one_that_it_is_made_of():
    torch.manual_seed(0)
    plain = torch.nn.Linear(256, 96)
    packed = Int8Linear(plain)
    inputs = torch.randn(2, 5, 256)
    inputs[..., 7] *= 300  # as models keep some columns
    gradients = []
    for layer in (plain, packed):
        tokens = inputs.clone().requires_grad_()
        given = layer(tokens)
        (given[..., :9] ** 2).sum().backward()
        gradients.append((given.detach(), tokens.grad))
    for exact, rounded in zip(*gradients, strict=True):
        assert (exact - rounded).norm() < 0.02 * exact.norm()


def test_an_adapter_names_its_base_and_its_tensors(reader, tmp_path):
    import gguf

    path = tmp_path / "adapter.gguf"
    lora.write(path, loop.trained_weights(reader), "abc")
    found = gguf.GGUFReader(path)
    assert found.get_field("general.base_model.0.digest").contents() == "abc"
    names = {tensor.name for tensor in found.tensors}
    assert len(names) == 14
    assert {"blk.1.attn_q.weight.lora_a", "blk.1.ffn_down.weight.lora_b"} < names


def test_training_goes_on_from_a_saved_adapter(reader, tmp_path):
    path = tmp_path / "adapter.gguf"
    weights = loop.trained_weights(reader)
    with torch.no_grad():
        for weight in weights.values():
            weight.copy_(torch.randn(weight.shape).half())
    lora.write(path, weights, "abc")
    trained = {name: weight.clone() for name, weight in weights.items()}
    with torch.no_grad():
        for weight in weights.values():
            weight.zero_()
    lora.restore(path, weights, "abc")
    assert all(torch.equal(weight, trained[name]) for name, weight in weights.items())
    with pytest.raises(SticklerError, match="for another model"):
        lora.restore(path, weights, "another")


def test_without_its_packages_tuning_says_how_to_install_them(tmp_path, monkeypatch):
    monkeypatch.setattr(lora, "find_spec", lambda name: None)
    with pytest.raises(SticklerError, match=r"needs accelerate and gguf, .*stickler\[tune\]"):
        lora.load(tmp_path / "model.gguf")
