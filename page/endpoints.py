"""The page's named endpoints, for programs: /ask, /batch, /search and /rule.

>>> gradio_client.Client("http://127.0.0.1:7860").predict("702.19b", api_name="/rule")
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from cli.rules import hit_json, rule_json
from index.editions import CURRENT
from index.errors import SticklerError
from index.searcher import check
from page import batching
from page.errors import told
from page.service import Service, Waiting
from qa.answer import Answer

NAMES = ("ask", "batch", "search", "rule")
_MOST_HITS = 100
_MOST_BEFORE = 30
_MOST_QUESTIONS = 100  # of a list: a longer one is a file for the tab Batch


def declare(service: Service) -> None:
    """Declare the endpoints inside the Blocks being built."""
    from gradio.events import api

    def ask(
        question: str,
        before: list[str] | None = None,
        edition: str = CURRENT,
        model: str = "",
        rules: int = 0,
        words: bool | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Answer a rules question with checked citations, as a stream of JSON answers.

        Args:
            question: The question, in at most 4000 characters.
            before: The conversation's earlier questions, oldest first: a follow-up leans on them.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            model: The language model; empty for the one that the page was started with.
            rules: About how many rules to cite, 2 to 8; 0 for the page's own setting.
            words: Whether the model's supported sentences are shown; null for the page's setting.

        Returns:
            First the evidence, then the same answer with the model's growing 'raw' text, and last
            the whole answer, whose citations are checked.
        """
        with told():
            settings = service.settings(model, edition, rules, words)
            asked = (before or [])[-_MOST_BEFORE:]
            with (
                service.stoppable("") as stop,
                closing(service.ask(question, asked, settings, stop)) as stream,
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
        words: bool | None = None,
    ) -> list[dict[str, Any]]:
        """Answer a list of questions, each by itself, as JSON answers in the same order.

        Args:
            questions: At most 100 questions, each in at most 4000 characters.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            model: The language model; empty for the one that the page was started with.
            rules: About how many rules to cite, 2 to 8; 0 for the page's own setting.
            words: Whether the model's supported sentences are shown; null for the page's setting.

        Returns:
            An answer for each question, with the id q1, q2 and so on; one that cannot be
            answered, such as an empty one, has 'error' in its place; the others are answered.
        """
        with told():
            settings = service.settings(model, edition, rules, words)
            if not 1 <= len(questions) <= _MOST_QUESTIONS:
                raise SticklerError(
                    f"Cannot answer {len(questions)} questions at once: send 1 to "
                    f"{_MOST_QUESTIONS}."
                )
            with service.stoppable("") as stop:
                return batching.listed(service, questions, settings, stop)

    def search(query: str, edition: str = CURRENT, limit: int = 10) -> list[dict[str, Any]]:
        """Find the rules that decide a question, best first.

        Args:
            query: A question in your own words, or a rule number.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.
            limit: How many rules, 1 to 100.

        Returns:
            The rules found, each with number, edition, heading, text, score and how it was found.
        """
        with told():
            check(query)
            if not 1 <= limit <= _MOST_HITS:
                raise SticklerError(f"Cannot find {limit} rules: choose 1 to {_MOST_HITS}.")
            return [hit_json(hit) for hit in service.searcher(60).search(query, limit, edition)]

    def rule(number: str, edition: str = CURRENT) -> list[dict[str, Any]]:
        """Look rules up by number, range, section or keyword, with what is below them.

        Args:
            number: 702.19b, 510.1c-d, 702, or a keyword such as trample.
            edition: 'current', or the day a rulebook took effect, like 2009-10-01.

        Returns:
            The rules, each with text, examples, references and the rules that refer to it.
        """
        with told():
            book = service.book.edition(edition)
            return [rule_json(book, each) for each in book.find(number)]

    api(ask, api_name="ask", concurrency_limit=40)
    api(batch, api_name="batch", concurrency_limit=4)
    api(search, api_name="search", concurrency_limit=4)
    api(rule, api_name="rule", concurrency_limit=4)
