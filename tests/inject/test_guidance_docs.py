import re
import shutil
from pathlib import Path

import pytest

DOCS = (Path(__file__).parents[2] / "docs" / "guidance.md").read_text(encoding="utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=["agent", "production", "own-profile"])
def test_the_examples_in_the_docs_run(example, bank_path, tmp_path, monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)
    shutil.copy(bank_path, tmp_path / "bank.jsonl")
    monkeypatch.chdir(tmp_path)
    values = {}
    exec(compile(example, "docs/guidance.md", "exec"), values)
    assert values["run"].guidance or values["run"].withheld


def test_the_policy_in_the_docs_is_the_policy_agents_see(memory):
    shown = memory.start("Delete the newsletter emails", ability="ambiguity").guidance.text
    for line in shown.splitlines()[:7]:
        assert line in DOCS
