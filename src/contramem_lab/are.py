"""Meta's ARE, and GAIA2 in it: its own Python environment, the settings of runs, and scenarios as tasks."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from contramem.errors import UsageError
from contramem.retrieve.hit import Query
from contramem.traces.readers.are import ABILITIES
from contramem.traces.trajectory import Tool
from contramem.whole_file import replacing
from contramem_lab.environment import Task

PACKAGE = "meta-agents-research-environments"
VERSION = "1.2.0"
WHERE = "CONTRAMEM_ARE"
"""The environment variable that names the environment, if it is not where `--install` puts it."""


@dataclass(frozen=True)
class Installation:
    """A Python environment with ARE installed."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def is_there(self) -> bool:
        """Is ARE in it? It is not imported for that, which takes seconds."""
        return self.python.exists() and any(self.folder.glob("**/site-packages/are/simulation/__init__.py"))


@dataclass(frozen=True)
class InstallReport:
    folder: Path
    seconds: float
    megabytes: float


def default_folder() -> Path:
    """Where ARE is looked for and installed."""
    named = os.environ.get(WHERE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else cache / "contramem" / f"are-{VERSION}"


def find_installation(folder: Path | None = None) -> Installation:
    """ARE's environment, or an error that says how to make it."""
    installation = Installation(folder or default_folder())
    if not installation.is_there:
        raise UsageError(
            f"ARE is not installed at {installation.folder}. Make its environment with `contramem lab bench are "
            "--install`, "
            f"or name one that has {PACKAGE} with {WHERE}."
        )
    return installation


def install(folder: Path | None = None, say: Callable[[str], None] = print) -> InstallReport:
    """Create the environment and install ARE in it, or update an existing one."""
    installation, began = Installation(folder or default_folder()), time.monotonic()
    installation.folder.parent.mkdir(parents=True, exist_ok=True)
    for command in _commands(installation):
        say(" ".join(command))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
            raise UsageError(f"`{' '.join(command)}` failed: {last[0]}")
    size = sum(file.lstat().st_size for file in installation.folder.rglob("*") if file.is_file())
    return InstallReport(installation.folder, time.monotonic() - began, size / 1e6)


def _commands(installation: Installation) -> list[list[str]]:
    wanted, python = f"{PACKAGE}=={VERSION}", str(installation.python)
    beside = Path(sys.executable).with_name("uv")
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)
    if uv:  # pip needs minutes for ARE's hundred packages
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return [
            [uv, "venv", "--quiet", "--allow-existing", "--python", version, str(installation.folder)],
            [uv, "pip", "install", "--quiet", "--python", python, wanted],
        ]
    return [
        [sys.executable, "-m", "venv", str(installation.folder)],
        [python, "-m", "pip", "install", "--quiet", wanted],
    ]


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


BUILT_IN = (
    "scenario_tutorial",
    "scenario_events_tutorial",
    "scenario_validation_tutorial",
    "scenario_apps_tutorial",
    "scenario_find_image_file",
)
COLUMNS = ("task_id", "environment", "ability", "scenario_id", "wording")


@dataclass(frozen=True)
class AreTask(Task):
    """A scenario. Its request is known before it runs, except for built-in scenarios and Python classes."""

    place: str = field(default="", kw_only=True)
    """As the worker takes it: a JSON file, `file.py:Class`, or the name of a built-in scenario."""

    def query(self, tools: Iterable[Tool]) -> Query:
        names = frozenset(tool.function for tool in tools)
        return Query(self.wording, self.ability, frozenset(self.apps) or None, names or None)


def read_scenarios(places: Iterable[str], problems: list[str]) -> dict[str, AreTask]:
    """The scenarios at these places, by id. A file that is not a scenario goes to `problems`; the others are read."""
    tasks: dict[str, AreTask] = {}
    for place in places:
        for task in _tasks_at(place, problems):
            if task.id in tasks:
                raise UsageError(f"{task.place}: the scenario {task.id} is also in {tasks[task.id].place}.")
            tasks[task.id] = task
    if not tasks:
        first = f" First problem: {problems[0]}" if problems else ""
        raise UsageError(f"{', '.join(places)}: there is no scenario.{first} GAIA2 folders hold CONFIG/SPLIT/*.json.")
    return tasks


