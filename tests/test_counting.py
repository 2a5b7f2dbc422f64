import pytest

from contramem import counting
from contramem.counting import CountFile, count_tokens


def test_a_count_is_computed_once_and_then_read_from_the_file(tmp_path, monkeypatch):
    path = tmp_path / "tokens"
    text = "Send the notice before you close the ticket."
    assert CountFile(path).count(text) == count_tokens(text)
    monkeypatch.setattr(counting, "_tokenize", None)  # whoever counted again would fail
    assert CountFile(path).count(text) == count_tokens(text)


def test_a_file_without_counts_is_ignored(tmp_path):
    path = tmp_path / "tokens"
    path.write_text("not a count")
    assert CountFile(path).count("two words") == count_tokens("two words")


def test_damaged_lines_do_not_spoil_the_others(tmp_path):
    path = tmp_path / "tokens"
    assert CountFile(path).count("two words") == 2
    kept = path.read_text().replace(" 2\n", " 77\n")
    path.write_bytes(b"\xff\n[]\n12 12 12\n" + kept.encode() + b"00ab")
    assert CountFile(path).count("two words") == 77


@pytest.mark.slow
def test_the_compiled_part_alone_counts_like_the_whole_package():
    count, slowly = counting._load_counter(), counting._load_whole_package()
    for text in ("", "two words", "<|endoftext|> is text", "\0 é 漢字 😀\r\n\t", "half a pair \ud800", "x" * 10_000):
        assert count(text) == slowly(text)
