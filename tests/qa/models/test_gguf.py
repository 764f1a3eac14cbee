"""A GGUF file answers in this process, stops when it is told to, and fails in one sentence."""

import http.client
import shutil
import subprocess
import sys
import threading
import time

import pytest
from asking import LONG, PARIS, stopped

from index.errors import Action, Remedy, SticklerError
from qa.models import Prompt, load
from qa.models.gguf import Gguf, to_f16


def test_the_model_talks_sense(model):
    answers = model.generate([PARIS, PARIS._replace(system="")], 24)
    assert ["Paris" in answer for answer in answers] == [True, True]


def test_an_answer_does_not_hang_on_what_was_asked_before(model):
    """The fixed part is read once and put back: nothing else of another prompt stays."""
    other = PARIS._replace(user="What is the capital of Italy? Answer in one word.")
    first = model.generate([PARIS], 24)
    model.generate([other, PARIS._replace(system="Speak like a pirate."), other], 24)
    assert model.generate([PARIS], 24) == first


def test_a_cleared_temporary_folder_does_no_harm(model):
    first = model.generate([PARIS], 24)
    shutil.rmtree(model._kept.name)
    assert model.generate([PARIS], 24) == first


def test_a_stream_is_the_generated_answer_in_pieces(model):
    pieces = list(model.stream(PARIS, 24, threading.Event()))
    assert len(pieces) > 3
    assert "".join(pieces).strip() == model.generate([PARIS], 24)[0]


def test_an_answer_keeps_to_its_limit(model):
    assert 0 < len(list(model.stream(LONG, 5, threading.Event()))) <= 5


def test_stopping_ends_the_stream_at_once_and_the_work_soon(model, falls_idle):
    rest, seconds = stopped(model)
    assert rest == []
    assert seconds < 0.5
    assert falls_idle()


def test_a_stop_is_heard_while_the_prompt_is_read(model, falls_idle):
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    since = time.monotonic()
    assert list(model.stream(Prompt("", "Tell me a story. " * 700), 20, stop)) == []
    assert time.monotonic() - since < 1.5
    assert falls_idle()


def test_a_stream_that_is_left_stops_too(model, falls_idle):
    pieces = model.stream(LONG, 3000, threading.Event())
    next(pieces)
    pieces.close()
    assert falls_idle()
    assert "Paris" in model.generate([PARIS], 24)[0]


def test_a_stop_that_is_set_already_asks_nothing(model):
    stop = threading.Event()
    stop.set()
    assert list(model.stream(PARIS, 24, stop)) == []


def test_tokens_are_the_models_own(model):
    assert model.count("") == 0
    assert 0 < model.count("Trample") < model.count("Trample lets a creature deal damage. {T}")
    assert model.count("half a surrogate: \ud83d") > 0


def test_what_it_says_of_itself(model, f16, tmp_path):
    assert (model.name, model.context) == ("smollm2-f16.gguf", 4096)
    assert len(model.hash) == 16
    assert int(model.hash, 16) >= 0
    other = tmp_path / "other.gguf"
    with f16.open("rb") as whole:
        other.write_bytes(whole.read(1 << 21))
    assert Gguf.hash.func(_named(other)) != model.hash


def _named(path):
    """A model of which only the file is known."""
    bare = object.__new__(Gguf)
    bare.path = path
    return bare


def test_a_prompt_beyond_the_context_is_told(model):
    with pytest.raises(SticklerError, match=r"^The prompt has 50\d\d tokens, .* takes 4096: "):
        model.generate([Prompt("", "x " * 5000)], 5)


def test_its_port_answers_nobody_without_the_key(model):
    place = model._engine.listening_address.removeprefix("http://")
    assert place.startswith("127.0.0.1:")
    connection = http.client.HTTPConnection(place, timeout=10)
    connection.request("POST", "/v1/chat/completions", "{}")
    response = connection.getresponse()
    assert response.status == 401
    assert not response.getheader("Access-Control-Allow-Origin")
    connection.close()


