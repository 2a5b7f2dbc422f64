"""What can be chosen about runs in ARE."""

from __future__ import annotations

import pytest

from contramem.errors import UsageError
from contramem_lab.are import AreTarget, Judge, TimeRuntime


def test_a_judge_without_a_model_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a model as its judge"):
        Judge("llm").check()


def test_the_temporal_runtime_is_for_time_alone() -> None:
    assert not any(TimeRuntime().for_ability("search").values())
    assert TimeRuntime(ticks=False).for_ability("time")["ticks"] is False


def test_a_url_without_a_provider_means_an_openai_compatible_server() -> None:
    address = AreTarget("mine", url="http://127.0.0.1:1/v1").address
    assert (address["provider"], address["model"]) == ("local", "openai/mine")


def test_a_key_that_is_not_set_is_named_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match=r"\$NO_SUCH_KEY, which is not set"):
        AreTarget("mine", key="NO_SUCH_KEY").read_key()


def test_a_key_is_in_nothing_that_describes_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret-1")
    target = AreTarget("mine", key="MY_KEY")
    assert target.read_key() == "secret-1"
    assert "secret-1" not in f"{target} {target.address}"


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert AreTarget("mine", url="http://127.0.0.1:1/v1").read_key() == "none"
    assert Judge(model="mine", url="http://127.0.0.1:1/v1").read_key() == "none"
    assert AreTarget("gpt-5.5", provider="openai").read_key() is None, "the provider's own variable is meant"
