"""What makes a run the same run wherever it was read."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from contramem.traces.trajectory import Origin, Trajectory

DIGEST_BYTES = 12

_NOWHERE = Origin("")
_encode = msgspec.msgpack.Encoder().encode


def content_digest(trajectory: Trajectory) -> bytes:
    """What makes a run the same run wherever it was read: all of it but its origin and its system prompt, which the
    first versions did not keep: a run that they numbered keeps its number."""
    return digest_row(encode_run(msgspec.structs.replace(trajectory, system="") if trajectory.system else trajectory))


def encode_run(trajectory: Trajectory) -> bytes:
    """A run without its origin, as a pool stores it."""
    placeless = msgspec.structs.replace(trajectory, origin=_NOWHERE)
    try:
        return _encode(placeless)
    except (UnicodeEncodeError, OverflowError):
        return _encode(_storable(msgspec.to_builtins(placeless)))


def _storable(value: Any) -> Any:
    """Replace what JSON can express and the pool's format cannot: half of a surrogate pair, an integer beyond 64
    bits."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if isinstance(value, dict):
        return {_storable(key): _storable(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable(child) for child in value]
    return value


def digest_row(row: bytes) -> bytes:
    return hashlib.blake2b(row, digest_size=DIGEST_BYTES).digest()
