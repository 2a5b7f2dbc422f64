import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from contramem.cli.guide import guide
from contramem.errors import BankFileError, UsageError

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."


@pytest.fixture
def run(bank_path, monkeypatch):
    """`contramem guide` on the sample bank."""
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)

    def run(*arguments, **options):
        return CliRunner().invoke(guide, [*arguments, "--bank", str(bank_path)], catch_exceptions=False, **options)

    return run


def test_it_prints_what_the_agent_gets(run, memory):
    assert run(TASK, "--ability", "ambiguity").output == memory.start(TASK, ability="ambiguity").guidance.text + "\n"


def test_json_has_text_tokens_and_hits(run):
    found = json.loads(run(TASK, "--apps", "EmailClient, Calendar", "--json").output)
    assert found["text"].startswith("## Notes")
    assert isinstance(found["tokens"], int)
    first = found["hits"][0]
    assert first["card_id"] == "skill::ambiguous-keep"
    assert first["shared_apps"] == ["EmailClient"]
    assert sum(first["terms"].values()) == pytest.approx(first["bm25"], abs=1e-4)


def test_explain_shows_the_score_of_what_was_shown_and_of_what_was_not(run):
    output = run(TASK, "--explain").output
    assert "of 1800 tokens (o200k_base), profile default" in output
    assert "apps of the task: EmailClient" in output
    assert "delete 1." in output
    assert "one sentence: see below" in run("Order a ride to the airport", "--explain").output
    assert "not shown: 2 are enough" in run("Delete emails, order a ride, add a calendar event", "--explain").output


def test_a_task_that_taught_a_card_can_be_excluded(run):
    assert "Delete clear emails" in run(TASK).output
    assert "Delete clear emails" not in run(TASK, "--exclude-task", "agentdojo/workspace/7").output


def test_nothing_is_said_with_its_reason(run):
    nothing = run("Compose a sonnet about zeppelins", "--profile", "gaia2").output
    assert nothing == "(nothing: no card is relevant enough to this task)\n"


def test_an_unknown_ability_is_pointed_out(run):
    output = run(TASK, "--ability", "cooking").output
    assert "contramem: no skill has the ability 'cooking'" in output
    assert "Delete clear emails" not in output


def test_the_task_may_come_from_standard_input(run):
    assert "Delete clear emails" in run("-", input=TASK).output


def test_a_bank_that_cannot_be_read_is_an_error_of_the_user(tmp_path):
    (tmp_path / "notes.txt").write_text("no bank\n")
    with pytest.raises(UsageError, match="there is no bank here"):
        CliRunner().invoke(guide, [TASK, "--bank", str(tmp_path / "no.jsonl")], catch_exceptions=False)
    with pytest.raises(BankFileError, match="is not a frozen bank"):
        CliRunner().invoke(guide, [TASK, "--bank", str(tmp_path / "notes.txt")], catch_exceptions=False)


def test_looking_up_a_function_needs_neither_numpy_nor_the_tokenizer(bank_path):
    code = (
        "import sys; from contramem.inject.run import Memory; memory = Memory.load(sys.argv[1]); "
        "assert memory.retriever.names.find('delete_email'); "
        "heavy = {'numpy', 'bm25s', 'bpe_openai', 'jinja2'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code, str(bank_path)], check=True)
