"""A conversation as HTML: its turns, what each answer says, and how sure it is."""

from collections.abc import Sequence
from html import escape

from index.editions import CURRENT
from page.cards import badge
from page.errors import here
from page.transcript import LONGEST_COMMENT, Turn, model_name, plain
from page.service import State
from qa.answer import Answer
from qa.citations import Citation
from qa.models import BOOK, NONE

_SURE = ((90, "high"), (70, "fair"), (0, "low"))  # percent
_THUMB = "M2 21h4V9H2zM22 10a2 2 0 0 0-2-2h-6l1-5-1-1-6 6v13h9a2 2 0 0 0 2-1z"
STARTERS = (
    "Can a creature with reach block my flyer?",
    "My trampler is blocked by two creatures. How much damage goes through?",
    "Does first strike damage count before regular damage?",
    "What is banding?",
    "702.19b",
)


BRAND = (
    '<header class="brand"><h1>Stickler</h1>'
    "<p>Rules questions, answered by the rules themselves.</p></header>"
)


def status(state: State, model: str, edition: str, words: bool, newest: str) -> str:
    """What is loading, and which edition and model answer the next question."""
    lamp = "" if state.ready else " failed" if state.failed else " loading"
    book = f"{edition}, {newest}" if edition == CURRENT else edition
    voice = model if words and model != NONE else "none, rules quoted"
    return (
        f'{BRAND}<div class="status" role="status"><span><i class="lamp{lamp}"></i>'
        f"{escape(state.words)}</span><span>Edition <b>{escape(book)}</b></span>"
        f"<span>Model <b>{escape(voice)}</b></span></div>"
    )


def conversation(turns: Sequence[Turn]) -> str:
    """The whole of it; what to ask where nothing was asked yet."""
    if not turns:
        chips = "".join(
            f'<button type="button" class="chip" data-ask="{escape(each)}">{escape(each)}</button>'
            for each in STARTERS
        )
        return (
            '<div class="talk talk-empty"><h2>Ask a rules question</h2>'
            '<p class="quiet">Stickler finds the rules that decide, quotes them word for word, and '
            f'says so where they do not settle it.</p><div class="chips">{chips}</div></div>'
        )
    busy = ' aria-busy="true"' if turns[-1].running else ""
    shown = "".join(_turn(turn, place) for place, turn in enumerate(turns))
    return (
        f'<div class="talk" role="log" aria-label="Conversation" tabindex="0"{busy}>'
        f'<h2 class="unseen">Conversation</h2>{shown}</div>'
    )


def _turn(turn: Turn, place: int) -> str:
    return (
        f'<article class="turn" data-turn="{place}"><h3 class="asked">{escape(turn.question)}</h3>'
        f"{_answer(turn, place)}</article>"
    )


def _answer(turn: Turn, place: int) -> str:
    answer = turn.answer
    if turn.failure:
        return f'<p class="failure" role="alert">{escape(turn.failure)}</p>'
    if answer is None:
        return f'<p class="waiting"><span class="dot"></span>{escape(turn.waiting)}</p>'
    parts = []
    if answer.standalone_question:
        parts.append(
            f'<p class="understood">Understood as: {escape(answer.standalone_question)}</p>'
        )
    if answer.verdict:
        parts.append(
            f'<p><span class="verdict verdict-{escape(answer.verdict)}">'
            f"{escape(answer.verdict.capitalize())}</span></p>"
        )
    if answer.abstained:
        parts.append(_abstention(answer))
    elif answer.said:
        parts.append(f'<p class="said">{_said(answer, place)}</p>')
    if turn.running and turn.draft:
        parts.append(
            f'<p class="draft" aria-live="off"><span class="draft-name">Draft, not yet checked'
            f"</span>{escape(turn.draft)}</p>"
        )
    elif turn.running:
        parts.append(f'<p class="waiting"><span class="dot"></span>{escape(turn.waiting)}</p>')
    cited = [citation for citation in answer.citations if citation.quote]
    if cited:
        rows = "".join(_cited(citation, place) for citation in cited)
        parts.append(f'<ol class="cited">{rows}</ol>')
    parts += [f'<p class="note">{escape(note)}</p>' for note in notes(turn)]
    if not turn.running:
        parts.append(_foot(turn, place))
    return "".join(parts)


