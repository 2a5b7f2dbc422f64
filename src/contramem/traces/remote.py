"""Runs in object storage, named by URL (`s3://bucket/runs`, `gs://bucket/run.jsonl`), through fsspec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contramem.errors import UsageError
from contramem.scratch import ScratchFolder

# One letter is a Windows drive. A path object writes `s3://bucket` as `s3:/bucket`.
_URL = re.compile(r"([a-z][a-z0-9+.\-]+):/{1,2}([^/].*)", re.IGNORECASE)


def url_of(path: Path | str) -> str | None:
    """The URL that a path stands for; None for a path of this machine."""
    match = _URL.fullmatch(str(path))
    return f"{match[1].lower()}://{match[2]}" if match else None


@contextmanager
def download(url: str) -> Iterator[Path]:
    """A temporary folder with the files under a URL. Verdicts that lie beside runs are there too."""
    with ScratchFolder("download") as folder:
        files, prefix = _open(url)
        try:
            names = files.find(prefix)
            for name in names:
                inside = name[len(prefix) :].strip("/") or name.rpartition("/")[2]
                place = Path(folder, *(part for part in inside.split("/") if part not in ("", ".", "..")))
                place.parent.mkdir(parents=True, exist_ok=True)
                files.get_file(name, str(place))
        except Exception as error:  # every storage has exceptions of its own
            raise UsageError(f"{url}: cannot be read ({error}).") from error
        if not names:
            raise UsageError(f"{url}: there is no such file or folder.")
        yield folder


def _open(url: str) -> tuple[Any, str]:
    try:
        import fsspec

        files, prefix = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{url}: object storage needs pip install 'contramem[cloud]' ({error}).") from None
    except ValueError as error:
        raise UsageError(f"{url}: {error}.") from None
    return files, prefix
