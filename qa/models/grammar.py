"""The form of an answer as a grammar of llama.cpp (GBNF): short sentences, each with its rule.

A rule that was not shown cannot be cited: its number cannot be written.
"""

from collections.abc import Sequence

MAX_SENTENCES = 3
_LEAST, _MOST = 12, 320  # characters of a sentence
# What a sentence is made of: Latin letters and the rulebook's signs, without those that end one.
_SIGNS = '"--/-;=@-Z^-~\u00c0-\u024f\u2013\u2014\u2018\u2019\u201c\u201d\u2212'


def answer_grammar(citable: Sequence[str], lead: str = "") -> str:
    """One to three sentences, each ending in the number of one of these rules.

    `lead` is what stands before the first, as GBNF.
    """
    numbers = " | ".join(f'"{number}"' for number in citable)
    return "\n".join(
        [
            f'root ::= {lead} sentence (" " sentence){{0,{MAX_SENTENCES - 1}}}',
            'sentence ::= text " [" number "]."',
            f"text ::= [{_SIGNS}] [ {_SIGNS}]{{{_LEAST},{_MOST}}}",
            f"number ::= {numbers}",
        ]
    )
