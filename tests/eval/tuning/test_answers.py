"""The adapter of the language model: what it is shown, what it learns, where it belongs."""

import json
import random

import pytest
import torch

from eval import items
from eval.tuning import data, loop
from eval.tuning.answers import Answers, families, wanted
from eval.tuning.data import Data
from index import files, numbers, tuned
from index.embed import Embedder
from qa.answer import Assistant
from qa.compose import ABSTAINED
from qa.models import embedded, load
from qa.settings import Settings

FROZEN = 10
WRITTEN, ALSO = "508.8", "508.1f"  # short rules that practice questions and pairs are about


@pytest.fixture(scope="module")
def prepared(built_home):
    """A data folder with index and language model; tests only read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(built_home))
        embedded.folder()
    return built_home


@pytest.fixture(autouse=True)
def at_home(prepared, home):
    """Each test in a folder of its own, with what takes long already in it."""
    home.mkdir(parents=True)
    for name in ("models", "index", "cache"):
        if (prepared / name).exists():
            (home / name).symlink_to(prepared / name)


@pytest.fixture(scope="module")
def few():
    """Two families, and the rules around them."""
    known = data.load(more=True)
    chosen = []
    for rule in (WRITTEN, ALSO):
        chosen += [q for q in known.questions if q.rules[0] == rule and q.answer and q.verdict][:2]
    groups = {known.rules[rule].group for rule in (WRITTEN, ALSO, "508.4", "508.6")}
    rules = {number: text for number, text in known.rules.items() if text.group in groups}
    return Data(chosen, rules)


def made(few):
    return Answers(few, FROZEN, Embedder())


def train(task, folder, progress=lambda done, total: None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_KEPT", 2)
        loop.train(task, 2, 1e-3, 0, folder, "key", progress)


def losses(task):
    with torch.no_grad():
        return [task.loss([place], random.Random(1)).item() for place in range(len(task.families))]


@pytest.fixture(scope="module")
def taught(few, prepared, tmp_path_factory):
    """A task that was trained to the end, and its losses before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(prepared))
        task = made(few)
        before = losses(task)
        train(task, tmp_path_factory.mktemp("whole"))
    return task, before


@pytest.fixture(scope="module")
def task(taught):
    return taught[0]


