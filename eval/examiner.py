"""Asks the assistant evaluation items, each with its example masked, and records the outcome."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eval import output_parsing
from eval.items import EvalItem
from eval.output_parsing import ParsedOutput
from index import numbers
from index.errors import SticklerError
from qa import verdict
from qa.answer import Answer
from qa.assistant import Assistant
from qa.draft import Draft
from qa.models import Generation, Model, Request
from qa.prompt import ShownRule, fill
from qa.resources import Resources
from qa.settings import Settings

Record = dict[str, Any]  # what is kept of one item
_CHOICE_TOKENS = 8  # for a back end that does not report probabilities


class Examiner:
    """Asks items of any edition with the same settings and resources."""

    def __init__(self, settings: Settings, resources: Resources) -> None:
        self._settings = settings
        self._resources = resources
        self._model = resources.model(settings.model)
        self._assistants: dict[str, Assistant] = {}

    def assistant(self, edition: str) -> Assistant:
        """The assistant that answers from an edition."""
        if edition not in self._assistants:
            settings = replace(self._settings, edition=edition)
            self._assistants[edition] = Assistant(settings, self._resources)
        return self._assistants[edition]

    def ask(
        self,
        items: Sequence[EvalItem],
        partners: Sequence[EvalItem] | None = None,
        gold: bool = False,
    ) -> list[Record]:
        """The records of items that share an edition and a kind of task.

        With partners (the placebo), each item is asked with the rules found for its partner; with
        `gold`, with its deciding rules.
        """
        assistant = self.assistant(items[0].edition)
        drafts = self._drafts(assistant, items, partners)
        if gold:
            drafts = [_with_gold(d, i, assistant) for d, i in zip(drafts, items, strict=True)]
        if gold or partners is not None:
            vectors = self._resources.embedder.encode_questions([_query(item) for item in items])
            drafts = [
                draft if item.masked else assistant.with_similar_questions(draft, vector)
                for draft, item, vector in zip(drafts, items, vectors, strict=True)
            ]
        if items[0].choices:
            return self._choose(items, drafts)
        answers = assistant.generate_many(drafts)
        compared = self._compare_with_gold(items, answers)
        return [
            self._record(item, answer) | more
            for item, answer, more in zip(items, answers, compared, strict=True)
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
        masked = [(*i.masked, *p.masked) for i, p in zip(items, partners, strict=True)]
        drafts = assistant.draft_many([_query(partner) for partner in partners], ids, masked)
        return [_as_placebo(draft, item) for item, draft in zip(items, drafts, strict=True)]

    def _choose(self, items: Sequence[EvalItem], drafts: Sequence[Draft]) -> list[Record]:
        """The records of items with outcomes to choose from, or with one claim to judge."""
        model = self._model
        generations = [Generation("")] * len(items)
        if model is not None:
            pairs = zip(items, drafts, strict=True)
            generations = model.generate([self._request(i, d, model) for i, d in pairs])
        records = []
        for item, draft, generation in zip(items, drafts, generations, strict=True):
            record = self._record(item, replace(draft.answer, raw=generation.text))
            if model is not None and _is_claim(item):
                record |= _parsed(output_parsing.verdict(generation), item.gold_verdict)
            elif model is not None:
                chosen = output_parsing.choice(generation, item.choices)
                record |= _parsed(chosen, item.gold_answer)
            elif not _is_claim(item):
                nearest = self._nearest_choice(item, draft)
                record |= _parsed(ParsedOutput(nearest, nearest), item.gold_answer)
            records.append(record)
        return records

    def _request(self, item: EvalItem, draft: Draft, model: Model) -> Request:
        settings = self._settings
        offered = [ShownRule.of(rule) for rule in draft.rules[: settings.context_rules]]
        options: tuple[str, ...]
        if _is_claim(item):
            name, more, options = "verdict.txt", {"claim": item.choices[0]}, verdict.OPTIONS
        else:
            pairs = zip(output_parsing.LETTERS, item.choices, strict=True)
            more = {"choices": "\n".join(f"{letter}) {text}" for letter, text in pairs)}
            name, options = "choose.txt", tuple(output_parsing.LETTERS)
        budget = settings.prompt_tokens
        prompt, _ = fill(item.question, offered, budget, model, (), name, **more)
        return Request(prompt, _CHOICE_TOKENS, options)

    def _nearest_choice(self, item: EvalItem, draft: Draft) -> str:
        """Without a model: the outcome that is most similar to a quoted sentence."""
        texts = [*item.choices, *(draft.quotes or [""])]
        vectors = self._resources.embedder.encode_questions(texts)
        similarity = (vectors[: len(item.choices)] @ vectors[len(item.choices) :].T).max(axis=1)
        return item.choices[int(similarity.argmax())]

    def _compare_with_gold(
        self, items: Sequence[EvalItem], answers: Sequence[Answer]
    ) -> list[Record]:
        """How far free answers, and the verdicts in them, agree with the gold."""
        records: list[Record] = [
            {"gold": item.gold_verdict, "yes_probability": answer.yes_probability}
            if item.gold_verdict and self._model is not None
            else {}
            for item, answer in zip(items, answers, strict=True)
        ]
        compared: list[tuple[Record, str, list[str]]] = []
        for record, item, answer in zip(records, items, answers, strict=True):
            if item.gold_answer is not None and not answer.abstained:
                shown = answer.generated or " ".join(c.quote for c in answer.citations)
                record["shown"] = shown
                compared.append((record, item.gold_answer, [shown, answer.raw or shown]))
        texts = [text for _, gold, both in compared for text in (gold, *both)]
        vectors: Any = self._resources.embedder.encode_questions(texts) if texts else ()
        for place, (record, gold, both) in enumerate(compared):
            gold_vector, *others = vectors[3 * place : 3 * place + 3]
            record["overlap"] = [round(output_parsing.overlap(one, gold), 4) for one in both]
            record["similar"] = [round(float(one @ gold_vector), 4) for one in others]
        return records

    def _record(self, item: EvalItem, answer: Answer) -> Record:
        book = self.assistant(item.edition).edition
        found = [hit.passage.number for hit in answer.hits]
        supported = [citation for citation in answer.citations if citation.status == "supported"]
        valid = [
            c.number in book.by_number
            and c.number in found
            and c.quote in book.by_number[c.number].text
            and c.edition == book.by_number[c.number].edition
            for c in supported
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
            "cited": [citation.number for citation in supported],
            "valid": valid,
            "failed": [c.number for c in answer.citations if c.status != "supported"],
            "abstained": answer.abstained,
            "confidence": answer.confidence,
            "verdict": answer.verdict,
            "verdict_confidence": answer.verdict_confidence,
            "generated": answer.generated,
            "generated_confidence": answer.generated_confidence,
            "unsure": answer.unsure,
            "unsupported": answer.unsupported,
            "raw": answer.raw,
            "mean_logprob": answer.mean_logprob,
            "tokens": self._model.count(answer.raw) if self._model and answer.raw else 0,
        }


def _is_claim(item: EvalItem) -> bool:
    return len(item.choices) == 1


def _query(item: EvalItem) -> str:
    """What is searched for: a situation, with the claim where there is one."""
    return f"{item.question} {item.choices[0]}" if _is_claim(item) else item.question


def _with_gold(draft: Draft, item: EvalItem, assistant: Assistant) -> Draft:
    """The draft with the rules that decide the item in place of those that were found."""
    by_number = assistant.edition.by_number
    rules = [by_number[number] for number in item.gold_rules if number in by_number]
    answer = replace(draft.answer, question=item.question, abstained=False)
    return Draft(answer, rules, [rule.text for rule in rules])


def _as_placebo(draft: Draft, item: EvalItem) -> Draft:
    """A partner's draft for an item, without the rules that happen to decide the item."""
    own = {numbers.group(rule) for rule in item.gold_rules}
    kept = [at for at, rule in enumerate(draft.rules) if numbers.group(rule.number) not in own]
    return Draft(
        replace(draft.answer, question=item.question),
        [draft.rules[at] for at in kept],
        [draft.quotes[at] for at in kept],
    )


def _parsed(output: ParsedOutput, gold: str | None) -> Record:
    return {"strict": output.strict, "lenient": output.lenient, "gold": gold}


def partner(place: int, items: Sequence[EvalItem]) -> EvalItem:
    """The item whose rules are used for the placebo: the next one about different rules."""
    own = {numbers.group(rule) for rule in items[place].gold_rules}
    later = [*items[place + 1 :], *items[:place]]
    apart = [one for one in later if not own & {numbers.group(rule) for rule in one.gold_rules}]
    if not apart:
        raise SticklerError(
            f"All items are about the rules of {items[place].id}", "run the placebo on more"
        )
    return apart[0]
