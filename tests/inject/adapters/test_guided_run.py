import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from contramem.inject.adapters.guided_run import GuidedRun, Runs, Starter, missing

ADAPTERS = {
    "pydantic-ai": "pydantic_ai",
    "langchain": "langchain",
    "openai-agents": "agents",
    "inspect": "inspect_ai",
    "claude-agent-sdk": "claude_agent_sdk",
}

ABSENT = """
import sys

class Absent:
    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

"""


@pytest.mark.parametrize("attempt", range(10))
def test_parallel_calls_of_one_reply_are_all_held_and_one_has_the_card(memory, task, attempt):
    run = GuidedRun(memory.start(task))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: run.hold("delete_email", {"email_id": "m"}, turn=1, call=str(n)), range(8)))
    assert None not in answers
    assert sum("### EmailClient.delete_email" in answer for answer in answers) == 1
    assert run.hold("delete_email", {"email_id": "m"}, turn=2) is None


def test_asked_again_about_one_call_the_answer_is_the_same(memory, task):
    run = GuidedRun(memory.start(task))
    first = run.hold("delete_email", turn="a", call="1")
    assert "### EmailClient.delete_email" in first
    assert run.hold("delete_email", turn="a", call="2") != first
    assert run.hold("delete_email", turn="a", call="1") == first


def test_an_error_without_words_is_an_error(memory, task):
    run = GuidedRun(memory.start(task))
    run.hold("delete_email")
    run.tell("delete_email", error=KeyError())
    assert "failed" in run.hold("delete_email")
    run.tell("delete_email", content="deleted")
    assert run.hold("delete_email") is None


def test_runs_are_kept_by_name_and_the_longest_unused_is_forgotten(memory, task):
    started = []
    starter = Starter(memory, {"ability": "ambiguity"}, on_start=started.append)
    runs = Runs(many=2)

    def get(key):
        return runs.get(key, lambda: starter.start(task, run_id=key))

    first = get("a")
    assert get("a") is first
    get("b")
    get("a")
    get("c")
    assert get("a") is first
    runs.drop("a")
    runs.drop("never there")
    assert get("a") is not first
    assert [run.run_id for run in started] == ["a", "b", "c", "a"]


@pytest.mark.parametrize("extra", ADAPTERS)
def test_a_missing_framework_is_named_with_its_extra(extra):
    package = ADAPTERS[extra]
    module = "inspect_ai" if extra == "inspect" else extra.replace("-", "_")
    code = f"{ABSENT}sys.meta_path.insert(0, Absent({package!r}))\nimport contramem.inject.adapters.{module}"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = finished.stderr.strip().splitlines()[-1]
    needs = f"contramem.inject.adapters.{module} needs a package that is not installed"
    assert message == f"ImportError: {needs}: pip install 'contramem[{extra}]'"


def test_a_framework_that_is_too_old_is_told_from_one_that_is_not_there():
    error = ImportError("cannot import name 'AgentMiddleware'", name="langchain.agents")
    told = str(missing("contramem.inject.adapters.langchain", "langchain", "langchain", error))
    assert "cannot use the langchain installed here (cannot import name 'AgentMiddleware')" in told


def test_importing_contramem_imports_no_framework():
    code = (
        "import sys, contramem, contramem.inject.adapters.wrapper\n"
        "contramem.Memory, contramem.Run\n"
        f"print(sorted(set({list(ADAPTERS.values())}) & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
