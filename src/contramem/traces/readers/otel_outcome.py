"""What a trace says about its own success and cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contramem.traces.files import number
from contramem.traces.readers.otel_messages import is_model
from contramem.traces.readers.otel_spans import Span
from contramem.traces.trajectory import Ending, Outcome, RunUsage
from contramem.traces.verdict_files import verdict_of


def outcome_of(spans: list[Span], named: object) -> Outcome:
    """`named` (what the user's own attribute says) alone, else every evaluation in the trace: all must pass."""
    evaluations = [(named, None, "")] if named is not None else list(_evaluations(spans))
    judged = [_judge(value, label) for value, label, _ in evaluations]
    rewards = [reward for value, _, _ in evaluations if (reward := number(value)) is not None]
    failed = next((span for span in spans if not span.parent and span.error), None)
    ended: Ending = "complete"
    if failed is not None:
        ended = "limit" if "limit" in str(failed.error).lower() else "interrupted"
    texts = [text for _, _, text in evaluations if text] or ([failed.error] if failed and failed.error else [])
    return Outcome(_all(judged), min(rewards, default=None), "\n".join(texts)[:4000], ended)


def _all(judged: list[bool | None]) -> bool | None:
    verdicts = [passed for passed in judged if passed is not None]
    return all(verdicts) if verdicts else None


def _judge(value: object, label: object) -> bool | None:
    """A label that we know decides; a score passes from 1."""
    by_label, _ = verdict_of(label)
    return verdict_of(value)[0] if by_label is None else by_label


def _evaluations(spans: list[Span]) -> Iterator[tuple[Any, Any, str]]:
    """(score, label, explanation) of the GenAI evaluation events and of OpenInference's `eval.<name>.*` attributes."""
    for span in spans:
        for name, values in span.events:
            if name == "gen_ai.evaluation.result":
                score, label = (values.get(f"gen_ai.evaluation.score.{part}") for part in ("value", "label"))
                yield score, label, str(values.get("gen_ai.evaluation.explanation") or "")
        named = [key.split(".") for key in span.attributes if key.startswith("eval.")]
        for name in sorted({parts[1] for parts in named if len(parts) > 2}):
            score, label, why = (span.get(f"eval.{name}.{part}") for part in ("score", "label", "explanation"))
            yield score, label, str(why or "")


def usage_of(spans: list[Span]) -> RunUsage:
    """Over the spans of models; where there are none, what the agent's span adds up."""
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
