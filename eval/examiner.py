"""Puts evaluation items to the assistant, each with its example hidden, and notes what came."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eval import output_parsing
from eval.items import EvalItem
from index import numbers
from index.errors import SticklerError
from index.searcher import Searcher
from qa.answer import Answer, Assistant, Draft
from qa.models import Model
from qa.prompt import fill
from qa.settings import Settings

Record = dict[str, Any]  # what is kept of one item
_LETTER_TOKENS, _VERDICT_TOKENS = 8, 24


class Examiner:
    """Asks items of any edition with one searcher and one model."""

    def __init__(self, settings: Settings, searcher: Searcher, model: Model | None) -> None:
        self.settings = settings
        self.searcher = searcher
        self.model = model
        self._assistants: dict[str, Assistant] = {}

    def assistant(self, edition: str) -> Assistant:
        if edition not in self._assistants:
            settings = replace(self.settings, edition=edition)
            assistant = Assistant(settings, self.searcher, self.model)
            self._assistants[edition] = assistant
        return self._assistants[edition]

    def ask(self, items: Sequence[EvalItem], partners: Sequence[EvalItem] | None) -> list[Record]:
        """What came of items of one edition and kind of task.

        With partners (the placebo) each item is asked on the rules found for its partner.
        """
        assistant = self.assistant(items[0].edition)
        drafts = self._drafts(assistant, items, partners)
        if items[0].choices:
            return self._chosen(assistant, items, drafts)
        answers = assistant.speak_many(drafts)
        said = self._said(items, answers)
        return [
            self._line(item, answer) | more
            for item, answer, more in zip(items, answers, said, strict=True)
        ]

    def _drafts(
        self,
        assistant: Assistant,
        items: Sequence[EvalItem],
        partners: Sequence[EvalItem] | None,
    ) -> list[Draft]:
        ids = [item.id for item in items]
        if partners is None:
            masked = [item.masked for item in items]
            return assistant.draft_many([_query(item) for item in items], ids, masked)
        hidden = [(*i.masked, *p.masked) for i, p in zip(items, partners, strict=True)]
        drafts = assistant.draft_many([_query(partner) for partner in partners], ids, hidden)
        return [_of_others(draft, item) for item, draft in zip(items, drafts, strict=True)]

    def _chosen(
        self, assistant: Assistant, items: Sequence[EvalItem], drafts: Sequence[Draft]
    ) -> list[Record]:
        """Items with choices, or with a claim to judge."""
        claims = len(items[0].choices) == 1
        raws = [""] * len(items)
        if self.model is not None:
            prompts = [self._prompt(i, d, self.model) for i, d in zip(items, drafts, strict=True)]
            raws = self.model.generate(prompts, _VERDICT_TOKENS if claims else _LETTER_TOKENS)
        lines = []
        for item, draft, raw in zip(items, drafts, raws, strict=True):
            line = self._line(item, replace(draft.answer, raw=raw))
            if claims and self.model is not None:
                line |= _judged(output_parsing.verdict(raw), item.gold_verdict)
            elif not claims and self.model is not None:
                line |= _judged(output_parsing.choice(raw, item.choices), item.gold_answer)
            elif not claims:
                nearest = self._by_evidence(item, draft)
                line |= _judged(output_parsing.ParsedOutput(nearest, nearest), item.gold_answer)
            lines.append(line)
        return lines

    def _prompt(self, item: EvalItem, draft: Draft, model: Model) -> Any:
        offered = [(rule.number, rule.text) for rule in draft.rules[: self.settings.context_rules]]
        if len(item.choices) == 1:
            name, more = "verdict.txt", {"claim": item.choices[0]}
        else:
            pairs = zip(output_parsing.LETTERS, item.choices, strict=True)
            name, more = "choose.txt", {"choices": "\n".join(f"{a}) {text}" for a, text in pairs)}
        prompt, _ = fill(
            item.question, offered, self.settings.prompt_tokens, model.count, name, **more
        )
        return prompt

    def _by_evidence(self, item: EvalItem, draft: Draft) -> str:
        """Without a model: the outcome whose meaning is nearest to a quoted sentence."""
        texts = [*item.choices, *(draft.quotes or [""])]
        vectors = self.searcher.embedder.encode_questions(texts)
        near = (vectors[: len(item.choices)] @ vectors[len(item.choices) :].T).max(axis=1)
        return item.choices[int(near.argmax())]

    def _said(self, items: Sequence[EvalItem], answers: Sequence[Answer]) -> list[Record]:
        """How free answers, and the verdicts in them, agree with the gold."""
        lines: list[Record] = [
            _judged(output_parsing.verdict(answer.raw), item.gold_verdict)
            if item.gold_verdict and self.model is not None
            else {}
            for item, answer in zip(items, answers, strict=True)
        ]
        compared: list[tuple[Record, str, list[str]]] = []
        for line, item, answer in zip(lines, items, answers, strict=True):
            if item.gold_answer is not None and not answer.abstained:
                shown = answer.said or " ".join(citation.quote for citation in answer.citations)
                line["shown"] = shown
                compared.append((line, item.gold_answer, [shown, answer.raw or shown]))
        texts = [text for _, gold, both in compared for text in (gold, *both)]
        vectors: Any = self.searcher.embedder.encode_questions(texts) if texts else ()
        for at, (line, gold, both) in enumerate(compared):
            golden, *near = vectors[3 * at : 3 * at + 3]
            line["overlap"] = [round(output_parsing.overlap(one, gold), 4) for one in both]
            line["similar"] = [round(float(one @ golden), 4) for one in near]
        return lines

    def _line(self, item: EvalItem, answer: Answer) -> Record:
        book = self.assistant(item.edition).book.edition(item.edition)
        found = [hit.passage.number for hit in answer.hits]
        shown = [citation for citation in answer.citations if citation.status == "supported"]
        valid = [
            c.number in book.by_number
            and c.number in found
            and c.quote in book.by_number[c.number].text
            and c.edition == book.by_number[c.number].edition
            for c in shown
        ]
        return {
            "id": item.id,
            "kind": item.kind,
            "edition": item.edition,
            "question": item.question,
            "section": item.gold_rules[0].split(".")[0] if item.gold_rules else None,
            "gold_rules": list(item.gold_rules),
            "gold_answer": item.gold_answer,
            "gold_verdict": item.gold_verdict,
            "found": found,
            "cited": [citation.number for citation in shown],
            "valid": valid,
            "failed": [c.number for c in answer.citations if c.status != "supported"],
            "abstained": answer.abstained,
            "confidence": answer.confidence,
            "verdict": answer.verdict,
            "raw": answer.raw,
            "tokens": self.model.count(answer.raw) if self.model and answer.raw else 0,
        }


def _query(item: EvalItem) -> str:
    """What is searched for: a situation, with the claim where there is one."""
    return f"{item.question} {item.choices[0]}" if len(item.choices) == 1 else item.question


def _of_others(draft: Draft, item: EvalItem) -> Draft:
    """Another question's draft for an item, less the rules that decide the item after all."""
    own = {numbers.group(rule) for rule in item.gold_rules}
    kept = [at for at, rule in enumerate(draft.rules) if numbers.group(rule.number) not in own]
    return Draft(
        replace(draft.answer, question=item.question),
        [draft.rules[at] for at in kept],
        [draft.quotes[at] for at in kept],
    )


def _judged(read: output_parsing.ParsedOutput, gold: str | None) -> Record:
    return {"strict": read.strict, "lenient": read.lenient, "gold": gold}


def partner(place: int, items: Sequence[EvalItem]) -> EvalItem:
    """Whose rules an item gets in the placebo: the next one about other rules."""
    own = {numbers.group(rule) for rule in items[place].gold_rules}
    later = [*items[place + 1 :], *items[:place]]
    apart = [one for one in later if not own & {numbers.group(rule) for rule in one.gold_rules}]
    if not apart:
        raise SticklerError(
            f"No other item is about other rules than {items[place].id}: a placebo needs more."
        )
    return apart[0]
