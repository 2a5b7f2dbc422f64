"""The example tasks by family. All texts, names, worlds and values were written for contramem."""

from tasks import desk, drive, files, messages, posts, trade, trip
from tasks.example import Example

EXAMPLES: tuple[Example, ...] = (
    *drive.EXAMPLES,
    *files.EXAMPLES,
    *desk.EXAMPLES,
    *posts.EXAMPLES,
    *trade.EXAMPLES,
    *trip.EXAMPLES,
    *messages.EXAMPLES,
)