def _cited(citation: Citation, place: int) -> str:
    heading = f'<span class="heading">{escape(citation.heading)}</span>'
    return (
        f"<li>{_jump(citation.number, place)} {heading}"
        f"<blockquote>{escape(citation.quote)}</blockquote></li>"
    )


def _jump(number: str, place: int) -> str:
    """A citation: it brings the rule's card into view."""
    shown = escape(number)
    return (
        f'<a class="cite" href="#card-{shown}" data-cite="{shown}" data-turn="{place}" '
        f'aria-label="Rule {shown}: show the evidence">{shown}</a>'
    )


def _said(answer: Answer, place: int) -> str:
    """The model's supported sentences, their numbers in brackets as citations."""
    text = escape(answer.said)
    for number in {citation.number for citation in answer.citations if citation.quote}:
        text = text.replace(f"[{escape(number)}]", _jump(number, place))
    return text


def _abstention(answer: Answer) -> str:
    return (
        '<div class="abstained"><p class="abstained-name">Not settled by the rules loaded</p>'
        f"<p>{escape(answer.text)}</p></div>"
    )


def notes(turn: Turn) -> list[str]:
    """What a reader should know of how the answer came about."""
    answer = turn.answer
    if answer is None or turn.running:
        return []
    found = []
    failed = [citation.number for citation in answer.citations if not citation.quote]
    if turn.stopped:
        found.append("Stopped: the model did not finish.")
    if failed:
        found.append(f"The model named {', '.join(failed)}: not checked, not to be trusted.")
    if answer.unsupported:
        many = "1 sentence" if answer.unsupported == 1 else f"{answer.unsupported} sentences"
        found.append(f"Not shown: {many} of the model without support in the rules.")
    if answer.reason and not answer.abstained:
        found.append(here(answer.reason))
    return found


def confidence(answer: Answer) -> str:
    """How sure the answer is, in a word and a number; nothing for what was only looked up."""
    if answer.model == BOOK:
        return ""
    hundred = round(answer.confidence * 100)
    word = next(name for least, name in _SURE if hundred >= least)
    means = "How likely a rule that decides is among the cited"
    told = f"Confidence {hundred}&#8239;% ({word})"
    if answer.abstained:
        means, told = "How likely the rules loaded settle it", f"Settled: {hundred}&#8239;% likely"
    return (
        f'<span class="sure sure-{word}" title="{means}"><span class="bar" aria-hidden="true">'
        f'<i style="width:{hundred}%"></i></span>{told}</span>'
    )


def _foot(turn: Turn, place: int) -> str:
    answer = turn.answer
    assert answer is not None
    told = [confidence(answer), badge(answer.edition), escape(model_name(answer.model))]
    if "total_ms" in answer.timings:
        told.append(_took(answer.timings["total_ms"]))
    shown = "".join(f"<span>{each}</span>" for each in told if each)
    voted = {"up": "Noted as right. Thank you.", "down": "Noted as wrong. Thank you."}
    vote = (
        f'<span class="voted" role="status">{voted[turn.vote]}</span>'
        if turn.vote
        else _vote_buttons()
    )
    return (
        f'<footer class="foot"><p class="told">{shown}</p>'
        f'<div class="acts"><button type="button" data-copy="{escape(plain(answer))}">Copy</button>'
        f"{vote}</div>{'' if turn.vote else _vote_form(place)}</footer>"
    )


def _took(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f}&#8239;ms"
    return f"{milliseconds / 1000:.1f}&#8239;s"


def _vote_buttons() -> str:
    return "".join(
        f'<button type="button" data-vote="{vote}" aria-expanded="false">'
        f'<svg class="thumb" viewBox="0 0 24 24" aria-hidden="true"><path d="{_THUMB}"/></svg>'
        f"{name}</button>"
        for vote, name in (("up", "Right"), ("down", "Wrong"))
    )


def _vote_form(place: int) -> str:
    return (
        f'<form class="comment" data-turn="{place}" hidden><label for="comment-{place}">'
        f'What should we know? (optional)</label><textarea id="comment-{place}" rows="2" '
        f'maxlength="{LONGEST_COMMENT}"></textarea><button type="submit">Send</button></form>'
    )
