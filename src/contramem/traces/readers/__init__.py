"""One small file per trace format. The order is the order of `--help`; detection does not depend on it."""

from contramem.traces.read import Reader
from contramem.traces.readers.agentdojo import AgentDojoReader

BUILT_IN: tuple[Reader, ...] = (AgentDojoReader(),)