def test_it_is_silent_and_ends_with_the_process(f16):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    code = (
        "import sys, threading; from qa.models import Prompt, gguf; "
        "model = gguf.Gguf(sys.argv[1], threads=1); "
        "left = model.stream(Prompt('', 'Tell a long story.'), 3000, threading.Event()); next(left)"
    )
    run = subprocess.run([sys.executable, "-c", code, f16], capture_output=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_llama_cpp_is_asked_for_when_it_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(SticklerError, match=r"pip install xllamacpp gguf"):
        Gguf(path)
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(SticklerError, match=r"pip install xllamacpp gguf"):
        to_f16(path, tmp_path / "other.gguf")


def test_a_file_that_is_no_model_is_named(tmp_path):
    with pytest.raises(SticklerError, match=r"^There is no file .*missing\.gguf: "):
        load(str(tmp_path / "missing.gguf"))
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    with pytest.raises(SticklerError, match=r"^There is no file .*folder\.gguf: "):
        load(str(folder))
    for content in (b"", b"GG", b"PK\x03\x04 a zip file"):
        path = tmp_path / "other.gguf"
        path.write_bytes(content)
        with pytest.raises(SticklerError, match=r"other\.gguf is not a GGUF file") as caught:
            load(str(path))
        assert Remedy(Action.CHOOSE_MODEL) in caught.value.remedies
        with pytest.raises(SticklerError, match=r"other\.gguf is not a GGUF file: "):
            to_f16(path, tmp_path / "target.gguf")


@pytest.mark.parametrize("part", [4, 24, 1000, 300_000, 2_500_000])
def test_a_file_cut_off_is_told(f16, tmp_path, part):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    path = tmp_path / "cut.gguf"
    with f16.open("rb") as whole:
        path.write_bytes(whole.read(part))
    with pytest.raises(SticklerError, match=r"cut\.gguf is cut off, damaged, or .*: download"):
        Gguf(path)


def test_a_file_in_f16_holds_the_same_model(tmp_path):
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    import numpy as np

    old, new = tmp_path / "old.gguf", tmp_path / "new.gguf"
    values = np.random.default_rng(7).normal(size=(4, 64)).astype(np.float32)
    tensors = {
        "four.weight": (gguf.quantize(values, gguf.GGMLQuantizationType.Q4_1), "Q4_1", "F16"),
        "eight.weight": (gguf.quantize(values, gguf.GGMLQuantizationType.Q8_0), "Q8_0", "F16"),
        "brain.weight": (gguf.quantize(values, gguf.GGMLQuantizationType.BF16), "BF16", "BF16"),
        "half.weight": (values.astype(np.float16), "F16", "F16"),
        "norm.weight": (values[0], "F32", "F32"),
    }
    writer = gguf.GGUFWriter(old, "llama")
    writer.add_custom_alignment(64)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_1)
    writer.add_array("tokenizer.ggml.tokens", ["a", "Ġb", "{T}"])
    writer.add_array("tokenizer.ggml.scores", [0.5, -1.0])
    writer.add_chat_template("{% for message in messages %}{{ message }}{% endfor %}")
    writer.add_bool("tokenizer.ggml.add_bos_token", False)
    for name, (data, kind, _) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=gguf.GGMLQuantizationType[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    to_f16(old, new)

    before, after = gguf.GGUFReader(old), gguf.GGUFReader(new)
    assert before.fields.keys() == after.fields.keys()
    for name in before.fields.keys() - {"general.file_type"}:
        assert before.fields[name].types == after.fields[name].types
        assert before.fields[name].contents() == after.fields[name].contents()
    assert after.fields["general.file_type"].contents() == gguf.LlamaFileType.MOSTLY_F16
    for one, other in zip(before.tensors, after.tensors, strict=True):
        assert (other.name, other.tensor_type.name) == (one.name, tensors[one.name][2])
        assert other.shape.tolist() == one.shape.tolist()
        pair = [gguf.dequantize(tensor.data, tensor.tensor_type) for tensor in (one, other)]
        np.testing.assert_allclose(*pair, rtol=1e-3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.gguf", "old.gguf"]


def test_a_source_that_is_cut_off_leaves_nothing_behind(quantised, tmp_path):
    pytest.importorskip("gguf", reason="gguf is not installed")
    source = tmp_path / "cut.gguf"
    source.write_bytes(quantised.read_bytes()[:300_000])
    with pytest.raises(SticklerError, match=r"cut\.gguf is cut off, damaged, or .*: download"):
        to_f16(source, tmp_path / "new" / "f16.gguf")
    assert not list(tmp_path.rglob("*f16*"))
