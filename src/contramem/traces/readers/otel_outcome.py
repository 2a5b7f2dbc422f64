"""What a trace says about its own success and cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from contramem.traces.decoding import number
from contramem.traces.readers.otel_messages import is_model
from contramem.traces.readers.otel_spans import Span
from contramem.traces.trajectory import Ending, Outcome, RunUsage
from contramem.traces.verdict_files import verdict_of

_SUCCESS = frozenset(
    "accuracy accurate complete completed completion correct correctness goal outcome pass passed resolved reward "
    "solved success succeeded successful".split()
)
_NO_SUCCESS = frozenset(
    "bias biased cost duration frustration hallucination hallucinated harm harmful harmfulness injection jailbreak "
    "latency leak length pii refusal speed time tokens toxic toxicity verbosity".split()
)
"""Words in the names of evaluations: those that say whether the task was done, and those that measure something else,
often something of which less is better."""


class Evaluation(NamedTuple):
    """One evaluation of a trace."""

    name: str
    score: Any
    label: Any
    why: str

    @property
    def words(self) -> set[str]:
        return set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", self.name).lower()))


def outcome_of(spans: list[Span], named: object) -> Outcome:
    """`named`, the user's own attribute, decides; otherwise all evaluations about success must pass."""
    evaluations = [Evaluation("", named, None, "")] if named is not None else _about_success(list(_evaluations(spans)))
    judged = [_judge(evaluation.score, evaluation.label) for evaluation in evaluations]
    rewards = [reward for evaluation in evaluations if (reward := number(evaluation.score)) is not None]
    failed = next((span for span in spans if not span.parent and span.error), None)
    ended: Ending = "complete"
    if failed is not None:
        ended = "limit" if "limit" in str(failed.error).lower() else "interrupted"
    texts = [evaluation.why for evaluation in evaluations if evaluation.why] or (
        [failed.error] if failed and failed.error else []
    )
    return Outcome(_all(judged), min(rewards, default=None), "\n".join(texts)[:4000], ended)


def _about_success(evaluations: list[Evaluation]) -> list[Evaluation]:
    """The evaluations named after success; if there are none, all but those that measure something else."""
    telling = [evaluation for evaluation in evaluations if evaluation.words & _SUCCESS]
    return telling or [evaluation for evaluation in evaluations if not evaluation.words & _NO_SUCCESS]


def _all(judged: list[bool | None]) -> bool | None:
    verdicts = [passed for passed in judged if passed is not None]
    return all(verdicts) if verdicts else None


def _judge(value: object, label: object) -> bool | None:
    """A label that we know decides; a score passes from 1."""
    by_label, _ = verdict_of(label)
    return verdict_of(value)[0] if by_label is None else by_label


def _evaluations(spans: list[Span]) -> Iterator[Evaluation]:
    """Those of the GenAI evaluation events and of OpenInference's `eval.<name>.*` attributes."""
    for span in spans:
        for name, values in span.events:
            if name == "gen_ai.evaluation.result":
                score, label = (values.get(f"gen_ai.evaluation.score.{part}") for part in ("value", "label"))
                named = str(values.get("gen_ai.evaluation.name") or "")
                yield Evaluation(named, score, label, str(values.get("gen_ai.evaluation.explanation") or ""))
        keys = [key.split(".") for key in span.attributes if key.startswith("eval.")]
        for name in sorted({parts[1] for parts in keys if len(parts) > 2}):
            score, label, why = (span.get(f"eval.{name}.{part}") for part in ("score", "label", "explanation"))
            yield Evaluation(name, score, label, str(why or ""))


def usage_of(spans: list[Span]) -> RunUsage:
    """Summed over model spans; if there are none, the totals of the agent's span."""
    models = [span for span in spans if is_model(span)]
    counted = models or [span for span in spans if not span.parent]
    tokens_in = _sum(
        counted, "gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.aggregated_usage.input_tokens"
    )
    tokens_out = _sum(
        counted, "gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.aggregated_usage.output_tokens"
    )
    return RunUsage(
        model_calls=len(models) or None,
        tokens_in=None if tokens_in is None else int(tokens_in),
        tokens_out=None if tokens_out is None else int(tokens_out),
        cost_usd=_sum(counted, "llm.cost.total", "operation.cost"),
    )


def _sum(spans: list[Span], *names: str) -> float | None:
    values = [value for span in spans if (value := number(span.get(*names))) is not None]
    return sum(values) if values else None
