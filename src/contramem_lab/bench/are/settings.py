"""Settings of runs in ARE."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from contramem.errors import UsageError

JudgeKind: TypeAlias = Literal["llm", "scripted", "none"]
Message: TypeAlias = Mapping[str, str]


class AreEngine(Protocol):
    """Your own model: it reads ARE's messages and writes a thought and an action. It may serve several runs."""

    @property
    def name(self) -> str:
        """The source of its runs."""

    def complete(self, messages: Sequence[Message]) -> str:
        """The reply, in the form that ARE asks for."""


def read_key(whose: str, variable: str | None, url: str | None) -> str | None:
    """The content of the environment variable. None: the provider's own variable is used.

    A local server needs no key, but ARE's client insists on one.
    """
    if variable is None:
        return "none" if url is not None and "OPENAI_API_KEY" not in os.environ else None
    if variable not in os.environ:
        raise UsageError(f"{whose}: the key is read from ${variable}, which is not set.")
    return os.environ[variable]


def _address(model: str, provider: str | None, url: str | None) -> dict[str, str | None]:
    """A URL without a provider is an OpenAI-compatible server, which ARE reaches under another name."""
    if url is not None and provider is None:
        provider, model = "local", model if model.startswith("openai/") else f"openai/{model}"
    return {"model": model, "provider": provider, "url": url}


@dataclass(frozen=True)
class AreTarget:
    """A model under test: its address for ARE, or an engine in this process."""

    name: str
    model: str = ""
    provider: str | None = None
    """As ARE takes it. With a `url` and no provider, any OpenAI-compatible server is meant."""
    url: str | None = None
    engine: AreEngine | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Goes into every request as it is."""
    key: str | None = None
    """The environment variable that holds the key, where the provider's own is not meant."""

    @property
    def address(self) -> dict[str, Any]:
        """Its part of the worker's job."""
        if self.engine is not None:
            return {"engine": "linked", "model": self.name, "provider": "mock", "url": None, "extra": {}}
        return {"engine": "are", "extra": dict(self.extra)} | _address(self.model or self.name, self.provider, self.url)

    def read_key(self) -> str | None:
        """The key itself. It is passed to the run and never written to a file."""
        return read_key(self.name, self.key, self.url)


@dataclass(frozen=True)
class Judge:
    """Who says whether a run passed: GAIA2's verifier with a model (`llm`), or its rules alone (`scripted`)."""

    kind: JudgeKind = "llm"
    """`scripted` asks no model and does not look at free text: for tests, not a GAIA2 score. `none`: nobody judges."""
    model: str | None = None
    provider: str | None = None
    url: str | None = None
    key: str | None = None
    """The environment variable that holds the key, where the provider's own is not meant."""

    @property
    def address(self) -> dict[str, Any]:
        """Its part of the worker's job."""
        return {"kind": self.kind} | _address(self.model or "", self.provider, self.url)

    def read_key(self) -> str | None:
        return read_key("the judge", self.key, self.url)

    def check(self) -> None:
        if self.kind == "llm" and self.model is None:
            raise UsageError(
                "the GAIA2 verifier needs a model as its judge. Name one (--judge-model, or judge_model in "
                "[environment.are]), or choose the judge 'scripted', which looks at no free text and gives "
                "no GAIA2 score."
            )


@dataclass(frozen=True)
class TimeRuntime:
    """The parts of the temporal runtime (paper, A.1). It runs for the ability Time; each part can be switched off."""

    clock: bool = True
    """Every observation says the simulated time."""
    ticks: bool = True
    """Notifications at fixed times end waits early."""
    guards: bool = True
    """With memory, ticks and the repair also go by what guards of shown cards still require. The paper's do not: they
    are the same with and without memory."""
    clip: bool = True
    """A wait ends before the scenario does."""
    repair: bool = True
    """The last message is held, at most twice, while something is pending."""
    final_card: bool = True
    """The finalization card is shown again near the last timer boundary."""
    universal: bool = True
    """Universal cards are shown first."""

    def for_ability(self, ability: str | None) -> dict[str, bool]:
        """What the worker switches on for a scenario: everything here for Time, nothing for the other abilities."""
        parts = asdict(self)
        return parts if ability == "time" else dict.fromkeys(parts, False)


@dataclass(frozen=True)
class AreSettings:
    """How scenarios are run, whatever the model."""

    judge: Judge = Judge()
    runtime: TimeRuntime = field(default_factory=TimeRuntime)
    tick_s: float = 60.0
    """Simulated seconds between two ticks."""
    duration_s: int = 1800
    """Simulated seconds of a scenario; ARE's own limits."""
    time_duration_s: int = 420
    """The same for Time."""


DEFAULT_SETTINGS = AreSettings()
