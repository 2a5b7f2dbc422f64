"""The checks that every card, delta and patch passes before it changes a bank, whoever wrote it."""
