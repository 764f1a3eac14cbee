"""A conversation as HTML: its turns, what each answer says, and how sure it is."""

from collections.abc import Sequence
from html import escape

from page import answer_link
from page.cards import badge
from page.errors import render_failure
from page.transcript import MAX_COMMENT, Turn, as_text, describe_model
from qa.answer import Answer
from qa.answer_cache import FROM_CACHE
from qa.citations import Citation
from qa.compose import ADD_RULES, DEPENDS, SIMILAR, with_number
from qa.models import BOOK
from qa.verdict import describe_confidence

_SURE = ((90, "high"), (70, "fair"), (0, "low"))  # percent
_THUMB = "M2 21h4V9H2zM22 10a2 2 0 0 0-2-2h-6l1-5-1-1-6 6v13h9a2 2 0 0 0 2-1z"
STARTERS = (
    "Can a creature with reach block my flyer?",
    "My trampler is blocked by two creatures. How much damage goes through?",
    "Does first strike damage count before regular damage?",
    "What is banding?",
    "702.19b",
)
_UNSURE = "Its explanation, although it is not sure"
_CHANGED = "changed since the link was created"
_TOO_LONG = "The question is too long for a link. Copy the answer instead."
_VOTES = {"up": "Noted as right. Thank you.", "down": "Noted as wrong. Thank you."}
HISTORY = (
    '<details class="past"><summary>History</summary><div><p class="quiet">Questions asked in this '
    'browser. They stay here.</p><label class="unseen" for="past-find">Search the history'
    '</label><input id="past-find" type="search" placeholder="Search"><div class="talks"></div>'
    '<p class="quiet past-none" role="status"></p>'
    '<button type="button" class="past-all" hidden>Delete all</button></div></details>'
)
BRAND = (
    '<header class="brand"><h1>Stickler</h1>'
    "<p>Answers to rules questions, straight from the rules.</p></header>"
)


def render_conversation(turns: Sequence[Turn]) -> str:
    """All its turns; what to ask where nothing was asked yet."""
    if not turns:
        chips = "".join(
            f'<button type="button" class="chip" data-ask="{escape(each)}">{escape(each)}</button>'
            for each in STARTERS
        )
        return (
            '<div class="conversation conversation-empty"><h2>Ask a rules question</h2>'
            '<p class="quiet">Stickler quotes the rules that settle your question word for '
            f"word, and says so if none do."
            f'</p><div class="chips">{chips}</div></div>'
        )
    busy = ' aria-busy="true"' if turns[-1].running else ""
    shown = "".join(_render_turn(turn, place) for place, turn in enumerate(turns))
    return (
        f'<div class="conversation" role="log" aria-label="Conversation" tabindex="0"{busy}>'
        f'<h2 class="unseen">Conversation</h2>{shown}</div>'
    )


def _render_turn(turn: Turn, place: int) -> str:
    return (
        f'<article class="turn" data-turn="{place}">'
        f'<h3 class="question">{escape(turn.question)}</h3>{_render_reply(turn, place)}</article>'
    )


def _render_reply(turn: Turn, place: int) -> str:
    """What there is so far: a failure, why there is nothing yet, or the answer."""
    if turn.failure:
        return render_failure(turn.failure)
    if turn.answer is None:
        return _render_waiting(turn)
    cited, reading = _render_citations(turn, place), _render_reading(turn.answer, place)
    return "".join(
        [
            _render_opening(turn.answer),
            _render_open_condition(turn.answer, place),
            *([reading, cited] if turn.answer.sure else [cited, reading]),
            _render_similar_questions(turn.answer, place),
            _render_waiting(turn) if turn.running else "",
            *(f'<p class="note">{escape(note)}</p>' for note in notes(turn)),
            "" if turn.running else _render_footer(turn.answer, turn.vote, place),
        ]
    )


def _render_waiting(turn: Turn) -> str:
    """What the model has written so far, or what is being waited for."""
    if turn.draft:
        return (
            f'<p class="draft" aria-live="off"><span class="draft-name">Draft, not yet checked'
            f"</span>{escape(turn.draft)}</p>"
        )
    return f'<p class="waiting"><span class="dot"></span>{escape(turn.waiting)}</p>'


def _render_opening(answer: Answer) -> str:
    """What stands before the cited rules: how it was understood, or that nothing settles it."""
    parts = []
    if answer.standalone_question:
        parts.append(
            f'<p class="understood">Understood as: {escape(answer.standalone_question)}</p>'
        )
    if answer.abstained:
        parts.append(_render_abstention(answer))
    return "".join(parts)


def _render_open_condition(answer: Answer, place: int) -> str:
    """What the answer depends on, and the rule for each side."""
    condition = answer.open_condition
    if condition is None:
        return ""
    rows = "".join(
        f"<dt>{escape(each.side[0].upper() + each.side[1:])}</dt>"
        f"<dd>{_card_link(each.number, place)} <q>{escape(each.quote)}</q></dd>"
        for each in condition.branches
    )
    return (
        f'<div class="depends"><p>{DEPENDS}: <b>{escape(condition.name)}</b></p>'
        f"<dl>{rows}</dl></div>"
    )


def _render_similar_questions(answer: Answer, place: int) -> str:
    """Questions like this one, each with what the rules answered to it."""
    if not answer.similar_questions:
        return ""
    rows = "".join(
        f"<dt>{escape(each.question)}</dt>"
        f"<dd>{_linked(with_number(each), [each.number], place)}</dd>"
        for each in answer.similar_questions
    )
    return f'<div class="similar"><p class="similar-name">{SIMILAR}</p><dl>{rows}</dl></div>'


