"""Files as readers see them: decompressed, decoded once, with access to neighbouring files; archives unpacked safely;
what lies in object storage; nearly valid JSON and other encodings."""

from __future__ import annotations

import ast
import bz2
import errno
import gzip
import io
import lzma
import math
import os
import re
import stat
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

import msgspec

from contramem.errors import TraceError, UsageError
from contramem.scratch import ScratchFolder

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_FILE_BYTES = 2 << 30
"""A file that unpacks to more is refused: a run is kilobytes, so this is a decompression bomb."""
MAX_DOCUMENT_BYTES = 256 << 20
"""Maximum size of a file that is one JSON value: it is decoded as a whole and takes about ten times its size in
memory."""
MAX_LINE_BYTES = 32 << 20
"""Maximum length of a line of JSON lines, for the same reason. A longer one is skipped and reported."""
MAX_RATIO = 200
"""The maximum compression ratio of a file that unpacks to more than `ALWAYS_UNPACKED_BYTES`."""
ALWAYS_UNPACKED_BYTES = 64 << 20
_BLOCK = 1 << 16
MAX_ARCHIVE_BYTES = 64 << 30
ALWAYS_UNPACKED_ARCHIVE_BYTES = 512 << 20
"""What an archive may always unpack to; beyond that, `MAX_RATIO` applies. Archives of runs reach a ratio of 50."""
MAX_ARCHIVE_MEMBERS = 1_000_000
MAX_ARCHIVE_DEPTH = 3
"""Maximum nesting of archives: a zip can contain itself."""

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open, ".zst": zstd.open}
_TAR_ENDINGS = (".tar", ".tgz", ".txz", ".tbz2", ".tzst", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst")
_SHORT_ENDINGS = {".tgz": ".gz", ".txz": ".xz", ".tbz2": ".bz2", ".tzst": ".zst"}
_TEXT_ENDINGS = {".json", ".jsonl", ".ndjson", ".traj"}

# What the standard library raises for damaged or truncated compressed files and archives.
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, tarfile.TarError, zipfile.BadZipFile)


