"""Texts for tests: a small release with the quirks of its numbers, and a hostile one."""

from index.rulebook import Edition, Example, Rule

HOSTILE = "<img src=x onerror=alert(1)> \"'`${1}{{2}} & </script><script>alert(2)</script>"

_RELEASE = """\
Magic: The Gathering Comprehensive Rules

These rules are effective as of {day}.

Introduction

This document holds numbered rules (704.5k is followed by 704.5m).

Contents

1. Game Concepts
100. General
101. The Magic Golden Rules

7. Additional Rules
702. Keyword Abilities

Glossary

Credits

1. Game Concepts

100. General

100.1. These rules apply to any Magic® game with two or more players.

100.1a A two-player game begins with two players. See rules 702.2b and 702.19b–c.

100.2 To play, each player needs a deck – “sixty cards” or more — and {{W/B}} or {{2/U}} mana.

A second paragraph can’t be lost: it’s the player’s.

Example: Ana’s deck has 61 cards. She may play.

Example: Bo has 59 cards. He “can’t.”

101. The Magic Golden Rules

101.1.Whenever a card contradicts these rules, the card takes precedence.

7. Additional Rules

702. Keyword Abilities

702.1. Most abilities describe exactly what they do in the card’s rules text.

702.2. Deathtouch

702.2a Deathtouch is a static ability.

702.2b. A creature dealt damage by a source with deathtouch is destroyed. See rule 704.

Glossary

Ability
1. Text on an object that explains what that object does.
2. An activated or triggered ability on the stack.
See rule 702, “Keyword Abilities.”

Deathtouch
A keyword ability. See rule 702.2, “Deathtouch.”

Credits

Game design: Richard Garfield

Published by Wizards of the Coast LLC.
"""


def small_release(day: str = "March 8, 2024") -> str:
    """A text in the publisher's form, as if it took effect on the day named."""
    return _RELEASE.format(day=day)


def hostile_book() -> Edition:
    """A book of one rule whose heading, text and example would run a script in a page."""
    rule = Rule("100.1", HOSTILE, "2020-01-01", "x", HOSTILE, (Example(HOSTILE),))
    return Edition("2020-01-01", {"100.1": rule}, {"100": HOSTILE})
