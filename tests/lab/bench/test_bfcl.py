"""The BFCL environment against the real backends and the real checker."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.lab.bench.soundness import find_unsolved_tasks, idle_tasks

from contramem.errors import UsageError
from contramem_lab.bfcl import CATEGORIES, BfclEnvironment, BfclTask, check, official_environment, render_call
from contramem_lab.environment import EnvironmentCall

EXAMPLES = Path(__file__).parents[3] / "examples"

needs_bfcl = pytest.mark.skipif(
    importlib.util.find_spec("bfcl_eval") is None, reason="bfcl_eval is missing: pip install --no-deps bfcl-eval mpmath"
)

LOGIN = EnvironmentCall("ticket_login", {"username": "mira", "password": "a (b) 'c'"})
CLOSE = EnvironmentCall("close_ticket", {"ticket_id": 7})
TICKET = {"id": 7, "title": "Lamp", "description": "", "status": "Open", "priority": 1, "created_by": "mira"}
TASK = BfclTask(
    id="lamp",
    turns=("Close my lamp ticket.",),
    apps=("TicketAPI",),
    initial_config={"TicketAPI": {"ticket_queue": [TICKET], "ticket_counter": 8}},
    ground_truth=((LOGIN, CLOSE),),
)


def play(task: BfclTask, *calls: EnvironmentCall, environment: BfclEnvironment | None = None) -> Any:
    session = (environment or BfclEnvironment([task])).start(task.id)
    for call in calls:
        session.call(f"{task.apps[0]}.{call.function}", call.arguments)
    return session.verify()


@pytest.mark.slow
@needs_bfcl
class TestRuns:
    def test_the_ground_truth_passes(self):
        assert play(TASK, LOGIN, CLOSE).passed is True

    def test_doing_nothing_fails(self):
        outcome = play(TASK)
        assert (outcome.passed, outcome.feedback) == (False, "empty turn model response")

    def test_the_verdict_names_what_differs_but_no_value(self):
        assert play(TASK, LOGIN).feedback == "instance state mismatch: ticket_queue"

    def test_a_bad_run_leaves_nothing_behind(self):
        environment = BfclEnvironment([TASK])
        spoil = EnvironmentCall("edit_ticket", {"ticket_id": 7, "updates": {"title": "Spoilt"}})
        assert play(TASK, spoil, environment=environment).passed is False
        assert play(TASK, LOGIN, CLOSE, environment=environment).passed is True
        executor = import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils")
        assert not [name for name in vars(executor) if name.startswith("contramem")]

    def test_asking_for_the_verdict_twice_gives_it_twice(self):
        session = BfclEnvironment([TASK]).start("lamp")
        for call in (LOGIN, CLOSE):
            session.call(f"TicketAPI.{call.function}", call.arguments)
        assert session.verify() == session.verify()

    def test_results_are_json_and_errors_are_marked(self):
        session = BfclEnvironment([TASK]).start("lamp")
        refused = session.call("TicketAPI.get_user_tickets", {})
        assert refused.error == "User not authenticated. Please log in to view tickets."
        assert json.loads(refused.content) == [{"error": refused.error}]
        assert session.call("TicketAPI.ticket_login", LOGIN.arguments).error is None
        assert "unexpected keyword" in (session.call("TicketAPI.close_ticket", {"id": 7}).error or "")

    @pytest.mark.parametrize("function", ["TicketAPI._find_ticket", "TicketAPI.__init__", "close_ticket", "os.system"])
    def test_only_public_functions_of_the_task_can_be_called(self, function):
        session = BfclEnvironment([TASK]).start("lamp")
        assert session.call(function, {}).error == f"There is no function {function}."

    def test_text_that_looks_like_code_stays_text(self, tmp_path):
        bait = f"close_ticket(7) '\\' + open({str(tmp_path / 'x')!r}, 'w').write('')"
        create = EnvironmentCall("create_ticket", {"title": bait, "priority": 1})
        task = BfclTask("bait", ("?",), TASK.apps, initial_config=TASK.initial_config, ground_truth=((LOGIN, create),))
        assert play(task, LOGIN, create).passed is True
        assert not (tmp_path / "x").exists()

    def test_tools_have_a_schema_and_our_words(self):
        tools = {tool.function: tool for tool in BfclEnvironment([TASK], {"close_ticket": "Close it."}).tools("lamp")}
        assert tools["TicketAPI.close_ticket"].description == "Close it."
        assert tools["TicketAPI.create_ticket"].parameters == {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "description": {"type": "string", "default": ""},
                "priority": {"type": "integer", "default": 1},
            },
            "required": ["title"],
        }

    def test_an_unknown_app_is_named(self):
        with pytest.raises(UsageError, match="no app 'PrinterAPI'"):
            BfclEnvironment([BfclTask("t", (), ("PrinterAPI",))])

    @pytest.mark.parametrize("category", CATEGORIES)
    def test_all_tasks_of_the_benchmark_accept_their_own_solution_and_not_doing_nothing(self, category):
        environment = official_environment(category)
        assert len(environment.tasks()) == (199 if category == "miss_func" else 200)
        assert list(find_unsolved_tasks(environment)) == []
        assert list(idle_tasks(environment)) == []

    def test_a_function_that_arrives_later_cannot_be_called_before(self):
        environment = official_environment("miss_func")
        task = environment.tasks()["multi_turn_miss_func_0"]
        session = environment.start(task.id)
        refused = "There is no function GorillaFileSystem.sort."
        assert session.call("GorillaFileSystem.sort", {"file_name": "x"}).error == refused
        for _ in range(task.later["GorillaFileSystem.sort"]):
            session.end_turn("That cannot be done.")
        assert session.call("GorillaFileSystem.sort", {"file_name": "x"}).error != refused

    def test_the_shipped_runs_can_be_made_again_byte_for_byte(self, tmp_path):
        subprocess.run([sys.executable, EXAMPLES / "make_runs.py", tmp_path], check=True, capture_output=True)
        for name in ("runs/bfcl.jsonl", "heldout/bfcl.jsonl"):
            assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes(), name

    def test_every_example_accepts_its_own_solution_and_refuses_nothing_at_all(self, monkeypatch):
        monkeypatch.syspath_prepend(str(EXAMPLES))
        for example in import_module("tasks").EXAMPLES:
            assert check(example.task, example.task.ground_truth).passed is True, example.task.id
            assert check(example.task, []).passed is False, example.task.id


def test_calls_are_rendered_as_literals_only():
    call = EnvironmentCall("send", {"to": "x) or f(", "n": [1, None, True], "a b": {"k": 0.5}})
    assert render_call(call) == "send(**{'to': 'x) or f\\x28', 'n': [1, None, True], 'a b': {'k': 0.5}})"
    assert ast.literal_eval(render_call(call)[len("send(**") : -1]) == call.arguments


@pytest.mark.parametrize("name", ["", "a.b", "f(); g", "__import__", "f "])
def test_what_is_no_function_name_is_never_rendered(name):
    with pytest.raises(UsageError, match="not a name that the BFCL checker can take"):
        render_call(EnvironmentCall(name, {}))


@pytest.mark.skipif(importlib.util.find_spec("bfcl_eval") is not None, reason="bfcl_eval is installed here")
def test_without_bfcl_the_error_says_what_to_install():
    with pytest.raises(UsageError, match="pip install --no-deps bfcl-eval mpmath"):
        BfclEnvironment([TASK])
