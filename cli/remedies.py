"""What the command line tells people to do about an error: a phrase for each kind of remedy.

>>> phrase(Remedy(Action.BUILD_INDEX, "all-MiniLM-L6-v2"))
"run 'stickler index build --embedder all-MiniLM-L6-v2'"
"""

import re

from index.errors import Action, Remedy

# Each completes "What is wrong: ..., or ...". What stands in square brackets is left out where the
# remedy has no value.
PHRASES = {
    Action.ADD_RULES: "add a fuller document with 'stickler rules add FILE'",
    Action.GET_LATEST: "get the full rules with 'stickler rules latest'",
    Action.READD_RULES: "run 'stickler rules remove {value}' and add the edition again",
    Action.LIST_HEADINGS: "see 'stickler rules list'",
    Action.LIST_DOCUMENTS: "'stickler rules documents' lists what can be removed",
    Action.NAME_EDITION: "name the day with '--edition YYYY-MM-DD'",
    Action.BUILD_INDEX: "run 'stickler index build[ --embedder {value}]'",
    Action.TUNE: "tune again with 'stickler tune[ {value}]'",
    Action.GET_MODEL: "get it with 'stickler model get[ {value}]'",
    Action.CHOOSE_MODEL: "choose another --model",
    Action.CHOOSE_NO_MODEL: "use '--model none'",
    Action.CHOOSE_FORMAT: "name its format with --format",
    Action.CHOOSE_COLUMN: "name the column with the questions with --column",
    Action.CHOOSE_FIELDS: "name some with --fields, like id,text,error",
    Action.FEWER_WORKERS: "start fewer with --workers",
    Action.RESTART: "start over with --restart",
    Action.LEAVE_OUT_RAY: "leave out '--engine ray'",
    Action.LEAVE_OUT_ADDRESS: "leave out '--address'",
    Action.CONTINUE_RUN: "run 'stickler eval run[ -o {value}]'",
    Action.CLEAR_CACHE: "clear it with 'stickler cache clear'",
    Action.ADD_SET: "add your own with 'stickler eval add FILE'",
}


def phrase(remedy: Remedy) -> str:
    """What to do, in the words of the command line."""
    optional = r"\1" if remedy.value else ""
    words = re.sub(r"\[(.*?)\]", optional, PHRASES[remedy.action])
    return words.replace("{value}", remedy.value)
