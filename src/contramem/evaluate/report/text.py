"""Makes text from traces safe to display, and escapes it for each output format."""

from __future__ import annotations

import re
import unicodedata

from contramem.bank.render import visible

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---", "Δ": r"$\Delta$", "→": r"$\to$",
    "²": r"$^2$", "χ": r"$\chi$", "…": r"\dots{}",
    "[": "{[}", "]": "{]}",  # at the start of a row, a bracket would be read as an option of the previous line
}  # fmt: skip


def plain(text: str) -> str:
    """`text` on one line, without characters that move the cursor, hide text or change its direction."""
    line = re.sub(r"\s*[\n\t\r\u2028\u2029]\s*", " ", visible(text))
    return line.encode("utf-8", "replace").decode()  # a lone surrogate cannot be encoded


def in_markdown(text: str) -> str:
    """Escape the text of a cell: Markdown, HTML and column separators."""
    escaped = re.sub(r"[\\`*|<>\[\]$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", plain(text))
    return escaped.replace("&", "&amp;")


def in_latex(text: str) -> str:
    """Escape running text. Non-Latin scripts need an engine that supports them, such as LuaLaTeX."""
    return "".join(_LATEX.get(character, character) for character in plain(text))


def in_csv(text: str) -> str:
    """Prefix text that a spreadsheet would read as a formula with an apostrophe."""
    line = plain(text)
    return f"'{line}" if re.match(r"[=+\-@](?![\d.,]+$)", line) else line


def width(text: str, size: float = 12) -> float:
    """The estimated width of `text` in pixels, in an unknown sans-serif font of `size` pixels."""
    return size * sum(_em(character) for character in text)


def fit(text: str, pixels: float, size: float = 12) -> str:
    """`text`, shortened in the middle if it is too wide, because task names differ at both ends."""
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
