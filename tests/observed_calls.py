"""Observed calls for tests of Function Cards, made one by one."""

from contramem.build.functions.card import build_function_card
from contramem.contrast.form import ResultForm
from contramem.contrast.observation import Observation
from contramem.contrast.signal import Cite
from contramem.contrast.vocabulary import Vocabulary

RECORD = ResultForm("record", ("id", "status"))


def call(arguments=None, *, task="t1", run="A", position=0, function="Mail.delete_email", **other):
    """One observed call. Forms follow from the values unless they are given."""
    arguments = arguments or {}
    kinds = {str: "text", int: "integer", bool: "boolean", list: "list of texts", type(None): "null"}
    known = {
        "function": function,
        "effect": "write",
        "arguments": arguments,
        "forms": {name: kinds[type(value)] for name, value in arguments.items()},
        "origins": {},
        "form": RECORD,
        "error": "",
        "fix": (),
        "repeated": False,
        "passed": None,
        "task_key": task,
        "cite": Cite(run, position),
    }
    return Observation(**(known | other))


def failed(error, arguments=None, **other):
    return call(arguments, error=error, form=None, **other)


def card_of(*calls, tool=None, vocabulary=None, function="Mail.delete_email"):
    return build_function_card(function, calls, tool, vocabulary or Vocabulary())


def found(n=3, **other):
    """Calls that show where their `email_id` comes from: enough to be worth a card."""
    given = {"arguments": {"email_id": "<ID_1>"}, "origins": {"email_id": "Mail.search_emails"}} | other
    return [call(run=f"f{number}", **given) for number in range(n)]


def argument(card, name):
    return next(argument for argument in card.arguments if argument.name == name)
