"""The kinds of rules, one per file. A new file is found because it is in this folder.

allowed_value.py   the values that a tool takes for an argument
argument_form.py   how a value must be written for a tool to take it
at_most_once.py    a write that must not be repeated
convention.py      what only the runs of many tasks show, with conditions on data
every_item.py      a write required for each thing that a result lists
last_words.py      no question that nobody answers, and no call that is only written down
look_first.py      a read before the answer
precedence.py      what must have worked before a call
recovery.py        the way past an error that some runs found
required_argument.py  an argument that a tool demands
response.py        what must follow a call: a closer look, a check, another change
stop_when_done.py  a write that needs no check afterwards
taken_from.py      which of several places a value is taken from
trap.py            an error that no run got past
try_again.py       another value after a call that found nothing
value_source.py    where the values of an argument are read, instead of being made up
"""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from contramem.build.rules.rule import Rule


def _find() -> dict[str, type[Rule]]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    kinds = [kind for kind in classes if issubclass(kind, Rule) and not isabstract(kind)]
    return {kind.KIND: kind for kind in sorted(kinds, key=lambda kind: kind.KIND)}


KINDS = _find()
"""The kinds by name."""
