RETRIEVE_LEARNINGS_TOOL_NAME = "retrieve_learnings"
RETRIEVE_LEARNINGS_TOOL_SCHEMA = {
    "description": "Retrieve learnings.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
RETRIEVAL_SYSTEM_INSTRUCTION = "You can retrieve learnings."
