"""The line on model and rules: its words in every state, and what of them is seen and heard."""

import re
import threading
from concurrent.futures import Future
from html import unescape

import pytest
from texts import HOSTILE

from index.editions import CURRENT, Rulebook
from index.errors import Action, Remedy, SticklerError
from index.rulebook import ParsedDocument, Rule
from page import status
from page.service import Service
from page.status import State, model_state, render_status, rules_state
from qa import models
from qa.models import catalog, download
from qa.resources import SHUTDOWN, Resources
from qa.settings import Settings

MB = 1_000_000
READY = State("ready", ready=True)
NOT_HERE = SticklerError("The model x is not here", Remedy(Action.CHOOSE_NO_MODEL), "or so")


def finished(result=None, error=None):
    future = Future()
    if error:
        future.set_exception(error)
    else:
        future.set_result(result)
    return future


def model(future, fetched=(0, 0), name=models.DEFAULT):
    return model_state(name, future, fetched).message


def rules(searcher, edition=CURRENT, offered=""):
    return rules_state(finished(searcher), (0, 0), edition, offered).message


def seen(shown):
    """What stands there for eyes."""
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r'<span class="unseen">.*?</span>', "", shown)))


def heard(shown):
    """What a screen reader says."""
    return seen(re.sub(r'<span aria-hidden="true">.*?</span>', "", shown).replace("unseen", ""))


class Loaded:
    """A search with one whole edition."""

    rule = Rule("100.1", "These rules apply to any game.", "2025-07-04", "made up")
    rulebook = Rulebook([ParsedDocument("made up", "2025-07-04", (rule,), {"100": "General"})])


def test_every_state_of_a_model_has_its_words():
    assert model(None, name=models.NONE) == "none, only rules are quoted"
    assert model(None) == "not downloaded yet; your next question will start it"
    assert model(None, name="mine.gguf") == "not loaded yet; your next question will start it"
    assert model(Future()) == "loading"
    assert model(Future(), (340 * MB, 1117 * MB)) == "downloading, 340 of 1,117 MB"
    assert model(Future(), (1117 * MB, 1117 * MB)) == "loading"  # it is verified now
    assert model(finished()) == "ready"
    failed = "failed. The model x is not here: choose 'none' in the settings"
    assert model(finished(error=NOT_HERE)) == failed
    own = "failed. Stickler failed (KeyError): see the server's terminal"
    assert model(finished(error=KeyError("secret"))) == own


def test_every_state_of_the_rules_has_its_words(searcher):
    building = rules_state(Future(), (1200, 3000), CURRENT, "")
    assert building.message == "building the index, 1,200 of 3,000 passages"
    assert rules_state(Future(), (0, 0), CURRENT, "").message == "loading"
    damaged = SticklerError("The index is damaged", Remedy(Action.BUILD_INDEX))
    failed = rules_state(finished(error=damaged), (0, 0), CURRENT, "")
    assert failed.message.startswith("failed. The index is damaged: run 'stickler index build'")
    assert failed.failed
    assert rules(searcher) == "excerpts of 2024-03-08 only"
    assert rules(searcher, "2009-10-01") == "excerpts of 2009-10-01 only"
    assert rules(Loaded) == "full release of 2025-07-04"


def test_newer_rules_are_named_only_where_they_are_newer(searcher):
    newer = ". Newer rules (2025-07-04) are available: get them in the Rules tab"
    assert rules(searcher, offered="2025-07-04") == f"excerpts of 2024-03-08 only{newer}"
    assert rules(searcher, offered="2024-03-08") == "excerpts of 2024-03-08 only"
    assert rules(Loaded, offered="2025-07-04") == "full release of 2025-07-04"


def test_rules_that_were_found_but_not_fetched_are_known_once_someone_asked(service, publisher):
    publisher.link(f"{publisher.address}/MagicCompRules%2020250704.txt")  # which is not there
    assert "Newer" not in service.rules_state().message
    assert publisher.asked == []
    with pytest.raises(SticklerError):
        service.get_latest(lambda step: None, lambda done, total: None)
    assert "Newer rules (2025-07-04) are available" in service.rules_state().message


def test_a_download_is_told_as_it_runs_and_then_forgotten(searcher, monkeypatch):
    told, started = [], threading.Event()

    def get(known, progress, stop):
        assert started.wait(30)
        assert stop is SHUTDOWN
        told.append(service.model_state(known.name).message)
        progress(340 * MB, known.size)
        told.append(service.model_state(known.name).message)
        raise SticklerError("No connection", "try again, which resumes")

    monkeypatch.setattr(download, "get", get)
    resources = Resources(searcher=searcher, load_model=lambda name: service._fetch_and_load(name))
    service = Service(Settings(), resources=resources)
    service.start()
    started.set()
    loading = resources.find_model(models.DEFAULT)
    assert loading.exception(30)
    assert told == ["downloading, 0 of 1,117 MB", "downloading, 340 of 1,117 MB"]
    state = service.model_state(models.DEFAULT)
    assert (state.message, state.failed) == (
        "failed. No connection: try again, which resumes",
        True,
    )


def test_the_line_is_one_live_region_that_is_there_from_the_start(searcher):
    shown = render_status(READY, rules_state(finished(searcher), (0, 0), CURRENT, ""))
    opening = '<div class="status" role="status" aria-live="polite">'
    assert f"{opening}</div>" == status.EMPTY
    assert shown.startswith(opening)
    assert seen(shown) == heard(shown) == "Model: ready. Rules: excerpts of 2024-03-08 only."


def test_bytes_are_seen_as_they_come_and_heard_at_every_tenth():
    def line(done):
        return render_status(model_state("x", Future(), (done * MB, 1000 * MB)), READY)

    assert seen(line(340)) == "Model: downloading, 340 of 1,000 MB. Rules: ready."
    assert heard(line(340)) == "Model: downloading, 30 percent. Rules: ready."
    assert len({seen(line(done)) for done in range(1000)}) == 1000
    assert len({heard(line(done)) for done in range(1000)}) == 10


@pytest.mark.parametrize(
    ("model", "rules", "lamp"),
    [
        (READY, READY, "lamp"),
        (State("loading"), READY, "lamp loading"),
        (READY, State("loading"), "lamp loading"),
        (State("loading"), State("failed", failed=True), "lamp failed"),
    ],
)
def test_the_lamp_tells_what_is_worst(model, rules, lamp):
    assert f'<i class="{lamp}">' in render_status(model, rules)


def test_hostile_words_and_figures_are_text():
    shown = render_status(State(HOSTILE, figures=HOSTILE), State(HOSTILE))
    assert "<img" not in shown


def test_a_model_that_is_not_of_the_catalogue_is_not_looked_for_on_the_disk(monkeypatch):
    def find(name):
        raise AssertionError(name)

    monkeypatch.setattr(catalog, "find", find)
    assert model(None, name="/etc") == "not loaded yet; your next question will start it"