def _tasks_at(place: str, problems: list[str]) -> Iterator[AreTask]:
    path = Path(place)
    if place in BUILT_IN:
        yield AreTask(place, ("",), (), place=place)
    elif ".py:" in place:
        yield AreTask(place.rpartition(":")[2], ("",), (), place=place)
    elif path.exists():
        files = [path] if path.is_file() else sorted(path.rglob("*.json"))
        for file in files:
            try:
                yield scenario_task(file)
            except (ValueError, KeyError, TypeError, OSError) as error:
                problems.append(f"{file}: is not an ARE scenario ({_reason(error)}).")
    else:
        raise UsageError(f"{place}: is neither a file, a folder, file.py:Class nor one of {', '.join(BUILT_IN)}.")


def _reason(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def scenario_task(file: Path) -> AreTask:
    """The task of one scenario file. Nothing that only the oracle knows is looked at."""
    document: dict[str, Any] = msgspec.json.decode(file.read_bytes())
    definition = document["metadata"]["definition"]
    return AreTask(
        id=str(definition["scenario_id"]),
        turns=(_first_request(document["events"]),),
        apps=tuple(dict.fromkeys(str(app["class_name"]) for app in document["apps"])),
        ability=_ability(definition.get("tags") or (), file),
        place=str(file),
    )


def _ability(tags: Iterable[str], file: Path) -> str | None:
    """By its tag; else by the folder of GAIA2's layout that it lies in."""
    tagged = next((tag.lower() for tag in tags if tag.lower() in ABILITIES), None)
    folder = file.parent.parent.name.lower()
    return tagged or (folder if folder in ABILITIES else None)


def _first_request(events: Iterable[dict[str, Any]]) -> str:
    for event in events:
        action = event.get("action") or {}
        if action.get("function") == "send_message_to_agent" and event.get("event_type") in ("USER", "ENV"):
            return str(next(arg["value"] for arg in action["args"] if arg["name"] == "content"))
    raise ValueError("nobody asks the agent for anything in it")


def write_task_list(tasks: Iterable[AreTask], path: Path) -> None:
    """All tasks as CSV, for a split that is fixed before any run exists."""
    rows = [[task.id, "are", task.ability or "general", task.family or task.id, task.wording] for task in tasks]
    with replacing(path) as binary:
        lines = csv.writer(_Encoded(binary))
        lines.writerow(COLUMNS)
        lines.writerows(rows)


class _Encoded:
    """Writes text to a binary file."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode())


def unpack(source: Path, destination: Path) -> dict[str, int]:
    """Write the scenarios below `source` as `ABILITY/SPLIT/SCENARIO.json`, and say how many each ability has.

    Only folders named after an ability are unpacked: GAIA2's others (`mini`, `demo`) repeat scenarios of these.
    """
    counts: dict[str, int] = {}
    for file in sorted(source.rglob("*.parquet")):
        ability = file.parent.name.lower()
        if ability in ABILITIES:
            for split, name, text in _rows(file):
                _write(destination / ability / split / f"{name}.json", text)
                counts[ability] = counts.get(ability, 0) + 1
    if not counts:
        raise UsageError(f"{source}: there is no ABILITY/*.parquet (abilities: {', '.join(ABILITIES)}).")
    return counts


def _rows(file: Path) -> Iterator[tuple[str, str, str]]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise UsageError("reading Parquet needs pyarrow: pip install 'contramem[parquet]'.") from None
    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=8, columns=["scenario_id", "split", "data"]):
            yield from ((row["split"], row["scenario_id"], row["data"]) for row in batch.to_pylist())
    except (ArrowInvalid, KeyError, OSError) as error:
        raise UsageError(f"{file}: is not GAIA2 as its hub has it ({error}).") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
