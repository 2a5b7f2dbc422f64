"""The real commands, and every text that leaves them, by the kind of exit."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

EXITS = (
    "bank",
    "store",
    "prompt outside",
    "prompt unmarked",
    "prompt quoted",
    "guidance",
    "export",
    "report",
    "pages",
    "run views",
    "messages",
)
"""Bank: the frozen file. Store: its cards and its ledger. Prompts: in the system part or outside of data marks; inside
them but not quoted; quoted as somebody's words. Report: comparisons as page, Markdown, LaTeX, CSV. Pages: the server's.
Run views: what shows runs to people (contrast, monitor). Messages: what commands print."""
MAX_PAGES_OF_A_KIND = 400
FENCE = re.compile(r"<(\w+) ([0-9a-f]{8})>\n(.*?)\n</\1 \2>", re.DOTALL)
_QUOTED = re.compile(r"‹[^‹›]*›")
_DECISION_NUMBER = re.compile(r"^\d+ ", re.MULTILINE)
"""A PIN may be the number of a decision by chance."""


class Written(NamedTuple):
    """A text that came out."""

    exit: str
    where: str
    text: str
    about: str = ""
    """The larger text that it stands in, where that says which app it is about."""


class Failed(Exception):
    """A command ended otherwise than it should."""


def run(*arguments: object, cwd: Path, may_fail: bool = False) -> Written:
    """One command of contramem, as its own `main` runs it; without the second that starting a process takes."""
    from click.testing import CliRunner

    from contramem.cli import cli

    words = [str(argument) for argument in arguments]
    with chdir(cwd):
        done = CliRunner().invoke(cli, words, catch_exceptions=may_fail)
    if done.exit_code != 0 and not may_fail:
        raise Failed(f"contramem {' '.join(words)}: exit {done.exit_code}: {done.output[-2000:]}")
    return Written("messages", f"contramem {' '.join(words[:2])}", done.output)


def write_everything(
    traces: Path, tasks: list[tuple[str, list[str]]], folder: Path, quick: bool = False
) -> Iterator[Written]:
    """Build a bank from `traces` and go through every exit. `tasks` are requests with the functions of their app."""
    yield run("traces", traces, cwd=folder)
    yield run("doctor", traces, cwd=folder)
    yield run("build", traces, "--bank", "bank.db", cwd=folder)
    yield run("cards", "freeze", "bank.db", "--out", "bank.jsonl", cwd=folder)
    for line in (folder / "bank.jsonl").read_text(encoding="utf-8").splitlines():
        yield Written("bank", "bank.jsonl", line)
    yield from _store(folder)
    yield from _prompts(traces, folder)
    yield from _guidance(folder / "bank.jsonl", tasks)
    yield from _exports(folder)
    if quick:
        return
    yield from _reports(traces, folder)
    yield from _run_views(traces, folder)
    yield from _pages(traces, folder)


def _store(folder: Path) -> Iterator[Written]:
    import sqlite3

    with sqlite3.connect(folder / "bank.db") as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                yield Written("store", table, _readable(" ".join(map(str, row))))


def _readable(text: str) -> str:
    """JSON text with its escapes undone, so that nothing hides behind \\u."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text).replace("\\n", "\n")


def _prompts(traces: Path, folder: Path) -> Iterator[Written]:
    file = folder / "requests.jsonl"
    yield run("build", traces, "--bank", "model.db", "--model", "openai:gpt-5", "--export-requests", file, cwd=folder)
    for line in file.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        messages = list(_messages(request))
        about = "\n".join(message["text"] for message in messages if message["role"] != "system")
        for message in messages:
            for part in _parts_of_prompt(message["role"], message["text"]):
                yield part._replace(about=about)


def _messages(value: object) -> Iterator[dict[str, str]]:
    if isinstance(value, dict):
        text = value.get("text", value.get("content"))
        if "role" in value and isinstance(text, str):
            yield {"role": value["role"], "text": text}
        for child in value.values():
            yield from _messages(child)
    elif isinstance(value, list):
        for child in value:
            yield from _messages(child)


def _parts_of_prompt(role: str, text: str) -> Iterator[Written]:
    if role == "system":
        yield Written("prompt outside", "system", text)
        return
    yield Written("prompt outside", "around the data marks", FENCE.sub(" ", text))
    for fence in FENCE.finditer(text):
        yield Written("prompt unmarked", fence[1], _QUOTED.sub(" ", fence[3]))
        yield from (Written("prompt quoted", fence[1], quoted[0]) for quoted in _QUOTED.finditer(fence[3]))


