"""Events as Claude Code and Codex tell them."""

import json

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
DELETE = "mcp__mail__delete_email"


def event(name, session="s1", **fields):
    return {"hook_event_name": name, "session_id": session, "cwd": "/"} | fields


def prompt(text=TASK, session="s1"):
    return event("UserPromptSubmit", session, prompt=text)


def call(name="PreToolUse", tool=DELETE, **fields):
    return event(name, tool_name=tool, tool_input={"email_id": "7"}, **fields)


def context(answer):
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


def to_bytes(event):
    """The message that the client of the hook sends on."""
    return b"\n" + json.dumps(event).encode()
