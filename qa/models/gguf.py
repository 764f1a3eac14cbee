"""A GGUF file, run in this process by llama.cpp: GgufModel("./model.gguf").

The fixed part of a prompt (instructions and worked examples) is processed once per machine and
cached in the data folder; every answer starts from that state, so that none depends on earlier
questions. Answers are generated one after the other: side by side they are no faster, because
processing a prompt keeps all cores busy, and would change each other's rounding.
"""

import hashlib
import http.client
import importlib.metadata
import json
import math
import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from index import files
from index.errors import Action, Remedy, SticklerError
from qa.models import Generation, Piece, Probabilities, Prompt, Request, collect
from qa.models.grammar import answer_grammar
from qa.models.server import Give, from_thread

CONTEXT = 4096  # tokens of a prompt and its answer
TUNED_CONTEXT = 2048  # prompts have no worked examples, so less memory is needed
# Prompt tokens processed between two checks for a stop: more is hardly faster on a CPU.
_STEP = 64
_PREFIXES = 4  # cached fixed parts per model, about 30 MB each
_TOP_LOGPROBS = 64  # first tokens whose probabilities are requested
_USER = "USER-TEXT"  # placeholder for the user's text in the chat template
_UNLIKELY = 1e-9  # probability assumed for an option that is not among the top tokens
_NONE: dict[str, list[Any]] = {"content": []}  # log-probabilities of a piece that has none
_INSTALL = "run 'pip install xllamacpp'"


