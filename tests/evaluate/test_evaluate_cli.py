import json

import pytest

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
    assert "take it as an anecdote" in " ".join(out.split())
    assert "banking  " not in out


def test_by_ability_shows_a_line_for_each(command, folders):
    base, memory = folders
    assert "banking  " in command(base, "--with", memory, "--by", "ability")[1]


def test_fail_on_harm_lets_as_many_pass_as_it_says(command, folders):
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