class TraceFile:
    """One file of a trace: its name, and its content decoded once for all readers."""

    def __init__(self, path: Path, origin: str | None = None, root: Path | None = None, folder: str = "") -> None:
        self.path = path
        """Where the bytes are; for a file from an archive, a temporary location."""
        self.origin = origin or str(path)
        """The name to show: `archive!member` inside an archive."""
        self.root = root
        """The folder that the user named, if the file was found in one. Nothing above it is read."""
        self.folder = folder
        """The folder above it that may be named after a source."""
        self.looked_beside = False
        """Did a reader ask for neighbouring files? Then the content of this file alone does not determine what is
        read."""
        name = os.path.basename(path)  # noqa: PTH119  (pathlib costs more here than decoding the file)
        stem, ending = os.path.splitext(name)  # noqa: PTH122
        self._opener = _OPENERS.get(ending.lower())
        self.name = stem if self._opener else name
        """The file's name without the suffix of its compression: `run.jsonl` for `run.jsonl.zst`."""
        self.ending = (os.path.splitext(stem)[1] if self._opener else ending).lower()  # noqa: PTH122
        """The suffix in lower case, without that of the compression: `.json`, `.jsonl`, ..."""

    @classmethod
    def of_bytes(cls, name: str | Path, content: bytes) -> TraceFile:
        """A file that is already in memory."""
        file = cls(name if isinstance(name, Path) else Path(name))
        file.__dict__["content"] = content
        return file

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The components of the shown name, archives included, for readers that find a model or task in the path."""
        return tuple(self.origin.replace("!", "/").replace(os.sep, "/").split("/"))

    @cached_property
    def content(self) -> bytes:
        """The decompressed bytes."""
        with self._open() as stream:
            return to_utf8(_read_bounded(stream, self._limit, MAX_DOCUMENT_BYTES))

    @cached_property
    def _limit(self) -> int:
        """How many bytes this file may unpack to."""
        if self._opener is None:
            return MAX_FILE_BYTES
        return min(MAX_FILE_BYTES, max(ALWAYS_UNPACKED_BYTES, MAX_RATIO * self.path.stat().st_size))

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("rb") if self._opener is None else self._opener(self.path, "rb") as stream:
                yield stream
        except _BROKEN as error:
            raise TraceError(f"cannot be read ({error})", "Is the file complete, and readable by you?") from None

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value. Raises TraceError if it is not one."""
        return decode(self.content)

    @cached_property
    def is_lines(self) -> bool:
        """Does each line have its own JSON value, rather than the file as a whole?"""
        if self.ending in (".jsonl", ".ndjson"):
            _, first = next(self.raw_lines(), (0, b""))
            opens = not isinstance(first, TraceError) and first.strip() in (b"{", b"[")
            return not (opens and is_json(self.content))  # some tools save one printed document under this name
        content = self.content.lstrip()
        first = content[: content.find(b"\n") + 1].rstrip()
        # Most files are one value over many lines, and their first line is a lone bracket: told without decoding it.
        if not (first.startswith(b"{") and first.endswith(b"}")) or not content[len(first) :].strip():
            return False
        return is_json(first)

    def lines(self) -> Iterator[tuple[int, Any]]:
        """(line number, value) of each line, one at a time. For a line that is not JSON, the value is a TraceError."""
        for number, line in self.raw_lines():
            try:
                yield number, line if isinstance(line, TraceError) else decode(line)
            except TraceError as error:
                yield number, error

    def raw_lines(self) -> Iterator[tuple[int, bytes | TraceError]]:
        """(line number, bytes) of each line that is not blank, for readers that decode into types of their own.

        A line that is too long to decode is returned as a TraceError; the lines after it follow.
        """
        with self._open() if "content" not in self.__dict__ else io.BytesIO(self.content) as stream:
            # Only files in another encoding than UTF-8 with line feeds are read as a whole.
            foreign = is_foreign(stream.read(4096))
            stream.seek(0)
            if foreign:
                stream = io.BytesIO(to_utf8(_read_bounded(stream, self._limit, MAX_DOCUMENT_BYTES)))
            left = self._limit
            for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES + 1), b""), 1):
                left -= len(line)
                if left < 0:
                    raise _too_large(self._limit)
                if len(line) > MAX_LINE_BYTES:
                    left -= _skip_line(stream, left)
                    what = f"is longer than {MAX_LINE_BYTES >> 20} MiB, and was left out"
                    yield number, TraceError(what, "Is this one run? Leave out images and files that it embeds.")
                elif not line.isspace():
                    yield number, line

    @cached_property
    def head(self) -> Any:
        """What readers look at to know their format: the document, or the first line that is an object. Or None."""
        if self.ending not in _TEXT_ENDINGS:
            return None
        if not self.is_lines:
            return self.document
        return next((value for _, value in self.lines() if isinstance(value, dict)), None)

    def beside(self, relative: str) -> TraceFile | None:
        """The file at `relative` to this one's folder, or None. Never above the folder the user named."""
        self.looked_beside = True
        if os.path.isabs(relative):  # noqa: PTH117
            return None
        try:
            path = (self.path.parent / relative).resolve()
            if not path.is_file():
                return None
        except (OSError, ValueError):  # a name out of a trace may be no name for a file
            return None
        if self.root is not None and not path.is_relative_to(self.root.resolve()):
            return None
        archive, bang, member = self.origin.rpartition("!")
        origin = os.path.normpath(os.path.join(os.path.dirname(member), relative))  # noqa: PTH118, PTH120
        return TraceFile(path, f"{archive}{bang}{origin}", self.root)


def _read_bounded(stream: IO[bytes], *limits: int) -> bytes:
    """Read block by block, so that a decompression bomb is refused before it fills the memory."""
    blocks, size, limit = [], 0, min(limits)
    while block := stream.read(_BLOCK):
        size += len(block)
        if size > limit:
            raise _too_large(limit)
        blocks.append(block)
    return b"".join(blocks)


def _too_large(limit: int) -> TraceError:
    return TraceError(
        f"unpacks to more than {limit >> 20} MiB", "Runs are kilobytes: split it into JSON lines, or leave it out."
    )


def _skip_line(stream: IO[bytes], limit: int) -> int:
    """Skip to the end of a line that is too long. Returns the number of bytes skipped."""
    skipped = 0
    while skipped <= limit and (block := stream.readline(_BLOCK)):
        skipped += len(block)
        if block.endswith(b"\n"):
            break
    return skipped


def is_archive(path: Path | str) -> bool:
    """Is it a tar or zip of many files? Inspect's `.eval` is a zip as well, but a single trace that its reader
    opens."""
    return str(path).lower().endswith((*_TAR_ENDINGS, ".zip"))


