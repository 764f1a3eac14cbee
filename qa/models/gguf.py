"""A GGUF file, run in this process by llama.cpp: Gguf("./model.gguf")."""

import hashlib
import http.client
import itertools
import json
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index import files
from index.errors import Action, Remedy, SticklerError
from qa.models import Prompt
from qa.models.server import Give, from_thread, messages

if TYPE_CHECKING:
    import gguf

CONTEXT = 4096
_END = 1 << 20
# Tokens of a prompt that are read between two looks at the stop: more is hardly faster on a CPU.
_STEP = 64
_INSTALL = "run 'pip install xllamacpp gguf'"


class Gguf:
    """A model with its own chat template, decoding greedily, one answer at a time."""

    def __init__(self, path: str | Path, threads: int | None = None, name: str = "") -> None:
        self.path = Path(path).expanduser()
        self.name = name or self.path.name
        self.threads = threads or _threads()
        _check(self.path)
        self._key = secrets.token_hex()
        self._kept = tempfile.TemporaryDirectory(prefix="stickler-")
        self._system: str | None = None  # whose reading is kept
        self._busy = threading.Lock()  # one answer at a time
        self._engine = self._started()
        # What llama.cpp says, for it keeps to what the model was trained for.
        self.context = int(self._asked("GET", "/props")["default_generation_settings"]["n_ctx"])

    @cached_property
    def hash(self) -> str:
        size = self.path.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with self.path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(0, size - _END))
            digest.update(file.read(_END))
        return digest.hexdigest()[:16]

    def count(self, text: str) -> int:
        return len(self._tokens(text.encode(errors="replace").decode()))

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        answers = ("".join(self.stream(prompt, limit, threading.Event())) for prompt in prompts)
        return [answer.strip() for answer in answers]

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        request = {
            "messages": messages(prompt),
            "temperature": 0,
            "max_tokens": limit,
            "stream": True,
            "return_progress": True,  # a look at the stop while the prompt is read
            "cache_prompt": True,  # of the fixed part only: see _restore
        }
        problem: list[Any] = []

        def work(give: Give) -> None:
            def take(event: dict[str, Any]) -> bool:
                if "error" in event:
                    problem.append(event["error"])
                    return True
                return give(event["choices"][0]["delta"].get("content") or "")

            with self._busy:
                if stop.is_set():
                    return
                self._restore(prompt.system)
                self._engine.handle_chat_completions(request, take)
            if problem:
                raise self._failed(problem[0])

        yield from from_thread(work, stop)

    def _restore(self, system: str) -> None:
        """Put the fixed part of the prompt, read once, back as all that the model has in mind.

        What llama.cpp would keep of the last prompt is faster still by little, and can change an
        answer with what was asked before it.
        """
        kept = Path(self._kept.name) / "fixed"
        if system != self._system or not kept.exists():  # the system may have cleared its folder
            kept.parent.mkdir(exist_ok=True)
            self._read_once(system)
            self._asked("POST", "/slots/0?action=save", {"filename": kept.name})
            self._system = system
        self._asked("POST", "/slots/0?action=restore", {"filename": kept.name})

    def _read_once(self, system: str) -> None:
        """Let the model read what all prompts with this system part begin with."""
        texts = [
            self._asked("POST", "/apply-template", {"messages": messages(Prompt(system, user))})
            for user in "ab"
        ]
        one, other = (self._tokens(text["prompt"], special=True) for text in texts)
        same = sum(
            1
            for _ in itertools.takewhile(
                lambda pair: pair[0] == pair[1], zip(one, other, strict=False)
            )
        )
        body = {"prompt": one[:same], "n_predict": 0, "cache_prompt": False}
        self._asked("POST", "/completion", body)

    def _tokens(self, text: str, special: bool = False) -> list[int]:
        body = {"content": text, "add_special": special, "parse_special": special}
        tokens: list[int] = self._asked("POST", "/tokenize", body)["tokens"]
        return tokens

    def _started(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise SticklerError(
                f"GGUF files need llama.cpp, which is not here: {_INSTALL}."
            ) from None
        setup = xllamacpp.CommonParams()
        setup.model.path = str(self.path)
        setup.n_ctx = CONTEXT
        setup.n_batch = setup.n_ubatch = _STEP
        setup.cpuparams.n_threads = setup.cpuparams_batch.n_threads = self.threads
        setup.enable_reasoning = 0  # thoughts would use the limit up
        setup.cache_ram_mib = 0
        setup.verbosity = -1
        setup.warmup = setup.fit_params = False
        # llama.cpp always listens on the loopback address: only for who knows the key.
        setup.hostnames, setup.port, setup.api_keys = ["127.0.0.1"], 0, [self._key]
        setup.cors_origins, setup.ui, setup.endpoint_slots, setup.offline = "", False, True, True
        setup.slot_save_path, setup.n_parallel = f"{self._kept.name}/", 1
        try:
            return xllamacpp.Server(setup)
        except (RuntimeError, ValueError):
            raise SticklerError(
                f"{self.path} is cut off, damaged, or of a kind that llama.cpp does not know",
                "download it again",
                Remedy(Action.CHOOSE_MODEL),
            ) from None

    def _asked(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        place = self._engine.listening_address.removeprefix("http://")
        connection = http.client.HTTPConnection(place, timeout=60)
        headers = {"Authorization": f"Bearer {self._key}", "Connection": "close"}
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._failed({"message": str(error)}) from None
        finally:
            connection.close()
        if "error" in answer:
            raise self._failed(answer["error"])
        return answer

    def _failed(self, error: dict[str, Any]) -> SticklerError:
        if error.get("type") == "exceed_context_size_error":
            return SticklerError(
                f"The prompt has {error['n_prompt_tokens']} tokens, {self.name} takes "
                f"{error['n_ctx']}: ask a shorter question, or show the model fewer rules."
            )
        return SticklerError(
            f"llama.cpp failed with {self.path} ({str(error.get('message'))[:200]})",
            Remedy(Action.CHOOSE_MODEL),
        )


def to_f16(source: Path, target: Path) -> None:
    """Write a GGUF file anew, its quantised tensors as F16.

    SmolLM2-135M talks nonsense in llama.cpp as long as it is quantised, be it to 4 bits or to 8;
    the same weights as F16 talk sense.
    """
    try:
        import gguf
    except ImportError:
        raise SticklerError(f"The package gguf is not installed: {_INSTALL}.") from None
    _check(source)
    try:
        reader = gguf.GGUFReader(source)
        with files.explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as folder:
                beside = Path(folder) / target.name
                _write_f16(reader, beside)
                os.replace(beside, target)
    except (ValueError, LookupError, TypeError, NotImplementedError) as error:
        raise SticklerError(
            f"{source} is cut off, damaged, or of an unknown kind ({type(error).__name__}): "
            "download it again."
        ) from None


def _write_f16(reader: "gguf.GGUFReader", place: Path) -> None:
    import gguf
    import numpy as np

    fields, keys = reader.fields, gguf.Keys.General
    writer = gguf.GGUFWriter(place, fields[keys.ARCHITECTURE].contents())
    if keys.ALIGNMENT in fields:
        writer.data_alignment = fields[keys.ALIGNMENT].contents()
    for field in fields.values():
        if field.name.startswith("GGUF.") or field.name in {keys.ARCHITECTURE, keys.FILE_TYPE}:
            continue  # which the writer adds itself
        kind, *inner = field.types
        if (value := field.contents()) != []:  # the writer refuses an empty list
            writer.add_key_value(field.name, value, kind, sub_type=inner[-1] if inner else None)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)

    quantised = {t.name for t in reader.tensors if gguf.GGML_QUANT_SIZES[t.tensor_type][0] > 1}
    for t in reader.tensors:
        if t.name in quantised:
            half = np.dtype(np.float16)
            shape = t.shape.tolist()[::-1]
            writer.add_tensor_info(t.name, shape, half, t.n_elements * half.itemsize)
        else:  # F32, as all that have one dimension are, F16 or BF16
            writer.add_tensor_info(t.name, t.data.shape, t.data.dtype, t.n_bytes, t.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for t in reader.tensors:  # one at a time: a model may be larger than the memory
        if t.name in quantised:
            writer.write_tensor_data(gguf.dequantize(t.data, t.tensor_type).astype(np.float16))
        else:
            writer.write_tensor_data(t.data)
    writer.close()
    with place.open("r+b") as file:
        os.fsync(file.fileno())


def _threads() -> int:
    """As many as cores; fewer where something that runs many of us says so, as Ray does."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) else os.cpu_count() or 1


def _check(path: Path) -> None:
    """What can be said of a file before llama.cpp has it."""
    if not path.is_file():
        raise SticklerError(
            f"There is no file {path}", "check the name", Remedy(Action.CHOOSE_MODEL)
        )
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise SticklerError(
            f"{path} cannot be read ({error.strerror})",
            "change its rights",
            Remedy(Action.CHOOSE_MODEL),
        ) from None
    if magic != b"GGUF":
        raise SticklerError(f"{path} is not a GGUF file", Remedy(Action.CHOOSE_MODEL))
