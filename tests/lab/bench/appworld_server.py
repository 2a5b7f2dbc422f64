"""A server that speaks the routes of `appworld serve environment`, with two small apps and four tasks. Cells run for
real, in this process, with `apis` in their namespace; the verdict looks at what the apps then hold."""

from __future__ import annotations

import contextlib
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TASKS = {
    "aa1_1": ("Add milk to my shopping list.", "milk"), "aa1_2": ("Add bread to my shopping list.", "bread"),
    "bb2_1": ("Add rice to my shopping list.", "rice"), "bb2_2": ("Add tea to my shopping list.", "tea"),
}  # fmt: skip
DOCS = {
    "notes": {
        "login": {"description": "Log in.", "parameters": [{"name": "password", "type": "string", "required": True}]},
        "add_item": {
            "description": "Add an item to the list.",
            "parameters": [
                {"name": "item", "type": "string", "required": True},
                {"name": "access_token", "type": "string", "required": True},
            ],
        },
    },
    "supervisor": {
        "show_account_passwords": {"description": "Passwords of the apps.", "parameters": []},
        "complete_task": {"description": "The task is done.", "parameters": [{"name": "answer", "type": "string"}]},
    },
}


class Notes:
    def __init__(self) -> None:
        self.items: list[str] = []

    def login(self, password: str) -> dict[str, str]:
        if password != "pw-7781":
            raise ValueError("Invalid credentials")
        return {"access_token": "token-1"}

    def add_item(self, item: str, access_token: str = "") -> dict[str, Any]:
        if access_token != "token-1":
            raise PermissionError("401: You are not authorized; log in first.")
        self.items.append(item)
        return {"item": item, "count": len(self.items)}


class Supervisor:
    def __init__(self) -> None:
        self.completed = False

    def show_account_passwords(self) -> list[dict[str, str]]:
        return [{"account_name": "notes", "password": "pw-7781"}]

    def complete_task(self, answer: str = "") -> dict[str, str]:
        self.completed = True
        return {"message": "Marked the task complete."}


class World:
    """One task's state."""

    def __init__(self, task_id: str) -> None:
        self.task_id, self.notes, self.supervisor = task_id, Notes(), Supervisor()
        self._names: dict[str, Any] = {"apis": self}

    def execute(self, code: str) -> str:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "cell", "exec"), self._names)
        except Exception as error:
            return f"Execution failed. Traceback:\n{type(error).__name__}: {error}"
        return printed.getvalue() or "Execution successful."

    def evaluate(self) -> dict[str, Any]:
        wanted = TASKS[self.task_id][1]
        right = self.notes.items == [wanted]
        tests = [{"requirement": f"assert the list is exactly [{wanted}]", "label": None}]
        return {"success": right, "num_tests": 1, "passes": tests * right, "failures": tests * (not right)}


class Handler(BaseHTTPRequestHandler):
    world: World | None = None

    def do_GET(self) -> None:
        if self.path == "/api_docs":
            self._send(DOCS)
        else:
            task_id = self.path.rpartition("/")[2]
            self._send(
                {"output": self._task(task_id)} if task_id in TASKS else {"detail": "no such task"}, task_id in TASKS
            )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        route, cls = self.path.strip("/"), type(self)
        if route == "initialize":
            cls.world = World(body["task_id"])
            self._send({"output": self._task(body["task_id"])})
            return
        world = cls.world
        if world is None or world.task_id != body["task_id"]:
            self._send({"detail": "another task is active"}, False)
            return
        answers = {
            "execute": lambda: world.execute(body["code"]), "task_completed": lambda: world.supervisor.completed,
            "evaluate": world.evaluate, "close": lambda: None,
        }  # fmt: skip
        self._send({"output": answers[route]()})

    def _task(self, task_id: str) -> dict[str, Any]:
        who = {"first_name": "Joe", "last_name": "Doe", "email": "joe@x.example", "phone_number": "555"}
        return {
            "task_id": task_id,
            "instruction": TASKS[task_id][0],
            "supervisor": who,
            "datetime": "2023-05-18T12:00:00",
        }

    def _send(self, value: object, good: bool = True) -> None:
        content = json.dumps(value).encode()
        self.send_response(200 if good else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """The address of a running server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_root(path: Path) -> Path:
    """AppWorld's root with its lists of ids."""
    folder = path / "data" / "datasets"
    folder.mkdir(parents=True)
    (folder / "train.txt").write_text("aa1_1\naa1_2\n")
    (folder / "test_normal.txt").write_text("bb2_1\nbb2_2\n")
    return path
