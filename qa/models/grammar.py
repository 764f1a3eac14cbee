"""The format of an answer as a llama.cpp grammar (GBNF): short sentences, each citing a rule.

A rule that was not shown cannot be cited, because the grammar does not allow its number.
"""

from collections.abc import Sequence

MAX_SENTENCES = 3
_MIN_LENGTH, _MAX_LENGTH = 12, 320  # characters of a sentence
# Characters of a sentence: Latin letters and the rulebook's symbols, except those that end it.
_SIGNS = '"--/-;=@-Z^-~\u00c0-\u024f\u2013\u2014\u2018\u2019\u201c\u201d\u2212'


def answer_grammar(citable: Sequence[str], lead: str = "") -> str:
    """One to three sentences, each ending in the number of one of these rules.

    `lead` is what comes before the first one, as GBNF.
    """
    numbers = " | ".join(f'"{number}"' for number in citable)
    return "\n".join(
        [
            f'root ::= {lead} sentence (" " sentence){{0,{MAX_SENTENCES - 1}}}',
            'sentence ::= text " [" number "]."',
            f"text ::= [{_SIGNS}] [ {_SIGNS}]{{{_MIN_LENGTH},{_MAX_LENGTH}}}",
            f"number ::= {numbers}",
        ]
    )
