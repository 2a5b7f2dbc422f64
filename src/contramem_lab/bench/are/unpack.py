"""Unpacks GAIA2 for ARE: its hub has a Parquet file for each ability, with one scenario per row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from contramem.errors import UsageError
from contramem.traces.readers.are import ABILITIES
from contramem.whole_file import replacing


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
