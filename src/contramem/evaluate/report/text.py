"""Texts from traces, made safe to look at, and escaped for each form that a report is written in."""

from __future__ import annotations

import re
import unicodedata

from contramem.bank.render import visible

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---", "Δ": r"$\Delta$", "→": r"$\to$",
    "²": r"$^2$", "χ": r"$\chi$", "…": r"\dots{}",
    "[": "{[}", "]": "{]}",  # a row that begins with one would be an option of the line before
}  # fmt: skip


def plain(text: str) -> str:
    """One line without anything that moves the cursor, hides text or turns its direction."""
    line = re.sub(r"\s*[\n\t\r\u2028\u2029]\s*", " ", visible(text))
    return line.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written


def in_markdown(text: str) -> str:
    """As the text of a cell: no markup, no HTML, no column that was not meant."""
    escaped = re.sub(r"[\\`*|<>\[\]$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", plain(text))
    return escaped.replace("&", "&amp;")


def in_latex(text: str) -> str:
    """As running text. Scripts beyond Latin need an engine that has them, such as LuaLaTeX."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def in_csv(text: str) -> str:
    """A spreadsheet takes a text that begins like a formula for one: such a text gets an apostrophe before it."""
    line = plain(text)
    return f"'{line}" if re.match(r"[=+\-@](?![\d.,]+$)", line) else line


def width(text: str, size: float = 12) -> float:
    """How many pixels `text` may take in a sans-serif type of `size` pixels; which one it is, nobody knows before."""
    return size * sum(_em(character) for character in text)


def fit(text: str, pixels: float, size: float = 12) -> str:
    """`text`, cut in the middle if it would be wider: names of tasks differ at both ends."""
    text = plain(text)
    if width(text, size) <= pixels + 0.5:
        return text
    for kept in range(len(text) - 1, 1, -1):
        cut = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
        if width(cut, size) <= pixels:
            return cut
    return f"{text[:1]}…"


def _em(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "iIljtf.,:;'|!()[] ":
        return 0.36
    return 0.72 if character.isupper() or character in "mw%@" else 0.6
