"""A provider on this machine, as strict as the real ones: every tool call has exactly one result, right after it.

It speaks chat completions, replies from a list and keeps every body. A reply is a list of texts and (tool, arguments).
"""

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class StrictProvider:
    def __init__(self):
        self.replies, self.bodies, self.problems = [], [], []
        self._ids = itertools.count(1)
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                answer, streams = provider.answer(body), bool(body.get("stream"))
                content = (as_stream(answer) if streams else json.dumps(answer)).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if streams else "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answer(self, body):
        self.bodies.append(body)
        self.problems += problems_in(body["messages"])
        blocks = self.replies.pop(0) if self.replies else ["done"]
        calls = [
            {"id": f"call_{next(self._ids)}", "type": "function", "function": {"name": name, "arguments": text}}
            for name, text in ((block[0], json.dumps(block[1])) for block in blocks if not isinstance(block, str))
        ]
        message = {"role": "assistant", "content": "".join(block for block in blocks if isinstance(block, str)) or None}
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice["message"] = message | ({"tool_calls": calls} if calls else {})
        head = {"id": f"chat_{next(self._ids)}", "object": "chat.completion", "created": 1, "model": body["model"]}
        return head | {"choices": [choice], "usage": usage}

    def results(self, request=-1):
        """The results of tools that a request brings."""
        return [message["content"] for message in self.bodies[request]["messages"] if message["role"] == "tool"]

    def tool(self, name, request=0):
        """The description of a tool, as a request has it."""
        tools = {tool["function"]["name"]: tool["function"] for tool in self.bodies[request]["tools"]}
        return tools[name]["description"]

    def assert_cacheable(self):
        assert_cacheable([body["messages"] for body in self.bodies])
        assert all(body.get("tools") == self.bodies[0].get("tools") for body in self.bodies)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def as_stream(answer):
    """An answer as the events of a stream: all of it in the first one."""
    [choice] = answer["choices"]
    message, calls = choice["message"], choice["message"].get("tool_calls", [])
    delta = message | {"tool_calls": [{**call, "index": index} for index, call in enumerate(calls)]}
    head = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    parts = [(delta, None), ({}, choice["finish_reason"])]
    chunks = [{**head, "choices": [{"index": 0, "delta": part, "finish_reason": end}]} for part, end in parts]
    events = [*chunks, {**head, "choices": [], "usage": answer["usage"]}]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def assert_cacheable(requests):
    """Nothing that was sent once is changed later: each request, a list of messages, begins with the one before."""
    for before, after in itertools.pairwise(requests):
        assert after[: len(before)] == before


def as_anthropic_caches(node):
    """A part of an Anthropic request without what its cache overlooks: the marks of where to cache, and whether a text
    is sent as a string or as a block."""
    if isinstance(node, list):
        return [as_anthropic_caches(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: as_anthropic_caches(value) for key, value in node.items() if key != "cache_control"}
    if isinstance(node.get("content"), str):
        node["content"] = [{"type": "text", "text": node["content"]}]
    return node


def problems_in(messages):
    """What a provider would refuse."""
    found, waiting = [], set()
    for number, message in enumerate(messages):
        if waiting and message["role"] != "tool":
            found.append(f"message {number}: calls without a result: {waiting}")
            waiting = set()
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                found.append(f"message {number}: a result without its call")
            waiting.discard(message["tool_call_id"])
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
    return found + ([f"calls without a result at the end: {waiting}"] if waiting else [])
