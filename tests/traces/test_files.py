"""Files as readers see them: decompressed, decoded once, unpacked safely."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contramem.errors import TraceError
from contramem.traces import files
from contramem.traces.files import TraceFile, decode, is_archive, number, unpack, zstd
from contramem.traces.read import read_traces

LINES = b'{"n": 1}\n\n{"n": 2}\n'
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstd.compress,
}  # fmt: skip


def tar_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def names_in(archive: Path) -> tuple[list[str], list[str]]:
    with unpack(archive) as (root, refused):
        return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()), refused


# Single files


@pytest.mark.parametrize("ending", [*PACK, ".GZ"])
def test_compressed_files_are_read_as_they_are(tmp_path: Path, ending: str) -> None:
    file = TraceFile(write(tmp_path / f"run.jsonl{ending}", PACK[ending.lower()](LINES)))
    assert (file.name, file.ending) == ("run.jsonl", ".jsonl")
    assert list(file.lines()) == [(1, {"n": 1}), (3, {"n": 2})]
    assert file.content == LINES
    assert file.head == {"n": 1}


@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        (ending, damage)
        for ending in PACK
        for damage in ("cut", "flipped", "empty", "other")
        if ending and (ending, damage) != (".zst", "flipped")  # it has no checksum by default
    ],
)
def test_a_damaged_file_is_a_problem_and_no_crash(tmp_path: Path, ending: str, damage: str) -> None:
    packed = bytearray(PACK[ending](b'{"text": "' + Random(80).randbytes(2000).hex().encode() + b'"}'))
    middle = len(packed) // 2
    content = {
        "cut": bytes(packed[:middle]),
        "flipped": bytes(packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :]),
        "empty": b"",
        "other": b"this is no compressed file",
    }[damage]
    with pytest.raises(TraceError):
        _ = TraceFile(write(tmp_path / f"run.json{ending}", content)).document


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read"):
        _ = TraceFile(tmp_path / "absent.json").content


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 1000)
    with pytest.raises(TraceError, match="unpacks to more than"):
        _ = TraceFile(write(tmp_path / "run.json.gz", gzip.compress(b"0" * 100_000))).content
    with pytest.raises(TraceError, match="unpacks to more than"):
        list(TraceFile(write(tmp_path / "run.jsonl.gz", gzip.compress(b"0" * 100_000))).lines())


def test_a_compressed_file_may_not_unpack_to_more_than_data_compresses_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ALWAYS_UNPACKED_BYTES", 1000)
    bomb = write(tmp_path / "bomb.json.gz", gzip.compress(b" " * 3_000_000))
    with pytest.raises(TraceError, match="Runs are kilobytes"):
        _ = TraceFile(bomb).content


def test_a_line_that_is_too_long_is_named_and_the_next_ones_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 100)
    content = b'{"n": 1}\n{"n": "' + b"x" * 5000 + b'"}\n{"n": 3}\n'
    first, long, last = TraceFile.of_bytes("run.jsonl", content).lines()
    assert (first, last) == ((1, {"n": 1}), (3, {"n": 3}))
    assert isinstance(long[1], TraceError) and "was left out" in str(long[1])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_lines_are_read_in_whatever_unicode_they_are_written(encoding: str) -> None:
    text = '{"n": "é"}\n{"n": 2}\n'
    assert [value for _, value in TraceFile.of_bytes("run.jsonl", text.encode(encoding)).lines()] == [
        {"n": "é"},
        {"n": 2},
    ]


def test_lines_may_end_with_carriage_returns_alone() -> None:
    assert [number for number, _ in TraceFile.of_bytes("run.jsonl", b'{"n": 1}\r{"n": 2}\r').lines()] == [1, 2]


def test_a_bad_line_does_not_stop_the_others() -> None:
    (first, bad, last) = TraceFile.of_bytes("run.jsonl", b'{"n": 1}\n{"n": \n{"n": 3}').lines()
    assert (first, last) == ((1, {"n": 1}), (3, {"n": 3}))
    assert isinstance(bad[1], TraceError)


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.jsonl", b"", True),
        ("a.json", b'{"a": 1}', False),
        ("a.json", b'{\n  "a": 1\n}', False),
        ("a.json", b'[{"a": 1},\n{"a": 2}]', False),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', True),
        ("a.json", b'  {"a": 1}\r\n{"a": 2}', True),
        ("a.json", b'{"a": 1}\n\n', False),
        ("a.json", b'{"a": {"b": 1}\n}', False),
        ("a.json", b"", False),
    ],
)
def test_one_value_per_line_is_distinguished_from_one_value_per_file(name: str, content: bytes, lines: bool) -> None:
    assert TraceFile.of_bytes(name, content).is_lines is lines


def test_the_head_of_a_binary_file_is_empty() -> None:
    assert TraceFile.of_bytes("picture.png", b"\x89PNG").head is None


def test_the_parts_of_a_name_include_the_archive() -> None:
    assert TraceFile(Path("x"), "/d/runs.tar.xz!gpt/t1/none.json").parts[-4:] == (
        "runs.tar.xz",
        "gpt",
        "t1",
        "none.json",
    )


# JSON


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'{"a": NaN, "b": -Infinity, "c": 1e999}', {"a": None, "b": None, "c": None}),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'{"a": "\\ud800", "b": "\\udc00\\ud800"}', {"a": "?", "b": "??"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"a": "é"}'.encode("utf-16"), {"a": "é"}),
        (str(2**70).encode(), 2**70),
    ],
)
def test_json_is_read_leniently(content: bytes, value: object) -> None:
    assert decode(content) == value


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"a": ', "is not valid JSON"),
        (b'{"a": 1} {"b": 2}', "is not valid JSON"),
        (b"\xff\xff\xff", "is not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"NaN", "nested too deeply"),
    ],
)
def test_text_that_is_not_json_is_a_problem(content: bytes, complaint: str) -> None:
    with pytest.raises(TraceError, match=complaint):
        decode(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    file = TraceFile.of_bytes("run.json", content)
    try:
        _ = file.head
    except TraceError:
        return


@pytest.mark.parametrize(
    ("value", "as_number"),
    [
        (1, 1.0),
        ("0.5", 0.5),
        (True, None),
        ("x", None),
        (float("nan"), None),
        ("inf", None),
        (10**400, None),
        ([], None),
    ],
)
def test_only_finite_numbers_are_numbers(value: object, as_number: float | None) -> None:
    assert number(value) == as_number


# What lies beside


def test_beside_finds_neighbours_and_never_leaves_the_folder_the_user_named(tmp_path: Path) -> None:
    write(tmp_path / "outside.json", b"{}")
    root = tmp_path / "named"
    inside = write(root / "sims" / "1.json", b"{}")
    write(root / "results.json", b'{"here": true}')
    (root / "sims" / "link.json").symlink_to(tmp_path / "outside.json")
    file = TraceFile(inside, root=root)
    beside = file.beside("../results.json")
    assert beside is not None
    assert beside.document == {"here": True}
    assert file.beside("../../outside.json") is None
    assert file.beside(str(tmp_path / "outside.json")) is None
    assert file.beside("link.json") is None
    assert file.beside("absent.json") is None
    assert file.beside("..") is None


def test_beside_keeps_the_name_of_the_archive(tmp_path: Path) -> None:
    inside = write(tmp_path / "sims" / "1.json", b"{}")
    write(tmp_path / "results.json", b"{}")
    beside = TraceFile(inside, "runs.tar!sims/1.json", tmp_path).beside("../results.json")
    assert beside is not None
    assert beside.origin == "runs.tar!results.json"


# Archives


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((f"a.tar{ending}", pack(tar_of({"d/x.json": b"1", "y.json": b"2"}))) for ending, pack in PACK.items()),
        ("a.tgz", gzip.compress(tar_of({"d/x.json": b"1", "y.json": b"2"}))),
        ("a.zip", zip_of({"d/x.json": b"1", "y.json": b"2"})),
        ("A.ZIP", zip_of({"d/x.json": b"1", "y.json": b"2"})),
        ("A.TAR.ZST", zstd.compress(tar_of({"d/x.json": b"1", "y.json": b"2"}))),
    ],
)
def test_archives_are_unpacked(tmp_path: Path, name: str, content: bytes) -> None:
    path = write(tmp_path / name, content)
    assert is_archive(path)
    assert names_in(path) == (["d/x.json", "y.json"], [])


ESCAPES = ["../x.json", "/etc/x.json", "a/../../x.json", "C:/x.json", "..\\x.json", "a/..", ".."]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_names_that_point_outside_are_refused_and_the_rest_is_read(
    tmp_path: Path, name: str, pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    path = write(tmp_path / "in" / ("a.zip" if pack is zip_of else "a.tar"), pack({name: b"evil", "ok.json": b"1"}))
    found, refused = names_in(path)
    assert found == ["ok.json"]
    assert len(refused) == 1
    assert "points outside the archive" in refused[0]
    assert not (tmp_path / "x.json").exists()


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (("soft", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    found, refused = names_in(write(tmp_path / "a.tar", buffer.getvalue()))
    assert found == []
    assert [word.partition(" is ")[0] for word in refused] == ["'soft'", "'hard'", "'pipe'"]


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("soft")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    found, refused = names_in(write(tmp_path / "a.zip", buffer.getvalue()))
    assert found == []
    assert "is a link" in refused[0]


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_FILE_BYTES", 1000), ("MAX_ARCHIVE_BYTES", 1500), ("MAX_ARCHIVE_MEMBERS", 1)]
)
@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_only_what_fits_of_an_archive_bomb_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    size = 5000 if limit == "MAX_FILE_BYTES" else 900
    monkeypatch.setattr(files, limit, value)
    path = write(tmp_path / ("a.zip" if pack is zip_of else "a.tar"), pack({"a": b"0" * size, "b": b"0" * size}))
    unpacked, refused = names_in(path)
    assert len(unpacked) <= 1
    assert "more than is reasonable" in refused[-1]


@pytest.mark.parametrize("ending", [*(f".tar{ending}" for ending in PACK), ".zip"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.8])
def test_a_truncated_archive_is_a_problem_and_no_crash(tmp_path: Path, ending: str, share: float) -> None:
    members = {f"{number}.json": Random(number).randbytes(3000) for number in range(5)}
    whole = zip_of(members) if ending == ".zip" else PACK[ending.removeprefix(".tar")](tar_of(members))
    path = write(tmp_path / f"a{ending}", whole[: int(len(whole) * share)])
    try:
        with files.unpack(path) as (_, refused):
            assert any("cannot be unpacked to its end" in what for what in refused)
    except TraceError as error:
        assert "cannot be unpacked" in str(error)


@given(st.sampled_from([".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".zip"]), st.integers(0, 4000), st.integers(1, 255))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_flipped_byte_is_at_worst_a_problem(tmp_path: Path, ending: str, place: int, flip: int) -> None:
    members = {f"d/{number}.json": b'{"n": 1}' * 100 for number in range(3)}
    whole = bytearray(zip_of(members) if ending == ".zip" else PACK[ending.removeprefix(".tar")](tar_of(members)))
    whole[place % len(whole)] ^= flip
    try:
        names_in(write(tmp_path / f"a{ending}", bytes(whole)))
    except TraceError:
        return


def test_a_member_that_cannot_be_written_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.tar", tar_of({"a": b"1", "a/b": b"2", f"{'x' * 300}.json": b"3", "z.json": b"4"}))
    with files.unpack(archive) as (root, refused):
        assert sorted(path.name for path in root.iterdir()) == ["a", "z.json"]
    assert len(refused) == 2 and all("cannot be written" in what for what in refused)


def test_an_archive_that_unpacks_to_many_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ALWAYS_UNPACKED_ARCHIVE_BYTES", 1000)
    path = write(tmp_path / "a.zip", zip_of({"a": b"0" * 900, "bomb": b"0" * 10_000_000}))
    assert names_in(path)[0] == ["a"]


def test_nested_archives_are_unpacked_to_a_limited_depth(tmp_path: Path) -> None:
    content = zip_of({"run.json": b"{}"})
    for depth in range(5):
        content = zip_of({f"{depth}.zip": content})
    reading = read_traces([write(tmp_path / "a.zip", content)])
    assert list(reading) == []
    assert ["is nested in 3 other archives" in problem.what for problem in reading.problems] == [True]


def test_a_named_file_whose_lines_cannot_be_read_says_why(tmp_path: Path) -> None:
    reading = read_traces([write(tmp_path / "a.jsonl", b'{"messages": ' + b'{"a":' * 5000)])
    assert list(reading) == []
    assert "has no readable line" in reading.problems[0].what
