"""Who writes the memories of an experiment: rules, one model, or the target itself for memories of its own runs."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from contramem.build.model.author import ModelChoice
from contramem.build.model.prompts import Prompts
from contramem.errors import UsageError
from contramem.llm.client import ModelSettings, price_of
from contramem.llm.exchange import Budget, ModelCaller
from contramem_lab.conditions import ByModel
from contramem_lab.experiment.config import ConstructionConfig, ExperimentConfig, TargetConfig

if TYPE_CHECKING:
    from contramem.llm.client import ProviderModel


class Authors:
    """The models that write memories, opened on first use and closed together."""

    def __init__(self, config: ExperimentConfig) -> None:
        self._construction = config.construction
        self._targets = {table.source or name: (name, table) for name, table in config.targets.items()}
        self._authors: dict[str | None, ByModel] = {}
        self._models: list[ProviderModel] = []

    def __enter__(self) -> Authors:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for model in self._models:
            model.close()

    def author_of(self, source: str | None) -> ByModel | None:
        """The author of a memory of the runs of one `source`, or of all runs. None: rules."""
        construction = self._construction
        if construction.author == "rules":
            return None
        own = source if construction.self_curated and source in self._targets else None
        if own not in self._authors:
            self._authors[own] = self._open(
                construction if own is None else _by_target(construction, self._targets[own])
            )
        return self._authors[own]

    def _open(self, construction: ConstructionConfig) -> ByModel:
        from contramem.llm.client import ProviderModel

        assert construction.model is not None, "checked before"
        settings = ModelSettings(temperature=construction.temperature, reasoning_effort=construction.reasoning_effort)
        choice = ModelChoice(
            construction.model, settings, Prompts(construction.suite), every_function=construction.every_function
        )
        budget = _budget(construction)
        model = ProviderModel(construction.model, base_url=construction.url, key_from=construction.key)
        self._models.append(model)
        return ByModel(choice, ModelCaller(model, budget=budget))


def _by_target(construction: ConstructionConfig, named: tuple[str, TargetConfig]) -> ConstructionConfig:
    """The same construction by a target, reached in the same way as the target."""
    name, target = named
    return msgspec.structs.replace(
        construction,
        model=f"openai:{target.model or name}",
        url=target.url,
        key=target.key,
        reasoning_effort=target.reasoning_effort,
    )


def _budget(construction: ConstructionConfig) -> Budget | None:
    if construction.budget_usd is None:
        return None
    price = price_of(construction.model or "")
    if price is None:
        raise UsageError(
            f"construction.budget_usd: the price of {construction.model} is not known, so a budget cannot be enforced."
        )
    return Budget(construction.budget_usd, price)
