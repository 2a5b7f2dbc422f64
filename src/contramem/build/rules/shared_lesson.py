"""SharedLesson: what several tasks of an ability teach together, as one lesson."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contramem.build.evidence import Provenance
from contramem.build.rules.phrases import MAX_TAGS, tags_of
from contramem.build.rules.rule import Lesson
from contramem.contrast.packet import Packet


class SharedLesson(NamedTuple):
    """A lesson from many tasks, and the packet that shows it best."""

    lesson: Lesson
    packet: Packet
    also: tuple[Provenance, ...] = ()
    """The other tasks that show it."""

    @classmethod
    def of_tasks(cls, lesson: Lesson, packet: Packet, also: Iterable[Provenance]) -> SharedLesson:
        """A lesson that can be found by words of all tasks that show it."""
        also = tuple(also)
        tags = _gather_tags([packet, *(shown.packet for shown in also)], lesson.rule.functions)
        return cls(lesson._replace(text=lesson.text.model_copy(update={"tags": tags})), packet, also)


def _gather_tags(packets: Sequence[Packet], functions: Sequence[str]) -> tuple[str, ...]:
    tags = dict[str, None]()
    for packet in packets:
        tags.update(dict.fromkeys(tags_of(packet, functions)))
        if len(tags) >= MAX_TAGS:
            break
    return tuple(tags)[:MAX_TAGS]
