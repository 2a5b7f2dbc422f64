"""Files that have to be found first, folders that must exist before a move, and writes that overwrite."""

from __future__ import annotations

from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls


def folder(**contents: Any) -> dict[str, Any]:
    """Text is a file, a dict is a folder; `__` in a name stands for the dot."""
    return {
        "type": "directory",
        "contents": {
            name.replace("__", "."): {"type": "file", "content": inside} if isinstance(inside, str) else inside
            for name, inside in contents.items()
        },
    }


def disk(**contents: Any) -> dict[str, Any]:
    return {"GorillaFileSystem": {"root": {"home": folder(**contents)}}}


def example(
    name: str,
    text: str,
    world: dict[str, Any],
    truth: tuple[EnvironmentCall, ...],
    plan: Plan,
    *,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"files_{name}", (text,), ("GorillaFileSystem",), "search", "files", world, (truth,))
    return Example(task, (plan,), held_out)


def go_to(name: str) -> Plan:
    """Find `name` and change into its folder, one level at a time."""

    def step(agent: Careful) -> str:
        path: str = agent.look(
            "find",
            path=".",
            name=name,
            pick=lambda seen: seen["matches"][0],
            guess=f"./{name}",
            why=f"First I need to know where {name} is.",
        )
        for part in path.split("/")[1:-1]:
            agent.act("cd", folder=part)
        return path

    return step


def make(name: str) -> Plan:
    def step(agent: Careful) -> str:
        agent.act("mkdir", dir_name=name, why=f"'{name}' has to exist, or the move would only rename the file.")
        return name

    return step


def into_new_folder(names: tuple[str, ...], target: str, how: str) -> Plan:
    def plan(agent: Careful) -> str:
        agent.need(go_to(names[0]), cure="No such file")
        agent.need(make(target))
        for name in agent.each(names):
            agent.act(how, source=name, destination=target)
        agent.check("ls")
        return f"Done, '{target}' now has {' and '.join(names)}."

    return plan


def add_line(agent: Careful) -> str:
    agent.need(go_to("packing.txt"), cure="No such file")
    before = agent.look(
        "cat",
        file_name="packing.txt",
        pick=lambda seen: seen["file_content"],
        guess="",
        why="Writing replaces the whole file, so I read it first.",
    )
    agent.act("echo", content=f"{before}\nwool socks".strip(), file_name="packing.txt")
    agent.check("cat", file_name="packing.txt")
    return "'wool socks' is on the packing list."


def copy_inbox(agent: Careful) -> str:
    # Every agent falls for this: a plain listing does not show the hidden file.
    agent.need(lambda agent: agent.act("cd", folder="mail"), cure="No such file")
    agent.act("cd", folder="inbox")
    names = agent.look("ls", pick=lambda seen: seen["current_directory_content"], why="Let me see what is in there.")
    for name in agent.each(names):
        agent.act("cp", source=name, destination=f"{name}.done")
    agent.check("ls")
    return "Every file in the inbox has its copy."


def new_summary(agent: Careful) -> str:
    agent.need(lambda agent: agent.act("cd", folder="reports"), cure="No such file")
    agent.need(lambda agent: agent.act("touch", file_name="summary.txt"), cure="No such file")
    agent.act("echo", content="Two leaks fixed, one open.", file_name="summary.txt")
    agent.check("cat", file_name="summary.txt")
    return "reports/summary.txt is written."


EXAMPLES = (
    example(
        "finance_folder",
        "My file budget_2031.csv is somewhere in here. Move it into a new folder 'finance' beside it.",
        disk(office=folder(plans=folder(budget_2031__csv="rent,900\nfood,420", ideas__txt="A hut by the lake"))),
        calls(
            ("cd", {"folder": "office"}),
            ("cd", {"folder": "plans"}),
            ("mkdir", {"dir_name": "finance"}),
            ("mv", {"source": "budget_2031.csv", "destination": "finance"}),
        ),
        into_new_folder(("budget_2031.csv",), "finance", "mv"),
    ),
    example(
        "log_backup",
        "Copy pump.log, valve.log and meter.log into a new folder 'backup' in the place where they are.",
        disk(plant=folder(pump__log="ok\nok\nhot", valve__log="shut", meter__log="17\n18\n18")),
        calls(
            ("cd", {"folder": "plant"}),
            ("mkdir", {"dir_name": "backup"}),
            ("cp", {"source": "pump.log", "destination": "backup"}),
            ("cp", {"source": "valve.log", "destination": "backup"}),
            ("cp", {"source": "meter.log", "destination": "backup"}),
        ),
        into_new_folder(("pump.log", "valve.log", "meter.log"), "backup", "cp"),
    ),
    example(
        "packing_list",
        "Add the line 'wool socks' at the end of packing.txt, below what is already there.",
        disk(trips=folder(norway=folder(packing__txt="rain coat\nstove"), notes__txt="ferry at 8")),
        calls(
            ("cd", {"folder": "trips"}),
            ("cd", {"folder": "norway"}),
            ("echo", {"content": "rain coat\nstove\nwool socks", "file_name": "packing.txt"}),
        ),
        add_line,
    ),
    example(
        "inbox_copies",
        "For every file in mail/inbox make a copy beside it with '.done' at the end of its name.",
        disk(mail=folder(inbox=folder(ana__txt="Call me", leo__txt="Invoice", __draft="Dear Ana,"))),
        calls(
            ("cd", {"folder": "mail"}),
            ("cd", {"folder": "inbox"}),
            ("cp", {"source": "ana.txt", "destination": "ana.txt.done"}),
            ("cp", {"source": "leo.txt", "destination": "leo.txt.done"}),
            ("cp", {"source": ".draft", "destination": ".draft.done"}),
        ),
        copy_inbox,
    ),
    example(
        "summary",
        "Write 'Two leaks fixed, one open.' into a new file summary.txt in the folder 'reports'.",
        disk(reports=folder(may__txt="3 leaks"), attic=folder(old__txt="-")),
        calls(
            ("cd", {"folder": "reports"}),
            ("touch", {"file_name": "summary.txt"}),
            ("echo", {"content": "Two leaks fixed, one open.", "file_name": "summary.txt"}),
        ),
        new_summary,
        held_out=True,
    ),
    example(
        "album",
        "Find barn.jpg and river.jpg (they are together) and move both into a new folder 'album' next to them.",
        disk(pictures=folder(spring=folder(barn__jpg="BARN", river__jpg="RIVER", cat__jpg="CAT"))),
        calls(
            ("cd", {"folder": "pictures"}),
            ("cd", {"folder": "spring"}),
            ("mkdir", {"dir_name": "album"}),
            ("mv", {"source": "barn.jpg", "destination": "album"}),
            ("mv", {"source": "river.jpg", "destination": "album"}),
        ),
        into_new_folder(("barn.jpg", "river.jpg"), "album", "mv"),
        held_out=True,
    ),
)
