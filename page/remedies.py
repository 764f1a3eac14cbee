"""What to do about an error, in the words of the page.

>>> error.sentence(phrase)
'There is no rule 999.9 in the current edition: look through the sections in the Rules tab.'
"""

from index.errors import Action, Remedy

# An empty phrase is left out: on the page there is nothing to do about it.
_PHRASES = {
    Action.ADD_RULES: "add the full rules in the Rules tab, under Rules documents",
    Action.GET_LATEST: "get the latest rules in the Rules tab",
    Action.READD_RULES: "remove the edition {value} on the server itself, then add it again in "
    "the Rules tab, under Rules documents",
    Action.LIST_HEADINGS: "look through the sections in the Rules tab",
    Action.LIST_DOCUMENTS: "see Rules documents in the Rules tab",
    Action.NAME_EDITION: "add it on the server itself, where its edition can be given",
    Action.BUILD_INDEX: "run 'stickler index build' on the server itself",
    Action.TUNE: "",
    Action.GET_MODEL: "wait until it has been downloaded, or restart the page",
    Action.CHOOSE_MODEL: "choose another in the settings",
    Action.CHOOSE_NO_MODEL: "choose 'none' in the settings",
    Action.CHOOSE_FORMAT: "",
    Action.CHOOSE_COLUMN: "choose the one with the questions",
    Action.CHOOSE_FIELDS: "",
    Action.FEWER_WORKERS: "",
    Action.RESTART: "choose the file again",
    Action.LEAVE_OUT_RAY: "",
    Action.LEAVE_OUT_ADDRESS: "",
    Action.CONTINUE_RUN: "",
    Action.CLEAR_CACHE: "run 'stickler cache clear' on the server itself",
    Action.ADD_SET: "choose one from the list",
}


def phrase(remedy: Remedy) -> str:
    """A remedy as a visitor can carry it out; '' for what cannot be done on a page."""
    return _PHRASES[remedy.action].format(value=remedy.value)
