"""`contramem mcp --author`: serves the instruments of an author over standard input and output."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from contramem.bank.locate import store_only
from contramem.cli.study_runs import study_runs
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG
from contramem.traces.reader import ReadOptions

if TYPE_CHECKING:
    from contramem.study.instruments import Instruments


def serve_author(runs: str, store: str, name: str) -> None:
    """Serve until the client disconnects. The runs are read once, when the first tool is called."""
    try:
        from contramem.study.mcp_author import author_server, open_instruments
    except ImportError as error:
        raise UsageError("the MCP server needs the mcp package: pip install 'contramem[author]'.") from error
    path, where = Path(runs), store_only(store) if Path(store).exists() else store
    if not path.exists():
        raise UsageError(f"--author {runs}: there is nothing here.")
    with ExitStack() as stack:

        def open_late() -> Instruments:
            study = stack.enter_context(study_runs((path,), ReadOptions()))
            tables = stack.enter_context(study.tables())
            return open_instruments(study.run_set, tables, where, name, Path(DEFAULT_LOG))

        author_server(open_late).run()
