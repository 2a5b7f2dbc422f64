"""GAIA2's Parquet files become the folders that ARE reads. The files are made here, in the columns of the hub."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lab.bench.are_runs import SCENARIOS

from contramem.errors import UsageError
from contramem_lab.are import read_scenarios, unpack

pyarrow = pytest.importorskip("pyarrow")


def write_parquet(
    path: Path, files: list[Path], columns: tuple[str, ...] = ("id", "scenario_id", "split", "data")
) -> None:
    from pyarrow import parquet

    values = {"id": [f"row-{file.stem}" for file in files], "scenario_id": [file.stem for file in files],
              "split": ["validation"] * len(files), "data": [file.read_text() for file in files]}  # fmt: skip
    path.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.table({name: values[name] for name in columns}), path)


def test_every_row_of_an_ability_is_a_scenario_and_repeated_configurations_are_left_out(tmp_path: Path) -> None:
    search, time = (sorted((SCENARIOS / name).rglob("*.json")) for name in ("search", "time"))
    name = "validation-00000-of-00001.parquet"
    write_parquet(tmp_path / "hub" / "search" / name, search)
    write_parquet(tmp_path / "hub" / "time" / name, time)
    write_parquet(tmp_path / "hub" / "mini" / name, search)
    assert unpack(tmp_path / "hub", tmp_path / "gaia2") == {"search": 3, "time": 3}
    unpacked = read_scenarios([str(tmp_path / "gaia2")], [])
    assert {task.id for task in unpacked.values()} == {file.stem for file in (*search, *time)}
    assert (tmp_path / "gaia2" / "time" / "validation" / "made_up_time_1.json").read_text() == time[0].read_text()


def test_other_parquet_is_refused_by_name(tmp_path: Path) -> None:
    write_parquet(tmp_path / "time" / "x.parquet", sorted((SCENARIOS / "time").rglob("*.json")), ("id", "split"))
    with pytest.raises(UsageError, match=r"x.parquet: is not GAIA2 as its hub has it"):
        unpack(tmp_path, tmp_path / "out")


def test_a_folder_without_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no ABILITY/\*.parquet"):
        unpack(tmp_path, tmp_path / "out")
