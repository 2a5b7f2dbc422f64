"""Errors that a result's own text or fields admit to, for traces that mark errors in no other way.

Told by how a result opens, or by a field that says nothing but that the call failed: `{"success": false}`. A status
that a call looked up (`{"status": "failed", "job": 7}`) is what it was asked for, and no error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

MAX_ERROR_CHARS = 2000
_MAX_DECODED_CHARS = 4000
"""An error is short; what is longer is a result."""
_HEAD_CHARS = 200

_WORDS = "fehler|erreur|errore|erro|fout|fel|błąd|ошибка|помилка|hata|错误|錯誤|エラー|오류|خطأ|त्रुटि"
_OPENING = re.compile(
    r"[\s\[(*#❌✗✘⚠️!]{0,6}(?:<?(?:tool_)?error>?\b|exception\b|traceback \(most recent"
    r"|(?-i:(?:\w{1,40}\.){0,8}\w{0,40}(?:Error|Exception)\b(?:\(.{0,80}\))?):|(?-i:\w{1,40}\.(?:\w{1,40}\.)?errors\.\w{1,60}:)"
    r"|(?-i:\w{0,40}(?:Error|Exception)\()|execution failed\b|failed to\b|invalid \w+\b.{0,80}:|mcp error\b"
    r"|an error occurred\b"
    r"|(?:http(?:/[\d.]+)?\s+|status(?: code)?:?\s+)?[45]\d\d (?:client|server) error\b|http(?:/[\d.]+)? ?[45]\d\d\b"
    r"|fatal: |panic: |permission denied\b|access denied\b|(?:\w{1,20}: ){0,3}.{0,60}: command not found"
    rf"|(?:{_WORDS})\s?[:：!])",
    re.IGNORECASE,
)
# Cheap to look for before a text is decoded: most results are no errors.
_TELLING_FIELD = re.compile(
    r'"error"|"(?:success|ok|succeeded)"\s*:\s*false|"(?:is_?error)"\s*:\s*true|"errors"\s*:\s*\[\s*[^\s\]]'
    r'|"status"\s*:\s*(?:"error"|[45]\d\d\b)|"status_?code"\s*:\s*[45]\d\d\b|^\s*\{\s*"detail"\s*:\s*"[^"]*"\s*\}\s*$',
    re.IGNORECASE,
)
_MESSAGES = tuple(
    "text message error_message errorMessage detail reason msg description error errors content body".split()
)


def error_in(content: object) -> str | None:
    """The error that a result admits to; None when it admits to none."""
    if isinstance(content, str):
        if _OPENING.match(content):
            return content[:MAX_ERROR_CHARS]
        opened = content[:_HEAD_CHARS].lstrip()
        if not opened.startswith("{") or len(content) >= _MAX_DECODED_CHARS or not _TELLING_FIELD.search(opened):
            return None
        try:
            content = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            return None
    return _in_fields(content) if isinstance(content, Mapping) else None


def _in_fields(content: Mapping[str, Any]) -> str | None:
    error = content.get("error")
    if isinstance(error, (str, Mapping, list)) and error:
        return _message_in(error) or _message_in(content)
    if error is True or _says_no(content):
        return _message_in({key: value for key, value in content.items() if key != "error"}) or "failed"
    return None


def _says_no(content: Mapping[str, Any]) -> bool:
    """Does a field say that the call failed?"""
    if any(content.get(key) is False for key in ("success", "ok", "succeeded")):
        return True
    if any(content.get(key) is True for key in ("isError", "is_error", "iserror")):
        return True
    if isinstance(content.get("errors"), list) and content["errors"] and not content.get("data"):
        return True
    if content.keys() == {"detail"}:
        return isinstance(content["detail"], str)
    codes = [content.get(key) for key in ("status", "statusCode", "status_code")]
    return content.get("status") == "error" or any(type(code) is int and 400 <= code < 600 for code in codes)


def _message_in(error: object) -> str:
    """The message in an error, however it is wrapped."""
    if isinstance(error, str):
        return error[:MAX_ERROR_CHARS]
    if isinstance(error, list):
        return "; ".join(filter(None, map(_message_in, error[:3])))
    if isinstance(error, Mapping):
        message = next((text for key in _MESSAGES if (text := _message_in(error.get(key)))), "")
        return message or (str(dict(error))[:MAX_ERROR_CHARS] if error else "")
    return ""
