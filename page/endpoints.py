"""The page's named endpoints, for programs: /ask, /batch, /search, /rule and /history.

>>> gradio_client.Client("http://127.0.0.1:7860").predict("702.19b", api_name="/rule")
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any

from index import history as rule_history
from index.editions import CURRENT, Rulebook
from index.errors import SticklerError
from index.hits import hit_json
from index.rulebook import Rule
from index.searcher import check
from page.batch_jobs import answer_list
from page.errors import gradio_errors
from page.service import Service, Waiting
from qa.answer import Answer

NAMES = ("ask", "batch", "search", "rule", "history")
_MAX_HITS = 100
_MAX_SECONDS = 60  # that a program waits for search to be loaded
_MAX_BEFORE = 30
_MAX_HISTORIES = 40  # rules: each is compared with every edition
_MAX_QUESTIONS = 100  # of a list: a longer one is a file for the tab Batch


def declare(service: Service) -> None:
    """Declare the endpoints inside the Blocks being built."""
    from gradio.events import api

    def ask(
        question: str,
        before: list[str] | None = None,
        edition: str = CURRENT,
        model: str = "",
        rules: int = 0,
        show_generated: bool | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Answer a question about the rules of Magic: The Gathering, with checked citations.

        The citations quote the deciding rules word for word, each with its edition. 'abstained' is
        true if the loaded rules do not settle the question. 'verdict' and 'generated' are a small
        language model's reading of the rules. 'similar_questions' are other questions that a
        language model answered in advance from these rules: their facts may differ, and they carry
        less weight than the rules. A caller that reads the stream gets the quoted rules first,
        then the model's growing 'raw' text, then the complete answer.

        Args:
            question: The question, in at most 4000 characters.
            before: The earlier questions of the conversation, oldest first, for follow-ups.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            model: The language model; empty for the one that the page was started with.
            rules: Roughly how many rules to cite, 2 to 8; 0 for the page's default.
            show_generated: Whether to show the model's reading, if a rule supports it; null for
                the page's default.

        Returns:
            The answer as JSON.
        """
        with gradio_errors():
            settings = service.settings_for(model, edition, rules, show_generated)
            earlier = (before or [])[-_MAX_BEFORE:]
            with (
                service.stop_event("") as stop,
                closing(service.ask(question, earlier, settings, stop)) as stream,
            ):
                answer: Answer | None = None
                for part in stream:
                    if isinstance(part, Answer):
                        answer = part
                    elif isinstance(part, Waiting) or answer is None:
                        continue
                    else:
                        answer = replace(answer, raw=answer.raw + part)
                    yield answer.to_json()

    def batch(
        questions: list[str],
        edition: str = CURRENT,
        model: str = "",
        rules: int = 0,
        show_generated: bool | None = None,
    ) -> list[dict[str, Any]]:
        """Answer a list of independent questions; returns JSON answers in the same order.

        Args:
            questions: At most 100 questions, each in at most 4000 characters.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            model: The language model; empty for the one that the page was started with.
            rules: About how many rules to cite, 2 to 8; 0 for the page's own setting.
            show_generated: Whether the sentences that the model generates are shown, as far as a
                rule supports them; null for the page's own setting.

        Returns:
            An answer for each question, with the ids q1, q2 and so on. A question that cannot be
            answered, such as an empty one, has an 'error' instead; the others are answered.
        """
        with gradio_errors():
            settings = service.settings_for(model, edition, rules, show_generated)
            if not 1 <= len(questions) <= _MAX_QUESTIONS:
                raise SticklerError(
                    f"Cannot answer {len(questions)} questions at once: send 1 to {_MAX_QUESTIONS}."
                )
            with service.stop_event("") as stop:
                return answer_list(service, questions, settings, stop)

    def search(query: str, edition: str = CURRENT, limit: int = 10) -> list[dict[str, Any]]:
        """Find the rules that decide a question, best first.

        Args:
            query: A question in your own words, or a rule number.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            limit: How many rules, 1 to 100.

        Returns:
            The rules found, each with number, edition, heading, text, score and how it was found.
        """
        with gradio_errors():
            check(query)
            if not 1 <= limit <= _MAX_HITS:
                raise SticklerError(f"Cannot find {limit} rules: choose 1 to {_MAX_HITS}.")
            searcher = service.wait_for_searcher(_MAX_SECONDS)
            [found] = searcher.search([query], limit, edition)
            return [hit_json(hit) for hit in found.hits]

    def rule(number: str, edition: str = CURRENT) -> list[dict[str, Any]]:
        """Look up rules by number, range, section or keyword, including their subrules.

        Args:
            number: 702.19b, 510.1c-d, 702, or a keyword such as trample.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.

        Returns:
            The rules, each with text, examples, references and the rules that refer to it.
        """
        with gradio_errors():
            book = service.resources.rulebook.edition(edition)
            return [book.rule_json(each) for each in book.find(number)]

    def history(number: str, edition: str = CURRENT) -> list[list[dict[str, Any]]]:
        """Show how rules were worded in every edition, and what changed word by word.

        'changes' are the pieces of a text, each 'same', 'gone' or 'new' since the previous version.

        Args:
            number: 702.19b, 510.1c-d, or a keyword such as trample.
            edition: Where the number is looked up: 'current', or a day like 2009-10-01.

        Returns:
            For each rule its versions, oldest first, each with its text and what changed in it.
        """
        with gradio_errors():
            book = service.resources.rulebook
            found = book.edition(edition).find(number)
            if len(found) > _MAX_HISTORIES:
                raise SticklerError(
                    f"'{number[:40]}' matches {len(found)} rules: name at most {_MAX_HISTORIES}."
                )
            return [version_rows(each, book) for each in found]

    api(ask, api_name="ask", concurrency_limit=40)
    api(batch, api_name="batch", concurrency_limit=4)
    api(search, api_name="search", concurrency_limit=4)
    api(rule, api_name="rule", concurrency_limit=4)
    api(history, api_name="history", concurrency_limit=2)


def version_rows(rule: Rule, rulebook: Rulebook) -> list[dict[str, Any]]:
    """A rule in every edition that has it, as JSON."""
    return [{**asdict(v.rule), "changes": v.changes} for v in rule_history.history(rule, rulebook)]
