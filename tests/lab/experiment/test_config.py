"""An experiment file with a mistake in it gets one line: where, what, what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem_lab.config import load_experiment, parse

GOOD = """\
name = "small"
seed = 7

[sources]
paths = ["runs"]

[split]
reference = 4
held_out = 2

[conditions]
run = ["none", "contramem"]

[environment]
names = ["bfcl/base"]
"""


def test_a_good_file_is_read_and_what_it_leaves_out_has_a_default():
    config = parse(GOOD, "small.toml")
    assert (config.name, config.seed, config.split.reference, config.split.by) == ("small", 7, 4, "scenario")
    assert config.conditions.run == ("none", "contramem")
    assert config.environment.concurrency == 2


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        pytest.param(
            "held_out = 2", "heldout = 2",
            "f.toml:9: split.heldout: there is no such key; did you mean 'held_out'? [split] takes abilities, by,",
            id="typo",
        ),
        pytest.param("seed = 7", "sede = 7", "f.toml:2: sede: there is no such key; did you mean 'seed'?", id="top"),
        pytest.param("seed = 7", 'seed = "7"', "f.toml:2: seed: expected 'int', got 'str'.", id="type"),
        pytest.param("reference = 4", "reference = 0", "f.toml:8: split.reference: expected 'int' >= 1", id="range"),
        pytest.param(
            "reference = 4", 'by = "scenaro"',
            "f.toml:8: split.by: 'scenaro' is none of its values; did you mean 'scenario'? It takes scenario, task,",
            id="choice",
        ),
        pytest.param('run = ["none", "contramem"]', "", "f.toml:11: conditions: 'run' is missing.", id="missing"),
        pytest.param('name = "small"', 'name = "a/b"', "f.toml:1: name: expected 'str' matching", id="name"),
        pytest.param("seed = 7", "seed = = 7", "f.toml: is not valid TOML: Invalid value (at line 2", id="toml"),
        pytest.param(
            "[conditions]", "[targets.t]\nmodell = 1\n[conditions]",
            "f.toml:12: targets.t.modell: there is no such key; did you mean 'model'?", id="inside-a-dict",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(before, after, complaint):
    assert before in GOOD
    with pytest.raises(UsageError) as raised:
        parse(GOOD.replace(before, after), "f.toml")
    assert str(raised.value).startswith(complaint)
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(UsageError, match=r"none\.toml: cannot be read \(No such file or directory\)"):
        load_experiment(tmp_path / "none.toml")


def test_comments_and_order_do_not_change_an_experiment(tmp_path: Path):
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text(GOOD)
    other.write_text(GOOD.replace('name = "small"\nseed = 7', '# a comment\nseed = 7\nname = "small"'))
    assert load_experiment(one).digest == load_experiment(other).digest
    other.write_text(GOOD.replace("seed = 7", "seed = 8"))
    assert load_experiment(one).digest != load_experiment(other).digest
