"""The kinds of rules, a file each. A new file is found by being here.

at_most_once.py    a write that is not repeated
carry_out.py       a change that is made, and not only announced
convention.py      what only the runs of many tasks show, with conditions on data
every_item.py      a write that is due for each thing that a result lists
look_first.py      a look, or a change, before the answer
precedence.py      what has to have worked before a call
recovery.py        the way past an error that some runs found
response.py        what has to follow a call: a closer look, another look, another change
stop_when_done.py  a write that needs no second look
taken_from.py      which of several places a value is taken from
trap.py            an error that nobody got past
try_again.py       another value after a call that found nothing
value_source.py    where the values of an argument are read, instead of made up
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
"""By name."""
