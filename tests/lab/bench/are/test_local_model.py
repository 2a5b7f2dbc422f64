"""One scenario with a real small model behind an OpenAI-compatible server: `CONTRAMEM_LOCAL_MODEL_URL=http://...`."""

from __future__ import annotations

import os

import pytest
from tests.lab.bench.are_runs import made_up, needs_are

from contramem_lab.are import AreTarget
from contramem_lab.environment import Limits

URL = os.environ.get("CONTRAMEM_LOCAL_MODEL_URL")


@needs_are
@pytest.mark.local_model
@pytest.mark.skipif(not URL, reason="set CONTRAMEM_LOCAL_MODEL_URL to an OpenAI-compatible server to run it")
def test_a_real_model_is_asked_its_run_is_judged_and_its_tokens_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it passes is up to the model."""
    monkeypatch.setenv("LOCAL_KEY", "none")
    target = AreTarget("local", url=URL, key="LOCAL_KEY", extra={"max_tokens": 200, "temperature": 0, "timeout": 1700})
    done = made_up().attempt("made_up_execution_1", target, None, Limits(steps=3, seconds=1800))
    print(done.outcome, done.usage, [(call.function, call.arguments) for call in done.calls])
    assert done.outcome.passed is not None
    assert done.usage.model_calls and (done.usage.tokens_in or 0) > 1000 and done.usage.tokens_out
