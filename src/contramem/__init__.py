"""contramem: procedural memory for agents, learned from contrasting runs of several models at the same tasks.

The folders are stages, in the order data flows through them; pipeline.py tells the story, and each folder's own
`__init__.py` says what is in it.

    traces/      files of any agent framework  -> Trajectory   one attempt at one task, with its outcome
    collection/  trajectories                  -> Collection   every run once, by task, in one file; and every value
    privacy/     all values                    -> Public       what may be read, said and kept
    contrast/    trajectories of one task      -> Packet       all attempts side by side, and what separates them
    mining/      all runs at once              -> Lesson       what passing runs do and failing ones don't, by rules
    build/       packet + author               -> Patch        Function Cards and Skill Cards, by rules or a model
    validate/    card, delta, patch            -> accepted, or refused with a reason
    bank/        patch                         -> Bank, Ledger cards now, every decision ever
    retrieve/    task + frozen bank            -> Hit          ranked cards, with the score explained
    inject/      hits + running agent          -> Guidance     text at task start and before a call
    guards/      guards + live events          -> Obligation   what is still owed, what was just broken
    study/       all runs + a supposition      -> Trial        the instruments of an author: look, try, explain, propose
    evaluate/    runs with and without memory  -> Comparison   paired statistics, harmed tasks
    llm/         beside the flow: asks models, for build/ and agents under test
    cli/         the command line: thin
    server/      explorer, review in the browser, HTTP API: thin

Beside them engine.py runs heavy stages in several processes and ray_engine.py on a cluster, prompts.py fills the .jinja
files, counting.py counts tokens, chance.py computes how likely chance explains a difference, grading.py says what
grades mean, progress.py tells how far long work is, watch.py learns from runs as they appear, whole_file.py writes a
file whole or not at all, file_lock.py lets one process in at a time, scratch.py makes temporary folders, and errors.py
has every error, drawn as a tree. What shows that contramem works (environments, experiments, other memories)
is a package of its own, contramem_lab.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, which takes a tenth of the time that a hook may take
if TYPE_CHECKING:
    from typing import Any

    from contramem.bank.frozen import load_frozen
    from contramem.bank.store import open_store
    from contramem.build.rules.author import RuleAuthor
    from contramem.collection.runs import Collection
    from contramem.contrast.packet import Packet, contrast
    from contramem.contrast.signal import Signal
    from contramem.errors import ContramemError
    from contramem.inject.guidance import Guidance
    from contramem.inject.run import Memory, Run
    from contramem.pipeline import build_bank, learn
    from contramem.traces.read import read_traces
    from contramem.traces.reader import ReadOptions
    from contramem.traces.trajectory import Event, Trajectory
    from contramem.traces.write import write_traces

# Names are imported when they are used: an agent that only asks for guidance must not pay for building a bank.
_HOMES = {
    "Collection": "contramem.collection.runs",
    "ContramemError": "contramem.errors",
    "Event": "contramem.traces.trajectory",
    "Guidance": "contramem.inject.guidance",
    "Memory": "contramem.inject.run",
    "Packet": "contramem.contrast.packet",
    "ReadOptions": "contramem.traces.reader",
    "RuleAuthor": "contramem.build.rules.author",
    "Run": "contramem.inject.run",
    "Signal": "contramem.contrast.signal",
    "Trajectory": "contramem.traces.trajectory",
    "build_bank": "contramem.pipeline",
    "contrast": "contramem.contrast.packet",
    "learn": "contramem.pipeline",
    "load_frozen": "contramem.bank.frozen",
    "open_store": "contramem.bank.store",
    "read_traces": "contramem.traces.read",
    "write_traces": "contramem.traces.write",
}

__all__ = [
    "Collection",
    "ContramemError",
    "Event",
    "Guidance",
    "Memory",
    "Packet",
    "ReadOptions",
    "RuleAuthor",
    "Run",
    "Signal",
    "Trajectory",
    "build_bank",
    "contrast",
    "learn",
    "load_frozen",
    "open_store",
    "read_traces",
    "write_traces",
]


_RENAMED = {"Pool": "Collection"}
"""Names of the last release; the next one has only the new ones."""


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        from warnings import warn

        name, old = _RENAMED[name], name
        warn(f"contramem.{old} is now contramem.{name}.", DeprecationWarning, stacklevel=2)
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'contramem' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