class GgufModel:
    """A model with its own chat template, decoding greedily."""

    def __init__(
        self,
        path: str | Path,
        threads: int | None = None,
        name: str = "",
        adapter: Path | None = None,
    ) -> None:
        self.path = Path(path).expanduser()
        self.adapter = adapter
        self.tuned = adapter is not None
        self.name = name or self.path.name
        self.threads = threads or _threads()
        _check(self.path)
        if adapter:
            _check(adapter)
        self._key = secrets.token_hex()
        self._folder = files.data_folder() / "cache" / "prompts"
        with files.explained(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._engine = self._start()
        # Ask llama.cpp, which limits the context to what the model was trained for. This also makes
        # sure that its loop is running, so that it can be stopped later.
        self.context = int(self._call("GET", "/slots")[0]["n_ctx"])

    @cached_property
    def hash(self) -> str:
        return files.ends_hash(self.path, *([self.adapter] if self.adapter else []))

    def count(self, text: str) -> int:
        return len(self._tokens(text.encode(errors="replace").decode()))

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        return [collect(self.stream(request, threading.Event())) for request in requests]

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Piece]:
        def work(give: Give) -> None:
            with self._turn(stop) as is_ours:
                if is_ours:
                    self._answer(request, give)

        yield from from_thread(work, stop)

    def _answer(self, request: Request, give: Give) -> None:
        """Process the prompt, get the probabilities of the first word, then generate the answer."""
        if not self._restore(request.prompt, give):
            return
        tokens = self._prompt(request.prompt)
        probabilities = None
        if request.options:
            probabilities = self._probabilities(tokens, request.options, give)
            if probabilities is None or give(probabilities) or not request.limit:
                return
        opening = request.opening(probabilities)
        if opening and give(opening):
            return
        body: dict[str, Any] = {
            "prompt": tokens + self._tokens(opening),
            "n_predict": request.limit,
        }
        if request.citable:
            # After a forced opening, the first sentence starts with a space.
            lead = '" "' if opening else ""
            body["grammar"] = answer_grammar(request.citable, lead)
        body["n_probs"] = 1
        logprobs: list[float] = []

        def take(choice: dict[str, Any]) -> bool:
            logprobs.extend(
                each["logprob"] for each in (choice.get("logprobs") or _NONE)["content"]
            )
            return give(choice.get("text") or "")

        self._complete(body, take)
        if logprobs:
            give(sum(logprobs) / len(logprobs))

    def _probabilities(
        self, tokens: list[int], options: Sequence[str], give: Give
    ) -> Probabilities | None:
        """How likely the answer starts with each of these words; None if it was stopped."""
        found: list[Any] = []

        def take(choice: dict[str, Any]) -> bool:
            if logprobs := choice.get("logprobs"):
                found.extend(logprobs["content"])
            return give("")

        self._complete({"prompt": tokens, "n_predict": 1, "n_probs": _TOP_LOGPROBS}, take)
        if not found:
            return None
        likely = {each["token"]: math.exp(each["logprob"]) for each in found[0]["top_logprobs"]}
        return {option: likely.get(option, _UNLIKELY) for option in options}

    def _complete(self, body: dict[str, Any], take: Any) -> None:
        """Run one completion; `take` is called with each piece and may end it."""
        problem: list[Any] = []

        def hear(event: dict[str, Any]) -> bool:
            if "error" in event:
                problem.append(event["error"])
                return True
            return any(take(choice) for choice in event.get("choices") or [{}])

        request = {
            **body,
            "id_slot": 0,
            "temperature": 0,
            "stream": True,
            "return_progress": True,  # so that a stop is noticed while the prompt is processed
            "cache_prompt": True,
        }
        self._engine.handle_completions(request, hear)
        if problem:
            raise self._failure(problem[0])

    @contextmanager
    def _turn(self, stop: threading.Event) -> Iterator[bool]:
        """Wait until no other answer is being generated; False if it was stopped meanwhile."""
        held = False
        while not held and not stop.is_set():
            held = self._lock.acquire(timeout=0.05)
        try:
            yield held and not stop.is_set()
        finally:
            if held:
                self._lock.release()

    def _restore(self, prompt: Prompt, give: Give) -> bool:
        """Reset llama.cpp to the state after the fixed part of the prompt, which is cached.

        Keeping its state from the last prompt would be slightly faster but could make an answer
        depend on the previous question. Returns False if it was stopped.
        """
        fixed = prompt._replace(user="")
        name = self._prefix_name(fixed)
        if self._restored(name):
            return True
        if not self._read_fixed(fixed, give):
            return False
        self._keep(name)
        return self._restored(name)

    def _restored(self, name: str) -> bool:
        """Whether a saved state could be restored; llama.cpp may abort on one that is damaged."""
        for path in self._folder.glob(f"{name}-*"):
            with suppress(OSError, SticklerError):  # another process may have removed it
                if path.name == f"{name}-{files.digest(path)[:16]}":
                    self._call("POST", "/slots/0?action=restore", {"filename": path.name})
                    return True
        return False

    def _prefix_name(self, fixed: Prompt) -> str:
        """What the state after a fixed part is saved as, followed by its digest."""
        made_with = [self.hash, importlib.metadata.version("xllamacpp"), self.context, fixed]
        return f"{self.hash}-{hashlib.sha256(repr(made_with).encode()).hexdigest()[:16]}"

    def _keep(self, name: str) -> None:
        """Save the state to a temporary file and rename it; only a few are kept per model."""
        beside = f"{name}.{secrets.token_hex(4)}"
        with files.explained(self._folder / name):
            self._folder.mkdir(parents=True, exist_ok=True)  # someone may have cleared it
            self._call("POST", "/slots/0?action=save", {"filename": beside})
            path = self._folder / f"{name}-{files.digest(self._folder / beside)[:16]}"
            os.replace(self._folder / beside, path)
            for damaged in set(self._folder.glob(f"{name}-*")) - {path}:
                damaged.unlink(missing_ok=True)
            kept = sorted(
                self._folder.glob(f"{self.hash}-*"), key=lambda path: path.stat().st_mtime
            )
            for old in kept[:-_PREFIXES]:
                old.unlink(missing_ok=True)

    def _read_fixed(self, fixed: Prompt, give: Give) -> bool:
        """Process the beginning that all prompts with this fixed part share."""
        body = {"prompt": self._frame(fixed)[0], "n_predict": 0}
        stopped = False

        def take(_: dict[str, Any]) -> bool:
            nonlocal stopped
            stopped = stopped or give("")
            return stopped

        self._complete(body, take)
        return not stopped

    def _prompt(self, prompt: Prompt) -> list[int]:
        """A prompt's tokens.

        The user's text and the rules are tokenized as plain text, so they cannot end a turn.
        """
        before, after = self._frame(prompt._replace(user=""))
        return [*before, *self._tokens(prompt.messages[-1]["content"]), *after]

    def _frame(self, fixed: Prompt) -> tuple[list[int], list[int]]:
        """What stands before and after the user's words in a prompt with this fixed part."""
        messages = fixed._replace(user=_USER).messages
        text: str = self._call("POST", "/apply-template", {"messages": messages})["prompt"]
        before, _, after = text.rpartition(_USER)
        return self._tokens(before, special=True, first=True), self._tokens(after, special=True)

    def _tokens(self, text: str, special: bool = False, first: bool = False) -> list[int]:
        """The tokens of a text; `special` reads control tokens in it, `first` begins a prompt."""
        body = {"content": text, "add_special": first, "parse_special": special}
        tokens: list[int] = self._call("POST", "/tokenize", body)["tokens"]
        return tokens

    def _start(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise SticklerError(
                "GGUF files need llama.cpp, which is not installed", _INSTALL
            ) from None
        setup = xllamacpp.CommonParams()
        setup.model.path = str(self.path)
        if self.adapter:
            setup.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(self.adapter), 1.0)]
        setup.n_ctx = TUNED_CONTEXT if self.tuned else CONTEXT
        setup.n_parallel = 1
        setup.n_batch = setup.n_ubatch = _STEP
        setup.cpuparams.n_threads = setup.cpuparams_batch.n_threads = self.threads
        setup.no_extra_bufts = True  # a repacked copy would double the memory and is not faster
        setup.enable_reasoning = 0  # reasoning would use up the token limit
        setup.cache_ram_mib = 0
        setup.verbosity = -1
        setup.warmup = setup.fit_params = False
        # llama.cpp always listens on the loopback address; the key protects it.
        setup.hostnames, setup.port, setup.api_keys = ["127.0.0.1"], 0, [self._key]
        setup.cors_origins, setup.ui, setup.endpoint_slots, setup.offline = "", False, True, True
        setup.slot_save_path = f"{self._folder}/"
        try:
            return xllamacpp.Server(setup)
        except (RuntimeError, ValueError):
            raise SticklerError(
                f"{self.path} is cut off, damaged, or of a kind that llama.cpp does not know",
                "download it again",
                Remedy(Action.CHOOSE_MODEL),
            ) from None

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        place = self._engine.listening_address.removeprefix("http://")
        connection = http.client.HTTPConnection(place, timeout=600)
        headers = {"Authorization": f"Bearer {self._key}", "Connection": "close"}
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = json.loads(connection.getresponse().read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._failure({"message": str(error)}) from None
        finally:
            connection.close()
        if "error" in answer:
            raise self._failure(answer["error"])
        return answer

    def _failure(self, error: dict[str, Any]) -> SticklerError:
        if error.get("type") == "exceed_context_size_error":
            return SticklerError(
                f"The prompt has {error['n_prompt_tokens']} tokens but {self.name} takes only "
                f"{error['n_ctx']}: ask a shorter question, or show the model fewer rules."
            )
        return SticklerError(
            f"llama.cpp failed with {self.path} ({str(error.get('message'))[:200]})",
            Remedy(Action.CHOOSE_MODEL),
        )


def _threads() -> int:
    """The number of cores, or OMP_NUM_THREADS, which Ray sets because it runs several workers."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    return int(told) if told.isdecimal() and int(told) else os.cpu_count() or 1


def _check(path: Path) -> None:
    """Raise an error if a file is obviously not usable."""
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
            "change its permissions",
            Remedy(Action.CHOOSE_MODEL),
        ) from None
    if magic != b"GGUF":
        raise SticklerError(f"{path} is not a GGUF file", Remedy(Action.CHOOSE_MODEL))
