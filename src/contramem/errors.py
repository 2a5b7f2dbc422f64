"""Every error a user can fix, as one tree.

ContramemError
├── BankFileError     a frozen bank that cannot be read or written: file and line, what, what to do
├── BudgetError       a build that would spend more than it may; what was paid for is kept
├── ComparisonError   two sets of runs that cannot be compared as asked
├── EngineError       workers that cannot be started or that die; decisions made so far are kept
├── GuardError        a guard that cannot be parsed
├── HarmError         memory harmed more tasks than the caller allows
├── LeakageError      an experiment whose held-out tasks occur in its training data
├── ModelError        a model that cannot be asked, or does not answer; what was paid for is kept
├── PatchError        a decision that does not fit the bank it is for
├── ServerError       a `contramem serve` that does not answer, or that refuses
├── StoreError        a store that cannot be opened or written, or that somebody else is building
├── TaskError         one task of a benchmark that cannot be run; the others can
├── TraceError        a run, or a whole file, that cannot be read: where, what, what to do
└── UsageError        a command or call that asks for something that cannot be done as asked
"""

import collections.abc


def nearest(name: str, known: collections.abc.Iterable[str]) -> str:
    """How to end a message about an unknown name: `; did you mean 'seed'?` if a known name is close, else `.`."""
    import difflib  # only when something is wrong already

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else "."


class ContramemError(Exception):
    """Base of everything contramem raises on purpose. A bug is never one of these."""


class TraceError(ContramemError):
    """One run, or one file, cannot be read. Reading goes on with the next."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"{what}. {hint}" if hint else what)
        self.what = what
        self.hint = hint


class UsageError(ContramemError):
    """The request itself is the problem: an option, a name, a file that is not there."""


class TaskError(ContramemError):
    """One task cannot be run by any agent. It gets no outcome; the other tasks continue."""


class EngineError(ContramemError):
    """Workers cannot be started, or keep dying. Decisions made so far are in the store."""


class ComparisonError(ContramemError):
    """Runs without and with memory cannot be paired: tasks on one side only, no outcome, or an unknown side."""


class HarmError(ContramemError):
    """The comparison was made and printed; more tasks were harmed than the caller allows."""


class LeakageError(ContramemError):
    """Held-out tasks are among the runs that memories are built from. Nothing was run."""


class BankFileError(ContramemError):
    """A frozen bank cannot be read or written."""


class PatchError(ContramemError):
    """A decision does not fit the bank: it names cards that are not there, or changes what a person has pinned."""


class ModelError(ContramemError):
    """A model cannot be asked: wrong key, wrong name, a provider that is down. Replies that came before are kept."""


class BudgetError(ContramemError):
    """The next call could cost more than is left of the budget. It was not made; replies that came before are kept."""


class ServerError(ContramemError):
    """A server does not answer, or refuses: no token, no such run, a body that it cannot read."""


class StoreError(ContramemError):
    """A store cannot be opened or written as asked. What was recorded before is untouched."""


class GuardError(ContramemError):
    """A text that should be a guard does not parse."""
