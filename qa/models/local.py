"""Instruct models in transformers: the embedded default, a folder, or a Hugging Face id."""

import copy
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from index import files
from index.errors import Action, Remedy, SticklerError
from qa.models import DEFAULT, Prompt, embedded

_BATCH = 16  # prompts that are generated together: 2.1 s an answer on two cores, 2.8 s with 8
OPENINGS = ("Yes", "No")  # of an answer to a question for a yes or no


class Local:
    """A causal language model with a chat template, decoding greedily."""

    def __init__(self, name: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self.name = name
        self._folder = str(embedded.folder()) if name == DEFAULT else str(Path(name).expanduser())
        if name[:1] in "./~" and not Path(self._folder).exists():
            raise self._unloadable("there is no such folder")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        # Half precision is slow on a CPU, and the reason to have a GPU.
        dtype = torch.float32 if device == "cpu" else "auto"
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(self._folder, padding_side="left")
            model: Any = AutoModelForCausalLM.from_pretrained(self._folder, dtype=dtype)
        except (OSError, ValueError, ImportError) as error:
            raise self._unloadable(str(error).strip().split("\n")[0][:200]) from None
        if self._tokenizer.chat_template is None:
            raise SticklerError(
                f"The language model '{name}' has no chat template: choose an instruct model."
            )
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._model = model.to(device).eval()
        self.context = int(getattr(model.config, "max_position_embeddings", 2048))
        self._busy = threading.Lock()  # one generation at a time
        self._prefixes: dict[str, tuple[Any, Any]] = {}

    def _unloadable(self, reason: str) -> SticklerError:
        return SticklerError(
            f"The language model '{self.name}' cannot be loaded ({reason})",
            "name a folder, a Hugging Face id, a .gguf file or a server",
            Remedy(Action.CHOOSE_NO_MODEL),
        )

    @cached_property
    def hash(self) -> str:
        place = Path(self._folder)
        if not place.is_dir():
            from huggingface_hub import snapshot_download

            place = Path(snapshot_download(self._folder, local_files_only=True))
        return files.fingerprint(place)

    def count(self, text: str) -> int:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def generate(self, prompts: Sequence[Prompt], limit: int) -> list[str]:
        answers: list[str] = []
        for start in range(0, len(prompts), _BATCH):
            inputs = self._inputs(prompts[start : start + _BATCH])
            with self._busy:
                output = self._run(inputs, limit)
            new = output[:, inputs["input_ids"].shape[1] :]
            answers += self._tokenizer.batch_decode(new, skip_special_tokens=True)
        return [answer.strip() for answer in answers]

    def stream(self, prompt: Prompt, limit: int, stop: threading.Event) -> Iterator[str]:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList, TextIteratorStreamer

        class Stopped(StoppingCriteria):
            """Watches the event: only this ends a generation under way."""

            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return input_ids.new_full((input_ids.shape[0],), stop.is_set(), dtype=torch.bool)

        streamer = TextIteratorStreamer(self._tokenizer, skip_prompt=True, skip_special_tokens=True)
        watch = {"streamer": streamer, "stopping_criteria": StoppingCriteriaList([Stopped()])}
        failure: list[BaseException] = []

        def work() -> None:
            try:
                with self._busy:
                    if not stop.is_set():
                        inputs = self._inputs([prompt])
                        past = self._prefix(prompt.system, inputs["input_ids"])
                        self._run(inputs, limit, past, **watch)
            except Exception as error:
                failure.append(error)
            finally:
                streamer.end()  # type: ignore[no-untyped-call]

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        try:
            yield from filter(None, streamer)
        finally:
            stop.set()
            worker.join()
        if failure:
            raise failure[0]

    def yes_over_no(self, prompts: Sequence[Prompt]) -> list[float]:
        """How much rather an answer to each prompt would open with yes than with no, in logits."""
        import torch

        yes, no = opening_tokens(self._tokenizer)
        order = sorted(range(len(prompts)), key=lambda at: len(prompts[at].user))
        found = [0.0] * len(prompts)
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]  # of about one length: little is padding
            inputs = self._inputs([prompts[at] for at in part])
            with self._busy, torch.inference_mode():
                logits = self._model(**inputs, logits_to_keep=1).logits[:, -1].float()
            for at, one in zip(part, (logits[:, yes] - logits[:, no]).tolist(), strict=True):
                found[at] = one
        return found

    def _inputs(self, prompts: Sequence[Prompt]) -> Any:
        inputs = self._tokenizer.apply_chat_template(
            [chat(prompt) for prompt in prompts],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
            padding=True,
        )
        return inputs.to(self._model.device)

    def _run(self, inputs: Any, limit: int, past: Any = None, **options: Any) -> Any:
        import torch

        with torch.inference_mode():
            return self._model.generate(
                **inputs,
                max_new_tokens=limit,
                do_sample=False,
                past_key_values=past,
                pad_token_id=self._tokenizer.pad_token_id,
                **options,
            )

    def _prefix(self, system: str, ids: Any) -> Any:
        """The cache of the prompt's fixed part, computed once and copied for each question."""
        import torch
        from transformers import DynamicCache

        if system not in self._prefixes:
            one, other = (self._inputs([Prompt(system, user)])["input_ids"] for user in "ab")
            width = min(one.shape[1], other.shape[1])
            same = int((one[0, :width] == other[0, :width]).long().cumprod(0).sum())
            cache = DynamicCache(config=self._model.config)
            with torch.inference_mode():
                self._model(one[:, :same], past_key_values=cache, use_cache=True)
            self._prefixes = {system: (one[:, :same], cache)}  # one prompt file is in use at a time
        fixed, cache = self._prefixes[system]
        if not torch.equal(ids[:, : fixed.shape[1]], fixed):
            return None
        return copy.deepcopy(cache)


def chat(prompt: Prompt) -> list[dict[str, str]]:
    """A prompt in the form that chat templates take."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]


def opening_tokens(tokenizer: Any) -> list[int]:
    """The tokens that an answer opens with, for yes and for no."""
    return [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in OPENINGS]


def in_common(told: Sequence[Sequence[int]]) -> int:
    """How many tokens all begin with, but not the last one of any: what follows it is wanted."""
    same = 0
    for tokens in zip(*(each[:-1] for each in told), strict=False):
        if len(set(tokens)) > 1:
            break
        same += 1
    return same
