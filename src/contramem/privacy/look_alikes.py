"""Look-alikes: letters of other scripts that imitate Latin ones, so that a filter reads different words than a
person."""

from __future__ import annotations

import re
import unicodedata

# Letters that look the same in most fonts: Cyrillic, Greek, Armenian, Cherokee and a few others.
_PAIRS = (
    "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ьb кk мm нh тt вb гr пn дd АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ІI ЈJ"
    " ЅS ԌG αa οo ρp νv κk ιi υu τt γy ηn ωw σo ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX օo սu ոn ցg հh ѐe ёe"
    " ӏl ɡg ɩi ɑa ʀr ʟl ɴn ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ᴍm ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"
)
_LATIN = {ord(pair[0]): pair[-1] for pair in _PAIRS.split()}
_SIGN_ALPHABETS = (0x1F150, 0x1F170, 0x1F1E6)
"""Where the letters on a dark disk begin, those on a dark square, and those that flags are made of. Unicode does not
call them letters."""
_SIGNS = {start + place: chr(ord("a") + place) for start in _SIGN_ALPHABETS for place in range(26)}
# As ranges: one by one, they would each be compared with every character of a text.
_SIGN = re.compile(f"[{''.join(f'{chr(start)}-{chr(start + 25)}' for start in _SIGN_ALPHABETS)}]")
_LOOK_ALIKE = re.compile(f"[{''.join(map(chr, _LATIN))}]")
_FOREIGN_WORD = re.compile(rf"[^\W\d_]*{_LOOK_ALIKE.pattern}[^\W\d_]*")
_LATIN_LETTER = re.compile(r"[A-Za-z]")


def fold_look_alikes(text: str) -> str:
    """Replace look-alikes by the Latin letters they imitate: in words that mix scripts, and in words of look-alikes
    alone within a Latin text. Russian or Greek text is unchanged. The length may change."""
    if text.isascii():
        return text
    text = fold_signs(unicodedata.normalize("NFKC", text))
    if not _LATIN_LETTER.search(text) or not _LOOK_ALIKE.search(text):
        return text
    mostly_latin = len(_LATIN_LETTER.findall(text)) * 2 > sum(char.isalpha() for char in text)
    return _FOREIGN_WORD.sub(lambda match: _fold_word(match[0], mostly_latin), text)


def fold_signs(text: str) -> str:
    """Replace signs that show a Latin letter by that letter."""
    return text.translate(_SIGNS) if _SIGN.search(text) else text


def _fold_word(word: str, mostly_latin: bool) -> str:
    imitates = _LATIN_LETTER.search(word) is not None or (mostly_latin and all(ord(char) in _LATIN for char in word))
    return word.translate(_LATIN) if imitates else word
