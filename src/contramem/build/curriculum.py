"""Curriculum: the order in which packets teach."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.contrast.packet import Packet


def curriculum(packets: Sequence[Packet]) -> list[Packet]:
    """Sharpest contrast first; the same order whatever order the runs were read in."""
    return sorted(packets, key=lambda packet: (-_sharpness(packet), packet.task_key))


def _sharpness(packet: Packet) -> float:
    clearest = packet.signals[0].strength if packet.signals else 0.0
    return clearest + packet.is_contrastive
