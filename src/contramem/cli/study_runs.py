"""Opens the runs of a study: from the cache, or read with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from contramem.cli.output import progress
from contramem.cli.reading import read_pool
from contramem.study.run_cache import FOLDER, Study, open_study
from contramem.traces.reader import ReadOptions

no_cache_option = click.option(
    "--no-cache", is_flag=True, help=f"Read RUNS again and store nothing in {FOLDER} (used for large sets)."
)


@contextmanager
def study_runs(paths: tuple[Path, ...], options: ReadOptions, no_cache: bool = False) -> Iterator[Study]:
    """Open the runs under `paths` for a study."""
    with progress() as tell:
        study = open_study(
            paths,
            options,
            lambda: read_pool(paths, options),
            cache=None if no_cache else FOLDER,
            on_progress=tell,
        )
        with study as opened:
            yield opened
