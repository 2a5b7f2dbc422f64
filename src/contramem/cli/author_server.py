"""`contramem mcp --author`: the instruments of an author over standard input and output."""

from __future__ import annotations

from pathlib import Path

from contramem.bank.locate import store_only
from contramem.cli.reading import read_pool
from contramem.errors import UsageError
from contramem.study.ask import DEFAULT_LOG, open_run_set
from contramem.study.tables import open_tables
from contramem.traces.reader import ReadOptions


def serve_author(runs: str, store: str, name: str) -> None:
    """Read the runs once, then answer until the client goes."""
    try:
        from contramem.study.mcp_author import author_server
    except ImportError as error:
        raise UsageError("the MCP server needs the mcp package: pip install 'contramem[author]'.") from error
    where = store_only(store) if Path(store).exists() else store
    with read_pool((Path(runs),), ReadOptions()) as pool, open_tables(pool) as tables:
        author_server(open_run_set(pool), tables, where, name, Path(DEFAULT_LOG)).run()
