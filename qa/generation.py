"""How a language model is asked about a draft, and which parts of its output enter the answer.

The rules it was shown decide: a sentence that none of them supports is counted but dropped. Its yes
or no becomes the verdict, and in each cited rule the sentence it refers to is marked.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from index.embedder import Embedder
from index.errors import SticklerError
from index.expansion import AnsweredQuestion
from index.rulebook import Edition, Rule
from qa import answer_confidence, citations, compose, support, verdict
from qa.answer import Answer
from qa.draft import Draft
from qa.models import Generation, Model, Request
from qa.prompt import ShownRule, fill
from qa.settings import Settings

FAILED = "The language model failed: {}"


class Context(NamedTuple):
    """What a model is shown beside the question."""

    rules: list[Rule]
    similar: list[AnsweredQuestion]  # about these rules


def request(draft: Draft, settings: Settings, model: Model) -> tuple[Request, Context]:
    """The request to the model, and the context it is shown."""
    offered = [ShownRule.of(rule) for rule in draft.rules[: settings.context_rules]]
    similar = draft.answer.similar_questions
    prompt, shown = fill(draft.asked, offered, settings.prompt_tokens, model, similar)
    wanted = Request(
        prompt,
        settings.answer_tokens,
        verdict.options(draft.asked),
        lambda probabilities: verdict.opening(
            verdict.from_probabilities(probabilities, model.name)
        ),
        tuple(shown),
    )
    return wanted, Context(
        [rule for rule in draft.rules if rule.number in shown],
        [each for each in similar if each.number in shown],
    )


def generate(requests: Sequence[Request], model: Model) -> list[Generation | SticklerError]:
    """The model's output for each request; if the batch fails, requests are retried one by one."""
    try:
        return [*model.generate(requests)]
    except SticklerError as error:
        if len(requests) == 1:
            return [error]
        return [said for each in requests for said in generate([each], model)]


def with_verdict(answer: Answer, judged: verdict.Verdict | None) -> Answer:
    """The answer with a verdict; unchanged if there is none."""
    if judged is None:
        return answer
    return replace(
        answer,
        verdict=judged.value,
        verdict_confidence=judged.confidence,
        yes_probability=_rounded(judged.yes),
    )


def with_generated(
    draft: Draft,
    generation: Generation,
    context: Context,
    model: str,
    edition: Edition,
    embedder: Embedder,
) -> Answer:
    """The answer with those parts of the model's output that the rules it was shown support."""
    word, sentences = verdict.split(generation.text)
    kept, unsupported = support.supported(sentences, draft.asked, *context, embedder)
    judged = verdict.from_probabilities(generation.probabilities, model)
    if generation.probabilities is None and word and kept and verdict.options(draft.asked):
        judged = verdict.Verdict(word)  # a back end that tells no probabilities
    answer = replace(
        with_verdict(_marked_again(draft, sentences, embedder), judged),
        raw=generation.text,
        mean_logprob=_rounded(generation.mean_logprob),
        generated=compose.generated(kept),
        unsupported=unsupported,
    )
    right, enough = answer_confidence.estimate(answer)
    answer = replace(answer, generated_confidence=right, unsure=not enough)
    reading = compose.reading(answer.verdict, answer.generated, answer.unsure)
    unverified = citations.unverified(
        generation.text,
        [rule.number for rule in context.rules],
        [hit.passage.number for hit in answer.hits],
        edition,
    )
    return replace(
        answer,
        text="\n".join(filter(None, [answer.text, reading])),
        citations=(*answer.citations, *unverified),
    )


def _marked_again(draft: Draft, said: str, embedder: Embedder) -> Answer:
    """The answer with the sentences marked that are nearest to question and output combined.

    Even a model that draws the wrong conclusion usually refers to the deciding sentence.
    """
    plain = " ".join(text for text, _ in support.split_sentences(said))
    if not plain:
        return draft.answer
    both = embedder.encode_questions([draft.asked, plain]).sum(axis=0)
    [quotes] = citations.decisive([both], [draft.rules], embedder)
    text, cited = compose.quoted(draft.rules, quotes)
    return replace(draft.answer, text=text, citations=cited)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