def _guidance(bank: Path, tasks: list[tuple[str, list[str]]]) -> Iterator[Written]:
    from contramem.inject.run import Memory

    yield run("guide", tasks[0][0], "--bank", bank, cwd=bank.parent)
    memory = Memory.load(bank)
    for task, functions in tasks:
        guided = memory.start(task)
        yield Written("guidance", "start", guided.guidance.text)
        for function in functions:
            if shown := guided.before_call(function, {}):
                yield Written("guidance", "before a call", shown.text)
            yield Written("guidance", "tool description", guided.describe(function))
        if last := guided.before_final():
            yield Written("guidance", "before the end", last.text)


def _exports(folder: Path) -> Iterator[Written]:
    for form, target in (
        ("skills", "skills"),
        ("agents-md", "AGENTS.md"),
        ("json", "cards.json"),
        ("markdown", "cards.md"),
    ):
        yield run("cards", "export", "bank.jsonl", form, target, cwd=folder)
        yield from _files("export", folder / target)
    for command in (("show", "bank.db"), ("cards", "bank.db", "--json"), ("cards", "bank.db")):
        yield run("bank", *command, cwd=folder)._replace(exit="export")
    history = run("cards", "history", "bank.db", cwd=folder)
    yield history._replace(exit="export", text=_DECISION_NUMBER.sub("", history.text))


def _files(exit_: str, path: Path) -> Iterator[Written]:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            yield Written(exit_, f"name {file.name}", str(file.relative_to(path.parent)))
            yield Written(exit_, file.name, _readable(file.read_text(encoding="utf-8", errors="replace")))


def _reports(traces: Path, folder: Path) -> Iterator[Written]:
    yield run(
        "evaluate",
        "compare",
        traces,
        "--with",
        traces,
        "--html",
        "report.html",
        "--tables",
        "tables",
        "--markdown",
        "pull.md",
        "--bank",
        "bank.db",
        "--by",
        "ability",
        "--json",
        cwd=folder,
    )._replace(exit="report")
    for name in ("report.html", "tables", "pull.md"):
        yield from _files("report", folder / name)


def _run_views(traces: Path, folder: Path) -> Iterator[Written]:
    yield run("contrast", traces, "--json", cwd=folder)._replace(exit="run views")
    yield run("contrast", traces, "--html", "contrast.html", cwd=folder)._replace(exit="run views")
    yield from _files("run views", folder / "contrast.html")
    yield run("contrast", traces, "--limit", "2000", cwd=folder)._replace(exit="run views")
    yield run("monitor", traces, "--bank", "bank.db", "--json", cwd=folder)._replace(exit="run views")


def _pages(traces: Path, folder: Path) -> Iterator[Written]:
    from starlette.testclient import TestClient

    from contramem.server.app import Server, make_app
    from contramem.server.options import ProjectOptions, ServerOptions

    (folder / "state").mkdir()
    options = ServerOptions({"default": ProjectOptions(str(folder / "bank.db"), (traces,))}, state=folder / "state")
    server = Server(options)
    server.open()
    try:
        for project in server.projects.values():
            project.index_runs()
        with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
            pending = ["/default/", "/default/tasks", "/default/cards", "/default/ledger"]
            seen: set[str] = set()
            kinds = Counter[str]()
            while pending:
                path = pending.pop(0)
                kind = path.partition("?")[0]
                if path in seen or kinds[kind] >= MAX_PAGES_OF_A_KIND:
                    continue
                seen.add(path)
                kinds[kind] += 1
                page = client.get(path)
                if page.status_code == 500:
                    raise Failed(f"{path}: {page.status_code}")
                exit_ = "run views" if re.match(r"/default/(?:tasks?|event|run)\b", path) else "pages"
                yield Written(exit_, path.partition("?")[0], _unescape(page.text))
                pending += [
                    link for link in _links(page.text) if re.match(r"/default/(?:tasks?|card|cards|ledger|run)\b", link)
                ]
            for api in (
                "/v1/default/cards",
                "/v1/default/history",
                f"/v1/default/search?q={quote('refund the order')}",
            ):
                yield Written("pages", api.partition("?")[0], _readable(client.get(api).text))
    finally:
        server.close()


def _unescape(text: str) -> str:
    from html import unescape

    return unescape(text)


def _links(text: str) -> list[str]:
    return [_unescape(link) for link in re.findall(r"href=\"([^\"]+)\"", text)]
