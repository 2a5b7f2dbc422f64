import json
import re
from pathlib import Path

import pytest
from tests.shipped import build, frozen, shipped, written

from contramem.cli import main

TASKS = {"user_task_1": (False, True), "user_task_2": (True, False), "user_task_3": (True, True)}


def write_run(folder, task, passed):
    file = folder / "banking" / task / "none" / "none.json"
    file.parent.mkdir(parents=True)
    messages = [{"role": "user", "content": f"Do {task}."}, {"role": "assistant", "content": "Done."}]
    header = {"suite_name": "banking", "pipeline_name": "m", "user_task_id": task, "utility": passed, "error": None}
    file.write_text(json.dumps(header | {"injection_task_id": None, "attack_type": None, "messages": messages}))


@pytest.fixture
def folders(tmp_path):
    """Three AgentDojo tasks: the first is gained, the second lost, the third passes both times."""
    for task, (before, after) in TASKS.items():
        write_run(tmp_path / "without", task, before)
        write_run(tmp_path / "with", task, after)
    return str(tmp_path / "without"), str(tmp_path / "with")


@pytest.fixture
def command(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as exited:
            main(["evaluate", "compare", *arguments])
        captured = capsys.readouterr()
        return exited.value.code, captured.out, captured.err

    return call


def test_json_has_the_agreed_keys(command, folders):
    base, memory = folders
    code, out, err = command(base, "--with", memory, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["tasks"] == 3
    assert (found["gained"], found["lost"]) == (1, 1)
    assert found["harmed_tasks"] == ["user_task_2"]
    assert found["success"] == {"base": pytest.approx(2 / 3), "memory": pytest.approx(2 / 3)}
    assert found["mcnemar"] == {"chi2": 0.0, "exact_p": 1.0}
    assert found["by_ability"]["banking"]["harmed_tasks"] == ["user_task_2"]
    assert (found["interval"], found["cost_usd"], found["problems"], found["skipped"]) == (None, None, [], {})


def test_the_terminal_names_gains_and_losses_and_ends_with_a_verdict(command, folders):
    base, memory = folders
    code, out, _ = command(base, "--with", memory)
    assert code == 0
    assert "+ user_task_1" in out
    assert "− user_task_2" in out
    assert "treat it as an anecdote" in " ".join(out.split())
    assert "banking  " not in out


def test_by_ability_shows_a_line_for_each(command, folders):
    base, memory = folders
    assert "banking  " in command(base, "--with", memory, "--by", "ability")[1]


def test_fail_on_harm_allows_the_given_number_of_harmed_tasks(command, folders):
    base, memory = folders
    assert command(base, "--with", memory, "--fail-on-harm", "1")[0] == 0
    code, out, err = command(base, "--with", memory, "--fail-on-harm", "0", "--json")
    assert code == 1
    assert err == "contramem: 1 task(s) were harmed, --fail-on-harm allows 0: user_task_2.\n"
    assert json.loads(out)["lost"] == 1, "the gate does not swallow the result"


def test_an_unpaired_task_is_one_clear_line_and_can_be_dropped(command, folders, tmp_path):
    base, memory = folders
    write_run(tmp_path / "without", "user_task_9", True)
    code, out, err = command(base, "--with", memory)
    assert (code, out) == (1, "")
    assert err.startswith("contramem: 1 task(s) were run on one side only: user_task_9 (base). Re-run them, or")
    code, out, _ = command(base, "--with", memory, "--drop-unpaired", "--json")
    assert json.loads(out)["unpaired"] == {"base": ["user_task_9"], "memory": []}


@pytest.mark.parametrize(
    "order",
    [
        pytest.param("base more-base --with memory --with more-memory --json", id="an-option-each"),
        pytest.param("base more-base --with memory more-memory --json", id="as-the-shell-expands-a-star"),
        pytest.param("base more-base --json --with=memory more-memory", id="with-an-equals-sign"),
        pytest.param("--with memory --json base more-base --with more-memory", id="options-first"),
    ],
)
def test_both_sides_may_be_spread_over_several_paths(command, folders, tmp_path, order):
    paths = dict(zip(["base", "memory"], folders, strict=True))
    for side in ("more-base", "more-memory"):
        write_run(tmp_path / side, "user_task_7", True)
        paths[side] = str(tmp_path / side)
    paths["--with=memory"] = f"--with={paths['memory']}"
    code, out, _ = command(*(paths.get(word, word) for word in order.split()))
    assert code == 0
    assert json.loads(out)["tasks"] == 4


def test_files_that_cannot_be_read_are_reported_on_stderr(command, folders, tmp_path):
    base, memory = folders
    (tmp_path / "with" / "broken.json").write_text("{")
    code, out, err = command(base, "--with", memory, "--json")
    assert code == 0
    assert "broken.json: is not valid JSON" in err
    assert [set(problem) for problem in json.loads(out)["problems"]] == [{"where", "what", "hint"}]


def test_a_missing_path_is_one_clear_line(command, folders):
    assert command(folders[0], "--with", "nowhere")[::2] == (
        1,
        "contramem: nowhere: there is no such file or folder.\n",
    )


def test_html_writes_a_page_with_its_command_and_inputs(command, folders, tmp_path):
    base, memory = folders
    code, _, err = command(base, "--with", memory, "--html", str(tmp_path / "report.html"))
    html = (tmp_path / "report.html").read_text()
    assert (code, err) == (0, f"{tmp_path}/report.html: written.\n")
    assert f"contramem evaluate compare {base} --with {memory} --html" in html
    assert len(re.findall(r'<code title="[0-9a-f]{64}">', html)) == 2
    assert "user_task_2" in html


@pytest.mark.parametrize("option", ["--html", "--tables"])
def test_a_place_that_cannot_be_written_is_one_clear_line(command, folders, tmp_path, option):
    base, memory = folders
    (tmp_path / "file").write_text("")
    code, _, err = command(base, "--with", memory, option, str(tmp_path / "file" / "x"))
    assert code == 1
    assert re.fullmatch(rf"contramem: {tmp_path}/file/x: cannot be (written|made) \(Not a directory\)\.\n", err)


def test_tables_are_written_as_markdown_latex_and_csv(command, folders, tmp_path):
    base, memory = folders
    assert command(base, "--with", memory, "--tables", str(tmp_path / "new" / "tables"))[0] == 0
    assert {path.suffix for path in (tmp_path / "new" / "tables").iterdir()} == {".md", ".tex", ".csv"}


def write_log(path, *lines):
    path.write_text("".join(json.dumps({"log": 1, "time": "", "where": "start"} | line) + "\n" for line in lines))
    return str(path)


def test_with_an_inject_log_the_outcomes_of_runs_with_a_card_are_shown(command, folders, tmp_path):
    base, memory = folders
    log = write_log(
        tmp_path / "log.jsonl",
        {"run": "a", "task": "user_task_1", "cards": {"skill::x": 20}, "tokens": 30},
        {"run": "b", "task": "user_task_2", "cards": {"skill::x": 20, "function::y": 9}, "tokens": 40},
    )
    found = json.loads(command(base, "--with", memory, "--injections", log, "--json")[1])
    assert found["injections"] == {
        "shown": 2, "held_out": 0, "not_in_log": 1, "memory_tokens": 35.0, "unreadable": 0,
    }  # fmt: skip
    assert [card["card_id"] for card in found["cards"]] == ["skill::x", "function::y"]
    assert found["cards"][0] == {
        "card_id": "skill::x", "tasks": 2, "shown": {"passed": 1, "failed": 1}, "base": {"passed": 1, "failed": 1},
        "gained": 1, "lost": 1, "tasks_gained": 1, "tasks_lost": 1, "interval": None,
            "held_out": {"passed": 0, "failed": 0},
    }  # fmt: skip
    out = command(base, "--with", memory, "--injections", log)[1]
    assert "function::y" in out
    assert "Of 1 run(s) with memory the log says nothing" in " ".join(out.split())


def test_without_an_inject_log_cards_are_unknown(command, folders):
    base, memory = folders
    assert json.loads(command(base, "--with", memory, "--json")[1])["cards"] is None


def test_the_ledger_of_a_store_becomes_a_section_and_a_frozen_bank_is_refused(command, folders, tmp_path):
    base, memory = folders
    build(tmp_path / "cards.db", written(tmp_path / "runs.jsonl", shipped("drive")))
    report = tmp_path / "report.html"
    assert command(base, "--with", memory, "--html", str(report), "--bank", str(tmp_path / "cards.db"))[0] == 0
    assert "How the bank came about" in report.read_text()
    (tmp_path / "bank.jsonl").write_bytes(frozen(tmp_path / "cards.db"))
    err = command(base, "--with", memory, "--html", str(report), "--bank", str(tmp_path / "bank.jsonl"))[2]
    assert err.endswith("a frozen bank has no ledger. Name the store it was frozen from.\n")


def test_bank_without_html_is_refused(command, folders):
    base, memory = folders
    assert command(base, "--with", memory, "--bank", "cards.db")[::2] == (
        1,
        "contramem: --bank is for the report. Name the report's file with --html.\n",
    )


def test_the_reading_options_work_as_in_other_commands(command, tmp_path):
    """Chat records that call things otherwise, with outcomes in a file of their own for the runs of both sides."""
    for side in ("without", "with"):
        record = {"id": "t1", "llm": "m", "messages": [{"role": "user", "content": "Go."}]}
        (tmp_path / f"{side}.jsonl").write_text(json.dumps(record) + "\n")
    (tmp_path / "outcomes.csv").write_text("run,passed\nwithout.jsonl,false\nwith.jsonl,true\nelsewhere.jsonl,true\n")
    code, out, err = command(
        str(tmp_path / "without.jsonl"), "--with", str(tmp_path / "with.jsonl"), "--map", "task_id=id",
        "--map", "source=llm", "--outcomes", str(tmp_path / "outcomes.csv"), "--ability", "search", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert (found["gained_tasks"], list(found["by_ability"])) == (["t1"], ["search"])
    assert [problem["what"] for problem in found["problems"]] == ["row 'elsewhere.jsonl' matches no run that was read"]
    assert "without.jsonl" not in err


def test_a_side_without_runs_is_one_clear_line(command, folders, tmp_path):
    (tmp_path / "empty").mkdir()
    code, out, err = command(folders[0], "--with", str(tmp_path / "empty"))
    assert (code, out) == (1, "")
    assert err == "contramem: no run was read for the memory side. Name files or folders that hold traces.\n"


def test_sources_of_one_folder_can_be_the_two_sides(command):
    runs = str(Path(__file__).parents[2] / "examples" / "heldout")
    sources = ["--sources", "scripted-hasty", "--with-sources", "scripted-careful"]
    found = json.loads(command(runs, "--with", runs, *sources, "--json")[1])
    assert (found["gained"], found["lost"]) == (9, 0)
    assert found["sources"] == {"base": ["scripted-hasty"], "memory": ["scripted-careful"]}
    code, _, err = command(runs, "--with", runs, "--sources", "scripted-hasty", "--with-sources", "nobody")
    assert code == 1
    assert err.startswith(
        "contramem: --with-sources: there are no runs by 'nobody'. The sources here are scripted-careful,"
    )
