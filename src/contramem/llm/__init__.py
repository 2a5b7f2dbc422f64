"""Asks a model: a provider's, a scripted or a recorded one. Only build/ and agents under test do so.

request.py    Request and ModelReply, plain values; tool_use.py: tools that are offered, called and answered
exchange.py   replies by request, kept in a store so that nothing is paid for twice
calls.py      makes the calls of a round in parallel, within a budget; price.py: what they cost
client.py     any provider, through pydantic-ai; batch.py: provider batches; files.py: requests and replies as files
scripted.py   replies written by a test; recorded.py: recorded replies of a real model
"""
