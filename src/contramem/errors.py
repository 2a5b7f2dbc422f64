"""Every error a user can fix, as one tree.

ContramemError
├── TraceError        a run, or a whole file, that cannot be read: where, what, what to do
└── UsageError        a command or call that asks for something that cannot be done as asked
"""


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
