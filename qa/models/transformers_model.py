"""Instruct models in transformers: a folder, or a Hugging Face id."""

import copy
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from index import files
from index.errors import Action, Remedy, SticklerError
from qa.models import Generation, Probabilities, Prompt, Request, collect

_USER = "USER-TEXT"  # where it goes in the chat template


class TransformersModel:
    """A causal language model with a chat template, decoding greedily."""

    def __init__(self, name: str) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        self.name = name
        self._folder = str(Path(name).expanduser())
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
        self.tuned = False
        self._busy = threading.Lock()  # one generation at a time
        self._prefix: tuple[Prompt, Any] | None = None  # fixed part, and the cache after it

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
        return len(self._ids(text))

    def generate(self, requests: Sequence[Request]) -> list[Generation]:
        return [collect(self.stream(request, threading.Event())) for request in requests]

    def stream(self, request: Request, stop: threading.Event) -> Iterator[Probabilities | str]:
        from transformers import TextIteratorStreamer

        ids = self._prompt(request.prompt)
        probabilities = None
        if request.options and not stop.is_set():
            probabilities = self._probabilities(ids, request.options)
            yield probabilities
        if not request.limit or stop.is_set():
            return
        if opening := request.opening(probabilities):
            yield opening
        streamer = TextIteratorStreamer(self._tokenizer, skip_prompt=True, skip_special_tokens=True)
        failure: list[BaseException] = []

        def work() -> None:
            try:
                with self._busy:
                    if not stop.is_set():
                        self._run(request, ids + self._ids(opening), streamer, stop)
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

    def _probabilities(self, ids: list[int], options: Sequence[str]) -> Probabilities:
        """How likely the answer opens with the first token of each option."""
        import torch

        firsts = [self._ids(each)[0] for each in options]
        with self._busy, torch.inference_mode():
            logits = self._model(**self._inputs(ids), logits_to_keep=1).logits[0, -1].float()
        likely = logits.softmax(-1)[firsts].tolist()
        return dict(zip(options, likely, strict=True))

    def _prompt(self, prompt: Prompt) -> list[int]:
        """A prompt's tokens; the user's text and the rules are tokenized as plain text."""
        before, after = self._frame(prompt)
        return before + self._ids(prompt.messages[-1]["content"], split=True) + after

    def _frame(self, prompt: Prompt) -> tuple[list[int], list[int]]:
        """What stands before and after the user's words."""
        text: str = self._tokenizer.apply_chat_template(
            prompt._replace(user=_USER).messages, add_generation_prompt=True, tokenize=False
        )
        before, _, after = text.rpartition(_USER)
        return self._ids(before), self._ids(after)

    def _ids(self, text: str, split: bool = False) -> list[int]:
        """The tokens of a text; with `split`, control tokens in it are treated as plain text."""
        found = self._tokenizer(text, add_special_tokens=False, split_special_tokens=split)
        ids: list[int] = found["input_ids"]
        return ids

    def _inputs(self, ids: list[int]) -> dict[str, Any]:
        import torch

        row = torch.tensor([ids], device=self._model.device)
        return {"input_ids": row, "attention_mask": torch.ones_like(row)}

    def _run(self, request: Request, ids: list[int], streamer: Any, stop: threading.Event) -> None:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList

        class Stopped(StoppingCriteria):
            """Watches the event: only this ends a generation under way."""

            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return input_ids.new_full((input_ids.shape[0],), stop.is_set(), dtype=torch.bool)

        inputs = self._inputs(ids)
        with torch.inference_mode():
            self._model.generate(
                **inputs,
                max_new_tokens=request.limit,
                do_sample=False,
                past_key_values=self._cached_prefix(request.prompt),
                pad_token_id=self._tokenizer.pad_token_id,
                streamer=streamer,
                stopping_criteria=StoppingCriteriaList([Stopped()]),
            )

    def _cached_prefix(self, prompt: Prompt) -> Any:
        """The cache of the prompt's fixed part, computed once and copied for each question."""
        import torch
        from transformers import DynamicCache

        fixed = prompt._replace(user="")
        if self._prefix is None or self._prefix[0] != fixed:
            cache = DynamicCache(config=self._model.config)
            before = self._inputs(self._frame(fixed)[0])
            with torch.inference_mode():
                self._model(**before, past_key_values=cache, use_cache=True)
            self._prefix = (fixed, cache)
        return copy.deepcopy(self._prefix[1])
