import os
import stat
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem.inject.hook.client import private_folder
from contramem.inject.hook.place import HookOptions, HookPlace


def test_old_files_are_cleared_away(tmp_path):
    old, new = tmp_path / "session-old", tmp_path / "session-new"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    HookPlace(tmp_path, "x").clear_old()
    assert [path.name for path in tmp_path.iterdir()] == ["session-new"]


def test_one_of_many_starts_the_resident_process_and_another_one_if_it_never_comes(tmp_path):
    place = HookPlace(tmp_path, "x")
    assert [place.claim_start(), place.claim_start()] == [True, False]
    os.utime(tmp_path / "starting-x", (0, 0))
    assert place.claim_start()
    place.end_start()
    assert place.claim_start()


def test_a_problem_is_known_until_it_is_solved_or_old(tmp_path):
    place = HookPlace(tmp_path, "x")
    place.report("no bank")
    assert place.problem() == "no bank"
    os.utime(tmp_path / "problem-x.txt", (0, 0))
    assert place.problem() == ""
    place.report("")
    assert not list(tmp_path.iterdir())


def test_the_files_of_a_user_are_in_a_folder_that_nobody_else_can_write(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = Path(private_folder())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    with pytest.raises(UsageError, match="others can write here"):
        HookPlace.of(HookOptions("bank.jsonl"))


def test_options_are_read_as_they_are_written(tmp_path):
    options = HookOptions("bank.jsonl", tmp_path, "small", tmp_path / "log", tmp_path / "record")
    assert HookOptions.parse(options.arguments) == options
