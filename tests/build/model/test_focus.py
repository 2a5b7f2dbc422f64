"""Focus blocks: chosen by ability or signature, replaced by a user's own file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made_runs import packet, run
from tests.model_replies import Runs

from contramem.build.model.focus import load_focus
from contramem.errors import UsageError


def test_the_focus_follows_the_ability_of_app_tools_and_the_signature_of_code(runs: Runs) -> None:
    blocks = load_focus()
    assert set(blocks.blocks["app_tool"]) == {"execution", "search", "ambiguity", "adaptability", "time", "default"}
    signatures = {"answer_extraction", "bulk_or_multi_write", "state_write", "cross_app", "default"}
    assert set(blocks.blocks["code_agent"]) == signatures
    about = packet(run("a", True, "done", task="How many songs did I like?", ability="Search"))
    assert blocks.of("app_tool", about).name == "search"
    assert blocks.of("code_agent", about).name == "answer_extraction"
    other = packet(run("a", True, "done", ability="refunds"))
    assert blocks.of("app_tool", other).name == "default"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[app_tool.a]\nobligation = 'x'", "needs `obligation` and `contrasts`"),
        ("[tools.a]\nobligation = 'x'\ncontrasts = 'y'", r"\[tools\] is not a suite"),
        ("[app_tool.a]\nobligation = ''\ncontrasts = 'y'", "has an empty"),
        ("not toml", "is not TOML"),
    ],
)
def test_a_focus_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "focus.toml").write_text(text)
    with pytest.raises(UsageError, match=complaint):
        load_focus(tmp_path / "focus.toml")
