"""Asks a model: a provider's, a scripted or a recorded one. Only build/ and agents under test do so.

client.py    Request and ModelReply, tools that a model may call, prices, any provider through pydantic-ai
exchange.py  replies by request, kept in a store; the calls of a round, within a budget; recorded and scripted replies
batches.py   the batch services of providers, and requests and replies as files
"""