@contextmanager
def unpack(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Unpack the regular files of an archive into a temporary folder; also returns why members were refused.

    Links, devices and names that point outside are refused; sizes and counts are limited.
    """
    with ScratchFolder("archive") as root:
        refused: list[str] = []
        try:
            is_zip = path.name.lower().endswith(".zip")
            for what in _unpack_zip(path, root) if is_zip else _unpack_tar(path, root):
                refused.append(what)
        except _BROKEN as error:
            if not any(root.iterdir()):
                raise TraceError(f"cannot be unpacked ({error})", "Is the archive complete?") from None
            refused.append(f"cannot be unpacked to its end ({error}); the files before that are read")
        except (NotImplementedError, RuntimeError) as error:  # zipfile: unknown method, or encrypted
            raise TraceError(f"cannot be unpacked ({error})", "Unpack it yourself and pass the folder.") from None
        yield root, refused


def _unpack_tar(path: Path, root: Path) -> Iterator[str]:
    budget = _Budget(path)
    with _open_tar(path) as archive:
        for member in archive:
            if member.isdir():
                continue
            if not member.isfile():
                yield f"{member.name!r} is a link or device, and was left out"
            elif (target := _inside(root, member.name)) is None:
                yield f"{member.name!r} points outside the archive, and was left out"
            elif not budget.spend(member.size):
                yield budget.refuse(member.name)
                return
            else:
                stream = archive.extractfile(member)
                assert stream is not None, "extractfile gives a stream for every regular file"
                if why := _try_to_write(target, stream, member.size):
                    yield f"{member.name!r} {why}, and was left out"


@contextmanager
def _open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    # Decompressed here and not by tarfile, which mistakes a truncated stream for a complete one.
    name = path.name.lower()
    opener = next(
        (_OPENERS[ending] for short, ending in _SHORT_ENDINGS.items() if name.endswith((short, ending))), None
    )
    if opener is None:
        with tarfile.open(path, "r|*") as archive:
            yield archive
    else:
        with opener(path, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            yield archive


def _unpack_zip(path: Path, root: Path) -> Iterator[str]:
    budget = _Budget(path)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            if stat.S_ISLNK(info.external_attr >> 16):  # Unix writes the kind of a file there
                yield f"{info.filename!r} is a link, and was left out"
                continue
            if (target := _inside(root, info.filename)) is None:
                yield f"{info.filename!r} points outside the archive, and was left out"
                continue
            if not budget.spend(info.file_size):
                yield budget.refuse(info.filename)
                return
            try:
                with archive.open(info) as stream:
                    why = _try_to_write(target, stream, info.file_size)
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
                target.unlink(missing_ok=True)
                why = f"is damaged ({error})"
            if why:
                yield f"{info.filename!r} {why}, and was left out"


class _Budget:
    """How much an archive may still unpack to."""

    def __init__(self, path: Path) -> None:
        by_ratio = max(ALWAYS_UNPACKED_ARCHIVE_BYTES, MAX_RATIO * path.stat().st_size)
        self._limit = self._bytes = min(MAX_ARCHIVE_BYTES, by_ratio)
        self._members = MAX_ARCHIVE_MEMBERS

    def spend(self, size: int) -> bool:
        """Is there room for a member of this size?"""
        self._bytes -= size
        self._members -= 1
        return size <= MAX_FILE_BYTES and self._bytes >= 0 and self._members >= 0

    def refuse(self, name: str) -> str:
        """A message about the first member that exceeds the budget."""
        most = f"{self._limit >> 20:,} MiB and {MAX_ARCHIVE_MEMBERS:,} files"
        return f"unpacks to more than is reasonable for its size ({most}); {name!r} and what follows was left out"


def _inside(root: Path, name: str) -> Path | None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name or ":" in parts[0]:
        return None
    return root.joinpath(*parts)


def _try_to_write(target: Path, stream: IO[bytes], size: int) -> str:
    """Why this member cannot be written: its name is too long, or another member has the name. Empty: it was
    written."""
    try:
        _write(target, stream, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or isinstance(error, EOFError):
            raise
        return f"cannot be written ({error.strerror or error})"
    return ""


def _write(target: Path, stream: IO[bytes], size: int) -> None:
    with _create(target) as out:
        # The stated size is untrusted input: never write more than that.
        left = size
        while left > 0 and (block := stream.read(min(left, 1 << 20))):
            out.write(block)
            left -= len(block)


def _create(target: Path) -> IO[bytes]:
    try:
        return target.open("wb")
    except FileNotFoundError:  # the first file of its folder
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("wb")


def find_separator(table: str) -> str:
    """What separates the columns of a CSV table: spreadsheets of many countries write semicolons."""
    return max(",;\t", key=table.partition("\n")[0].count)


# Runs in object storage, named by URL (`s3://bucket/runs`, `gs://bucket/run.jsonl`), through fsspec

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


# Encodings of JSON files other than UTF-8 with line feeds

_UTF8_MARK = b"\xef\xbb\xbf"
_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
    (b"{\x00\x00\x00", "utf-32-le"), (b"[\x00\x00\x00", "utf-32-le"), (b"{\x00", "utf-16-le"), (b"[\x00", "utf-16-le"),
    (b"\x00\x00\x00{", "utf-32-be"), (b"\x00\x00\x00[", "utf-32-be"), (b"\x00{", "utf-16-be"), (b"\x00[", "utf-16-be"),
)  # fmt: skip
"""The first bytes of a JSON file, and the encoding they reveal."""


def is_foreign(beginning: bytes) -> bool:
    """Is this the beginning of a file that is not UTF-8, or whose lines end with carriage returns alone?"""
    is_old_mac = b"\r" in beginning and b"\n" not in beginning
    return is_old_mac or beginning.startswith((_UTF8_MARK, *(mark for mark, _ in _ENCODINGS)))


def to_utf8(content: bytes) -> bytes:
    """`content` as UTF-8 with line feeds, whichever way it was written."""
    encoding = next((name for mark, name in _ENCODINGS if content.startswith(mark)), None)
    if encoding is not None:
        content = content.decode(encoding, "replace").encode()
    content = content.removeprefix(_UTF8_MARK)
    # A carriage return inside a value is written as an escape, so these end lines.
    return content.replace(b"\r", b"\n") if b"\r" in content and b"\n" not in content else content


# JSON as found in traces: nearly valid JSON is read, and JSON made to fill the memory is refused

MAX_VALUES = 6_000_000
"""In one JSON value. An empty list of three characters takes 64 bytes in memory, so a limit in bytes is not enough."""

MAX_LITERAL_DEPTH = 60
"""Of a value in Python's spelling. Results nested deeper than 64 are refused, and one may hold such a value."""

_decode = msgspec.json.Decoder().decode


def decode(content: bytes) -> Any:
    """JSON, leniently: `NaN` and `Infinity`, which Python writes, and numbers beyond all bounds are read as null."""
    if len(content) > MAX_VALUES and count_values(content) > MAX_VALUES:
        what = f"holds more than {MAX_VALUES // 10**6} million values"
        raise TraceError(what, "Is this one run? Split it into JSON lines, or leave it out.")
    try:
        return _decode(content)
    except RecursionError:
        raise TraceError("JSON is nested too deeply", "Leave the file out, or flatten it.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _decode_leniently(content, error)


def _decode_leniently(content: bytes, error: Exception) -> Any:
    import json  # only files that the fast decoder refuses pay for it

    try:
        value = json.loads(content, parse_constant=lambda name: None, parse_float=number)
        # Halves of surrogate pairs, which JSON can spell and UTF-8 cannot, become question marks on the way out.
        return _decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise TraceError("JSON is nested too deeply", "Leave the file out, or flatten it.") from None
    except ValueError:
        what = "is empty" if not content.strip() else f"is not valid JSON ({error})"
        raise TraceError(what, "Is the file complete?") from None


def count_values(content: bytes) -> int:
    """At most so many values: commas and brackets inside of texts are counted too."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def is_json(content: bytes) -> bool:
    """Is it a JSON value, and nothing else?"""
    try:
        _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def number(value: object) -> float | None:
    """A finite number, or None. Booleans are not numbers, and scores exported as text still count."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        as_float = float(value)
    except OverflowError:
        return None
    return as_float if math.isfinite(as_float) else None


def parse_python(text: str, mode: Literal["eval", "exec"] = "exec") -> Any:
    """The syntax tree of code or of a value that a trace holds. It is read and never run, and what Python would warn
    its author of is nobody's business here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)


def read_literal(text: str) -> Any:
    """A value in Python's spelling, as JSON has it. Raises what `ast.literal_eval` raises."""
    return plain_value(ast.literal_eval(parse_python(text.lstrip(" \t"), "eval")))


def plain_value(value: Any, depth: int = MAX_LITERAL_DEPTH) -> Any:
    """The value as JSON has it. Raises ValueError if it is nested too deeply."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): plain_value(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain_value(item, depth - 1) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, (str, bool, float)) or (isinstance(value, int) and abs(value) < 1 << 63):
        return value
    return str(value)
