import pytest

from contramem.errors import UsageError
from contramem_lab.config import ExperimentConfig, load_experiment, parse
from contramem_lab.memory import Authors
from contramem_lab.plan import check_sense

pytest.importorskip("pydantic_ai", reason="needs contramem[llm]")

TARGETS = """
[targets.large]
[targets.mid]
url = "http://127.0.0.1:9/v1"
key = "MID_KEY"
model = "mid-1"
reasoning_effort = "low"
"""
FILE = """
name = "authors"
[sources]
paths = ["runs"]
{targets}
[environment]
names = ["bfcl/base"]
runs = "there/{{condition}}/{{target}}"
[conditions]
run = ["none", "self", "contramem"]
[construction]
{more}
"""


WRITER = 'author = "model"\nmodel = "openai:writer"\n'


def config(construction: str) -> ExperimentConfig:
    return parse(FILE.format(targets=TARGETS, more=construction), "authors.toml")


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    monkeypatch.setenv("MID_KEY", "of-mid")


@pytest.mark.slow
def test_one_model_writes_all_memories() -> None:
    with Authors(config(WRITER)) as authors:
        assert authors.author_of("mid") is authors.author_of(None)
        assert authors.author_of(None).choice.name == "openai:writer"


def test_a_self_curated_memory_is_written_by_its_target_with_the_target_s_key() -> None:
    with Authors(config(WRITER + "self_curated = true")) as authors:
        shared, own = authors.author_of(None), authors.author_of("mid")
        assert (shared.choice.name, own.choice.name) == ("openai:writer", "openai:mid-1")
        assert own.choice.settings.reasoning_effort == "low"
        client = own.caller.model.opened.client
        assert (str(client.base_url), client.api_key) == ("http://127.0.0.1:9/v1/", "of-mid")


def test_rules_need_no_author() -> None:
    with Authors(config("self_curated = true")) as authors:
        assert authors.author_of("mid") is None


@pytest.mark.parametrize(
    ("more", "targets", "complaint"),
    [
        ("self_curated = true\nbudget_usd = 1.0", TARGETS, "no budget covers them all"),
        (
            "self_curated = true",
            '[targets.script]\nkind = "python"\npython = "a.py:b"',
            "not an OpenAI-compatible server",
        ),
    ],
)
def test_why_a_target_cannot_write_is_reported_before_anything_runs(tmp_path, more, targets, complaint) -> None:
    file = tmp_path / "authors.toml"
    file.write_text(FILE.format(targets=targets, more=WRITER + more))
    with pytest.raises(UsageError, match=complaint):
        check_sense(load_experiment(file))
