from typing import Any


class UserSimulator:
    def __init__(self, client: Any, system_prompt: str) -> None:
        self._client, self._prompt = client, system_prompt

    def respond(self, conversation: list[dict[str, Any]]) -> str:
        said = "\n".join(f"{message['role']}: {message['content']}" for message in conversation)
        messages = [{"role": "system", "content": self._prompt}, {"role": "user", "content": said}]
        return str(self._client.complete_chat(messages=messages))
