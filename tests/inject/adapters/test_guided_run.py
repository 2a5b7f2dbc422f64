import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from contramem.inject.adapters.guided_run import GuidedRun, is_ending_tool
from contramem.inject.adapters.starter import Conversation, Runs, Starter, missing

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


def test_a_call_that_would_break_a_guard_of_a_shown_card_is_held_once(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    answer = run.hold("open_ticket", {"reason": "late"}, turn=1, ends_run=False)
    assert "Not executed yet" in answer
    assert "Look up the reason code before opening a ticket" in answer
    assert run.hold("open_ticket", {"reason": "late"}, turn=2, ends_run=False) is None, (
        "an agent that insists has its reasons"
    )


def test_a_call_that_does_no_harm_is_never_held(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    assert run.hold("close_ticket", {"ticket": "T1"}, ends_run=False) is None, (
        "its card is in the description of the tool"
    )
    assert run.hold("lookup_code", {"topic": "late"}, ends_run=False) is None
    run.tell("lookup_code", {"topic": "late"}, "R7")
    assert run.hold("open_ticket", {"reason": "R7"}, ends_run=False) is None


def test_a_call_that_failed_is_held_when_it_comes_again_unchanged(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    run.tell("close_ticket", {"ticket": "T1"}, "Error: a notice is missing")
    assert run.hold("close_ticket", {"ticket": "T2"}, turn=1, ends_run=False) is None
    answer = run.hold("close_ticket", {"ticket": "T1"}, turn=2, ends_run=False)
    assert "failed with these very arguments" in answer
    assert "send it first" in answer
    assert run.hold("close_ticket", {"ticket": "T1"}, turn=3, ends_run=False) is None


def test_a_call_that_worked_since_it_failed_is_not_held(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    run.tell("close_ticket", {"ticket": "T1"}, "Error: a notice is missing")
    run.tell("close_ticket", {"ticket": "T1"}, "closed")
    assert run.hold("close_ticket", {"ticket": "T1"}, ends_run=False) is None


@pytest.mark.parametrize(("turn", "is_held"), [(2, True), (3, False), (None, False)])
def test_a_failed_call_may_be_tried_again_once_the_model_has_read_that_another_worked(desk, open_task, turn, is_held):
    run = GuidedRun(desk.start(open_task))
    push, pull = {"command": "git push"}, {"command": "git pull"}
    run.tell("Bash", push, "Exit code 1")
    assert run.hold("Bash", pull, turn=2, ends_run=False) is None
    run.tell("Bash", pull, "Already up to date.")
    assert (run.hold("Bash", push, turn=turn, ends_run=False) is not None) == is_held


@pytest.mark.parametrize(
    "content",
    [{"exit_code": 128}, {"returncode": 1, "stderr": "rejected"}, '{"exit_code": 128}', "Exit code 128\nrejected"],
)
def test_an_exit_code_is_a_failure_as_it_is_in_a_trace(desk, open_task, content):
    run = GuidedRun(desk.start(open_task))
    push = {"command": "git push"}
    assert "pull first" in run.tell("Bash", push, content)
    assert run.hold("Bash", push, ends_run=False) is not None


def test_at_most_two_calls_are_held_in_a_run_however_often_a_tool_fails(desk, open_task):
    run, holds = GuidedRun(desk.start(open_task)), 0
    for turn in range(40):
        name, arguments = ("Bash", {"command": "git push"}) if turn % 2 else ("close_ticket", {"ticket": "T1"})
        if run.hold(name, arguments, turn=turn, ends_run=False) is not None:
            holds += 1
        else:
            run.tell(name, arguments, "Exit code 128" if name == "Bash" else "Error: down")
    assert holds == 2


@pytest.mark.parametrize("commands", [("ls", "git push"), ("git push", "ls")])
def test_two_programs_of_one_shell_are_told_apart(desk, open_task, commands):
    run = GuidedRun(desk.start(open_task))
    run.tell("Bash", {"command": "git push"}, "Exit code 1")
    with ThreadPoolExecutor(2) as pool:
        answers = dict(
            zip(
                commands,
                pool.map(lambda text: run.hold("Bash", {"command": text}, turn=1, ends_run=False), commands),
                strict=True,
            )
        )
    assert answers["ls"] is None
    assert answers["git push"] is not None


def test_nothing_is_held_in_a_reply_that_ends_the_run_nor_a_tool_that_ends_it(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    assert run.hold("open_ticket", ends_run=True) is None
    assert run.hold("open_ticket") is None, "who does not say that the run goes on may be at its end"
    run.tell("submit", {}, "Error: no answer")
    assert run.hold("submit", {}, ends_run=False) is None
    assert not any(map(is_ending_tool, ("open_ticket", "submit_order", "Bash")))


def test_calls_of_one_reply_are_held_together(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: run.hold("open_ticket", {}, turn=1, call=str(n), ends_run=False), range(8)))
    assert None not in answers
    assert sum("Look up the reason code" in answer for answer in answers) == 1
    assert run.hold("open_ticket", {}, turn=2, ends_run=False) is None


def test_asked_again_about_one_call_the_answer_is_the_same(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    first = run.hold("open_ticket", turn="a", call="1", ends_run=False)
    assert run.hold("open_ticket", turn="a", call="2", ends_run=False) != first
    assert run.hold("open_ticket", turn="a", call="1", ends_run=False) == first


def test_the_answer_to_a_held_call_is_not_taken_for_its_result(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    answer = run.hold("open_ticket", {"reason": "late"}, turn=1, ends_run=False)
    assert run.tell("open_ticket", {"reason": "late"}, answer) == ""
    assert [owed.guard.template for owed in run.run.pending()] == []


def test_a_failure_brings_the_card_beside_the_result_once(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    note = run.tell("close_ticket", {"ticket": "T1"}, "Error: a notice is missing")
    assert note.startswith("[Note from earlier runs, not part of the result]")
    assert "### desk.close_ticket" in note
    assert run.tell("close_ticket", {"ticket": "T2"}, "Error: a notice is missing") == ""


def test_a_call_that_broke_a_guard_unheld_brings_a_warning_beside_its_result(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    run.hold("open_ticket", {"reason": "late"}, ends_run=True)
    assert "broke a rule that passing runs kept" in run.tell("open_ticket", {"reason": "late"}, "ticket T1 is open")


def test_a_card_that_was_shown_at_the_start_is_not_shown_again(memory, task):
    started = memory.start("Delete the emails, delete email after email")
    assert "function::EmailClient.delete_email" in started.guidance.card_ids
    assert started.before_call("delete_email") is None
    assert GuidedRun(started).describe("delete_email") == ""


def test_a_tool_s_description_gets_one_line(desk, open_task):
    line = GuidedRun(desk.start(open_task)).describe("mcp__tickets__close_ticket")
    assert line == "Earlier runs: Closing fails while a notice is missing; send it first."
    assert GuidedRun(desk.start(open_task)).describe("unknown") == ""


def test_what_is_open_is_said_once_before_the_end(desk, open_task):
    run = GuidedRun(desk.start(open_task))
    run.tell("lookup_code", {}, "R7")
    run.tell("open_ticket", {}, "open")
    assert "send_notice" in run.before_final()
    assert run.before_final() == ""


def test_the_first_call_of_every_function_can_still_be_held_to_compare_with(memory):
    run = GuidedRun(memory.start("Compose a sonnet"), hold="first_call")
    assert "### EmailClient.delete_email" in run.hold("delete_email", {"email_id": "m"}, turn=1, ends_run=False)
    assert run.hold("delete_email", {"email_id": "m"}, turn=2, ends_run=False) is None


def test_a_conversation_keeps_what_it_has_shown_and_adds_only_new_cards(memory, task):
    started = []
    conversation = Conversation(Starter(memory, {}, started.append), "c")
    conversation.at([task])
    first = conversation.notes
    conversation.at([task, "Thank you."])
    assert conversation.notes == first, "nothing new, nothing rewritten"
    conversation.at([task, "Thank you.", "Now order a ride to the airport with a cab."])
    assert conversation.notes[0] == first[0]
    assert "Cab.order_ride" in conversation.notes[2]
    assert "### Delete clear emails" not in conversation.notes[2]
    assert len(started) == 1


def test_a_compacted_conversation_gets_all_its_cards_at_its_beginning(memory, task):
    conversation = Conversation(Starter(memory, {}), "c")
    conversation.at([task])
    conversation.at([task, "Now order a ride to the airport with a cab."])
    conversation.at(["(a summary)"])
    assert list(conversation.notes) == [0]
    assert "### Delete clear emails" in conversation.notes[0]
    assert "Cab.order_ride" in conversation.notes[0]


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
