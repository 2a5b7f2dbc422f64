"""Beside the flow: asking a model, a provider's, a scripted or a recorded one. Only build/ and agents under test do.

request.py    a question and its reply, as plain values; tool_use.py: tools that are offered, called and answered
exchange.py   replies by request, kept in a store: nothing is paid for twice
calls.py      the calls of a round, side by side, within a budget; price.py is what they cost
client.py     any provider, through pydantic-ai; batch.py its batches, files.py requests and replies as files
scripted.py   replies that a test wrote; recorded.py replies that were real once
"""
