"""Files made to fill the memory, each read by `contramem traces` in a process of its own: its peak, what it says."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

MAX_MIB = 600
"""What a file of no use may make the process take. Bare `contramem traces` on one small run takes about 70."""
BLOCK = 1 << 20


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", help="only these files")


def run(arguments: argparse.Namespace) -> list[str]:
    defects = []
    print(f"{'file':<44}{'on disk':>12}{'peak MiB':>10}{'CPU s':>8}  what it said")
    with tempfile.TemporaryDirectory() as scratch:
        for what, (name, write) in FILES.items():
            if arguments.only and not any(word in what for word in arguments.only):
                continue
            path = Path(scratch) / name
            write(path)
            code, peak_mib, cpu_s, said = measure(path)
            print(
                f"{what:<44}{path.stat().st_size:>12,}{peak_mib:>10.0f}{cpu_s:>8.1f}  exit {code}: {said[:90]}",
                flush=True,
            )
            if peak_mib > MAX_MIB:
                defects.append(f"{what}: {peak_mib:.0f} MiB")
            if code not in (0, 1) or "Traceback" in said:
                defects.append(f"{what}: exit {code}: {said}")
            path.unlink()
    return defects


def measure(path: Path) -> tuple[int, float, float, str]:
    """(exit code, peak MiB, CPU seconds, last line) of `contramem traces PATH`."""
    command = [sys.executable, "-m", "contramem", "traces", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = [line for line in said.splitlines() if line.strip()]
    shown = said if "Traceback" in said else (lines[0] if lines else "")
    return process.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, shown.replace(str(path), path.name)


def _fill(file: IO[bytes], parts: Iterator[bytes]) -> None:
    for part in parts:
        file.write(part)


def _spaces(size: int) -> Iterator[bytes]:
    return (b" " * BLOCK for _ in range(size // BLOCK))


def _line(size: int) -> Iterator[bytes]:
    yield b'{"task_id": "1", "model": "m", "passed": true, "messages": [{"role": "user", "content": "'
    yield from (b"x" * BLOCK for _ in range(size // BLOCK))
    yield b'"}]}\n'


def _plain(parts: Callable[[], Iterator[bytes]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            _fill(file, parts())

    return write


def _gzip(parts: Callable[[], Iterator[bytes]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with gzip.open(path, "wb", compresslevel=6) as file:
            _fill(file, parts())  # type: ignore[arg-type]

    return write


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.json", "w") as member:
        _fill(member, _spaces(1500 << 20))


def _zip_of_zips(path: Path) -> None:
    inner = path.with_name("inner.zip")
    _zip(inner)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.write(inner, f"{number}.zip")
    inner.unlink()


def _many_members(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for number in range(100_000):
            archive.addfile(tarfile.TarInfo(f"{number:06d}.json"))


def _deep(opening: bytes, closing: bytes, count: int) -> Iterator[bytes]:
    yield b'{"messages": ' + opening * count + b"1" + closing * count + b"}"


def _many_events(count: int) -> Iterator[bytes]:
    yield b'{"task_id": "1", "model": "m", "passed": true, "messages": [{"role": "user", "content": "Go"}'
    for number in range(count):
        call = {"id": f"c{number}", "function": {"name": "look", "arguments": json.dumps({"at": number})}}
        yield b", " + json.dumps({"role": "assistant", "tool_calls": [call]}).encode()
        yield b", " + json.dumps({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"}).encode()
    yield b"]}\n"


FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "gzip of 1.5 GB of spaces": ("a.json.gz", _gzip(lambda: _spaces(1500 << 20))),
    "gzip of 1.5 GB of spaces, JSON lines": ("a.jsonl.gz", _gzip(lambda: _spaces(1500 << 20))),
    "1.5 GB of spaces": ("a.json", _plain(lambda: _spaces(1500 << 20))),
    "one line of 100 MB": ("a.jsonl", _plain(lambda: _line(100 << 20))),
    "one line of 31 MB, just below the limit": ("a.jsonl", _plain(lambda: _line(31 << 20))),
    "one JSON value of 100 MB": ("a.json", _plain(lambda: _line(100 << 20))),
    "gzip of a line of 1 GB": ("a.jsonl.gz", _gzip(lambda: _line(1 << 30))),
    "100,000 lists in each other": ("a.json", _plain(lambda: _deep(b"[", b"]", 100_000))),
    "1,000,000 objects in each other": ("a.jsonl", _plain(lambda: _deep(b'{"a":', b"}", 1_000_000))),
    "zip with 1.5 GB of spaces": ("a.zip", _zip),
    "20 zips in a zip, 1.5 GB each": ("a.zip", _zip_of_zips),
    "tar of 100,000 empty files": ("a.tar.gz", _many_members),
    "a run of 100,000 calls": ("a.jsonl", _plain(lambda: _many_events(100_000))),
    "a number of 5,000,000 digits": ("a.json", _plain(lambda: iter([b'{"messages": [' + b"9" * 5_000_000 + b"]}"]))),
    "20 MB of brackets": ("a.json", _plain(lambda: iter([b"[" * (20 << 20)]))),
    "30 MB of empty lists": ("a.jsonl", _plain(lambda: iter([b'{"messages": [' + b"[]," * (10 << 20) + b"1]}"]))),
}