def _render_reading(answer: Answer, place: int) -> str:
    """What the model makes of the rules, marked as its own: verdict, how sure, sentences."""
    if not (answer.verdict or answer.generated):
        return ""
    parts = [f'<p class="reading-name">As {escape(answer.model)} reads it</p>']
    if answer.verdict:
        sure = describe_confidence(answer)
        told = f' <span class="quiet">{escape(sure)}</span>' if sure else ""
        parts.append(
            f'<p><span class="verdict verdict-{escape(answer.verdict)}">'
            f"{escape(answer.verdict.capitalize())}</span>{told}</p>"
        )
    if answer.generated:
        cited = [citation.number for citation in answer.cited]
        sentences = f'<p class="generated">{_linked(answer.generated, cited, place)}</p>'
        if answer.unsure:
            sentences = f"<details><summary>{_UNSURE}</summary>{sentences}</details>"
        parts.append(sentences)
    return f'<div class="reading">{"".join(parts)}</div>'


def _render_citations(turn: Turn, place: int) -> str:
    cited = turn.answer.cited if turn.answer else []
    condition = turn.answer.open_condition if turn.answer else None
    quoted = {each.quote for each in condition.branches} if condition else set()
    rows = "".join(
        _render_citation(each, place, each.number in turn.changed)
        for each in cited
        if each.quote not in quoted or each.number in turn.changed
    )
    return f'<ol class="cited">{rows}</ol>' if rows else ""


def _render_citation(citation: Citation, place: int, changed: bool) -> str:
    heading = f'<span class="heading">{escape(citation.heading)}</span>'
    mark = f' <span class="changed">{_CHANGED}</span>' if changed else ""
    return (
        f"<li>{_card_link(citation.number, place)} {heading}{mark}"
        f"<blockquote>{escape(citation.quote)}</blockquote></li>"
    )


def _card_link(number: str, place: int) -> str:
    """A citation: it brings the rule's card into view."""
    shown = escape(number)
    return (
        f'<a class="cite" href="#card-{shown}" data-cite="{shown}" data-turn="{place}" '
        f'aria-label="Rule {shown}: show the evidence">{shown}</a>'
    )


def _linked(sentences: str, numbers: Sequence[str], place: int) -> str:
    """Sentences with these numbers, where they stand in brackets, as citations."""
    text = escape(sentences)
    for number in dict.fromkeys(numbers):
        text = text.replace(f"[{escape(number)}]", _card_link(number, place))
    return text


def _render_abstention(answer: Answer) -> str:
    hint = ""
    if ADD_RULES in answer.text:
        hint = '<p class="quiet">You can add documents in the Rules tab, under Rules documents.</p>'
    return (
        '<div class="abstained"><p class="abstained-name">Not settled by the loaded rules</p>'
        f"<p>{escape(answer.text)}</p>{hint}</div>"
    )


def notes(turn: Turn) -> list[str]:
    """What a reader should know of how the answer came about."""
    answer = turn.answer
    if answer is None or turn.running:
        return []
    found = []
    if turn.stopped:
        found.append("Stopped: the model did not finish.")
    if turn.changed:
        found.append(
            f"The link to this answer cited {', '.join(turn.changed)}, {_CHANGED}: reread it."
        )
    if answer.unverified:
        numbers = ", ".join(answer.unverified)
        found.append(f"The model named {numbers}: this is not verified, so do not rely on it.")
    if answer.unsupported:
        many = "1 sentence" if answer.unsupported == 1 else f"{answer.unsupported} sentences"
        found.append(f"Not shown: {many} from the model that the rules do not support.")
    if answer.reason and not answer.abstained:
        found.append(answer.reason)
    return found


def render_confidence(answer: Answer) -> str:
    """How sure the answer is, in a word and a number; nothing for what was only looked up."""
    if answer.model == BOOK:
        return ""
    percent = round(answer.confidence * 100)
    word = next(name for least, name in _SURE if percent >= least)
    meaning, label = (
        ("How likely it is that the loaded rules settle this", f"Settled: {percent}% likely")
        if answer.abstained
        else (
            "How likely it is that a deciding rule is among those cited",
            f"Confidence {percent}% ({word})",
        )
    )
    return (
        f'<span class="sure sure-{word}" title="{meaning}"><span class="bar" aria-hidden="true">'
        f'<i style="width:{percent}%"></i></span>{label}</span>'
    )


def _render_footer(answer: Answer, vote: str, place: int) -> str:
    facts = [render_confidence(answer), badge(answer.edition), escape(describe_model(answer.model))]
    if "total_ms" in answer.timings:
        facts.append(_format_duration(answer.timings["total_ms"]))
    if FROM_CACHE in answer.timings:
        facts.append("from the cache")
    shown = "".join(f"<span>{each}</span>" for each in facts if each)
    buttons = (
        f'<span class="voted" role="status">{_VOTES[vote]}</span>' if vote else _vote_buttons()
    )
    return (
        f'<footer class="foot"><p class="facts">{shown}</p><div class="acts">'
        f'<button type="button" data-copy="{escape(as_text(answer))}">Copy</button>'
        f"{_link_button(answer)}{buttons}</div>{'' if vote else _vote_form(place)}</footer>"
    )


def _link_button(answer: Answer) -> str:
    """Copies a link that asks the question again."""
    address = answer_link.address(answer)
    if address is None:
        return f'<button type="button" disabled title="{_TOO_LONG}">Copy link</button>'
    return f'<button type="button" data-address="{escape(address)}">Copy link</button>'


def _format_duration(milliseconds: float) -> str:
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
        f'Any comments? (optional)</label><textarea id="comment-{place}" rows="2" '
        f'maxlength="{MAX_COMMENT}"></textarea><button type="submit">Send</button></form>'
    )
