"""Made-up domains with rules that are known, for benchmarks/planted: each is a small state machine behind tools."""
