"""ARE's own environment: found, or missed with the command that makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem_lab.are import default_folder, find_installation


def test_a_missing_environment_is_refused_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contramem lab bench are --install"):
        find_installation(tmp_path)


def test_an_environment_variable_sets_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAMEM_ARE", str(tmp_path))
    assert default_folder() == tmp_path
