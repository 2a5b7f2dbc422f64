"""Beside the flow: asking a model, a provider's, a scripted or a recorded one. Only build/ and agents under test do."""
