"""Write trajectories in contramem's own format, the one that every other is converted to."""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from contramem.errors import TraceError, UsageError
from contramem.traces.trajectory import Trajectory
from contramem.whole_file import replacing

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT = "contramem-trace"
VERSION = 1

_encode = msgspec.json.Encoder().encode


def write_traces(trajectories: Iterable[Trajectory], path: Path | str) -> int:
    """Write one trajectory per line, compressed when the path ends in .gz, .xz or .zst, and say how many.

    All or nothing: the file appears when it is complete, and a failure leaves what was there before. The same
    trajectories give the same bytes. JSON has no NaN, no infinity and no half of a surrogate pair: the numbers are
    written as null, the characters as U+FFFD.
    """
    path = Path(path)
    count = 0
    try:
        with replacing(path, private=True) as file, _compressing(file, path.suffix) as stream:
            stream.write(_encode({"format": FORMAT, "version": VERSION}) + b"\n")
            for trajectory in trajectories:
                stream.write(encode_line(trajectory) + b"\n")
                count += 1
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror or error}).") from None
    return count


def encode_line(trajectory: Trajectory) -> bytes:
    """One line, without its end."""
    try:
        return _encode(trajectory)
    except UnicodeEncodeError:
        return _encode(_replace_surrogates(msgspec.to_builtins(trajectory)))
    except RecursionError:
        raise TraceError(f"{trajectory.origin}: a value is nested too deeply to be written") from None


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_surrogates(child) for child in value]
    return value


@contextmanager
def _compressing(file: IO[bytes], ending: str) -> Iterator[IO[bytes]]:
    if ending == ".gz":
        # Without a name and a time in its header, gzip gives the same bytes each time.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream:
            yield cast(IO[bytes], stream)
    elif ending == ".xz":
        with lzma.open(file, "wb") as stream:
            yield cast(IO[bytes], stream)
    elif ending == ".zst":
        with zstd.open(file, "wb") as stream:
            yield cast(IO[bytes], stream)
    else:
        yield file
