import pytest

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


@pytest.fixture
def task():
    """A task that the sample bank has a skill for; its `delete_email` has a card with a known mistake."""
    return TASK


@pytest.fixture
def inbox():
    """Emails by id, and a tool that deletes one. An unknown id is an error."""
    return Inbox()


class Inbox:
    def __init__(self):
        self.deleted = []

    def delete_email(self, email_id: str) -> str:
        """Delete one email."""
        if not email_id.startswith("m"):
            raise ValueError(f"no email {email_id}")
        self.deleted.append(email_id)
        return f"deleted {email_id}"