@pytest.fixture(scope="module")
def kept(task, tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "answers.safetensors"
    tuned.write(path, embedded.packaged(), loop.weights(task))
    return path


@pytest.fixture(scope="module")
def model(kept, prepared):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STICKLER_HOME", str(prepared))
        return load(str(kept))


def test_training_brings_the_loss_down(taught):
    task, before = taught
    assert sum(losses(task)) < 0.9 * sum(before)


def test_a_killed_training_ends_bit_for_bit_as_if_it_had_not_been(few, task, tmp_path):
    def kill(done, total):
        if done == 3:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        train(made(few), tmp_path, kill)
    resumed = made(few)
    train(resumed, tmp_path, lambda done, total: seen.append(done))
    assert seen[0] == 2  # the last checkpoint before the kill
    whole = loop.weights(task)
    assert all(torch.equal(each, whole[name]) for name, each in loop.weights(resumed).items())


def test_merged_weights_give_the_logits_of_the_adapter_beside_them(task, model, kept):
    [prompt, *_], _ = task.prompts(task.families[0], task.near[0], random.Random(0))
    ids = torch.tensor([task.ids(prompt)])
    exact = {name: each.clone() for name, each in loop.weights(task).items()}
    with torch.no_grad():
        try:
            for each in loop.weights(task).values():
                each.copy_(each.half())  # as it is kept
            beside = task.model(ids).logits
            for name, each in loop.weights(task).items():
                each.copy_(torch.zeros_like(each) if ".up." in name else each)
            untaught = task.model(ids).logits
        finally:
            for name, each in loop.weights(task).items():
                each.copy_(exact[name])
        merged = model._model(ids).logits
    assert torch.allclose(beside, merged, atol=2e-3)
    assert not torch.allclose(untaught, merged, atol=0.2)
    assert model.hash == files.digest(kept)[:16]


def test_an_adapter_is_small_and_only_above_the_frozen_layers(task, kept):
    assert kept.stat().st_size < 10 << 20
    layers = {int(name.split(".")[2]) for name in loop.weights(task)}
    assert layers == set(range(FROZEN, len(task.model.model.layers)))
    assert len(loop.weights(task)) == len(layers) * 7 * 2


def test_what_lies_below_the_adapters_costs_no_gradients(task):
    needed = []
    layers = task.model.model.layers
    watches = [
        layers[place].register_forward_hook(lambda _, x, y: needed.append(y.requires_grad))
        for place in (FROZEN - 1, FROZEN)
    ]
    task.loss([0], random.Random(0))
    for watch in watches:
        watch.remove()
    assert set(needed[0::2]) == {False}
    assert set(needed[1::2]) == {True}


def test_rules_read_once_for_a_family_give_what_each_prompt_alone_gives(task):
    told = [task.ids(p) for p in task.prompts(task.families[0], task.near[0], random.Random(0))[0]]
    said = [[10, 20, 30], [40, 50]]
    with torch.no_grad():
        together = task.read(told, said)
        alone = [
            task.model.model(torch.tensor([[*one, *then[:-1]]]))[0][0, len(one) - 1 :]
            for one, then in zip(told, said, strict=True)
        ]
    assert torch.allclose(together, torch.cat(alone), atol=1e-3)


def test_the_prompt_is_the_one_that_the_product_gives(task, model, book):
    family = task.families[0]
    near = task.near[0][:1]
    prompts, settled = task.prompts(family, near, random.Random(0))
    assert settled
    rules = [book.current.by_number[number] for number in (family.questions[0].rules[0], *near)]
    assistant = Assistant(Settings(), model=model)
    for question, prompt in zip(family.questions, prompts, strict=True):
        either = [
            assistant._prompt(question.text, order, model)[0] for order in (rules, rules[::-1])
        ]
        assert prompt in either
        assert task.ids(prompt) == model._inputs([prompt])["input_ids"][0].tolist()


def test_one_family_in_ten_is_shown_no_rule_that_decides_and_learns_to_say_so(task):
    family = task.families[0]
    deciding = task.rules[family.questions[0].rules[0]].text
    told = [task.prompts(family, task.near[0], random.Random(seed)) for seed in range(300)]
    assert 15 < sum(not settled for _, settled in told) < 50
    assert all((deciding in prompts[0].user) == settled for prompts, settled in told)
    assert {wanted(question, False) for question in family.questions} == {ABSTAINED}
    assert wanted(family.questions[0], True) == family.questions[0].answer


def test_every_written_answer_is_used_and_nothing_else():
    known = data.load(more=True).questions
    used = [(q, family) for family in families(known) for q in family.questions]
    assert sorted(q.text for q, _ in used) == sorted(q.text for q in known if q.answer)
    assert len(used) < len(known)  # stories and open questions without an answer
    assert all(q.rules[0] == family.questions[0].rules[0] for q, family in used)


def test_pairs_that_a_small_change_turns_around_stay_together():
    home = {
        q.text: at
        for at, f in enumerate(families(data.load(more=True).questions))
        for q in f.questions
    }
    pairs = [i for i in items.pairs(more=True) if i.gold_verdict and i.question in home]
    assert home[pairs[0].question] == home[pairs[1].question]
    found = families(data.load(more=True).questions)
    even = [f for f in found if {q.verdict for q in f.questions} >= {"yes", "no"}]
    assert len(even) > 0.8 * len(found)


def test_no_question_about_a_group_that_measures_is_used():
    groups = {numbers.group(item.gold_rules[0]) for item in items.players()}
    used = {
        q.rules[0] for family in families(data.load(more=True).questions) for q in family.questions
    }
    assert not groups & {numbers.group(rule) for rule in used if numbers.is_number(rule)}


def test_an_epoch_holds_every_family_once(task):
    batches = task.batches(random.Random(0))
    assert sorted(batches) == [[0], [1]]


def test_the_command_tunes_measures_and_keeps_what_can_be_asked(stickler, tmp_path):
    code, out, err = stickler("tune", "answers", "--limit", "5", "-o", str(tmp_path))
    assert code == 0, err
    path = tmp_path / "answers.safetensors"
    assert str(path) in out
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["base"] == tuned.fingerprint(embedded.packaged())
    assert set(card["before"]) == set(card["after"])
    assert {"verdict, rules as found", "verdict, deciding rule given"} < set(card["after"])
    assert Settings(model=str(path)).speaks
