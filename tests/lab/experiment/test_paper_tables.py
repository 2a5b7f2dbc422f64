"""The paper's own numbers, put in as counts, come out as the paper's own rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contramem_lab.jobs import ResultFolder
from contramem_lab.paper import COMPONENTS as TABLE_3
from contramem_lab.paper import Layout, ablation_table, completion_table, curator_table, footprint_table, main_table
from contramem_lab.results import ArmResult, Results

ABILITIES = ("execution", "search", "ambiguity", "adaptability", "time")
SOURCES = ("GPT-5.5", "Claude Sonnet", "DeepSeek V4 Pro")
LAYOUT = Layout((*SOURCES, "Qwen3.7 Plus"), SOURCES, ABILITIES)
TABLE_1 = {
    ("GPT-5.5", "none"): (47.5, 52.5, 12.5, 17.5, 7.5),
    ("GPT-5.5", "self"): (72.5, 92.5, 40.0, 35.0, 12.5),
    ("GPT-5.5", "contramem"): (80.0, 100.0, 52.5, 55.0, 17.5),
    ("Claude Sonnet", "none"): (40.0, 57.5, 17.5, 22.5, 2.5),
    ("Claude Sonnet", "self"): (60.0, 80.0, 52.5, 52.5, 10.0),
    ("Claude Sonnet", "contramem"): (75.0, 85.0, 57.5, 42.5, 2.5),
    ("DeepSeek V4 Pro", "none"): (35.0, 47.5, 12.5, 17.5, 2.5),
    ("DeepSeek V4 Pro", "self"): (52.5, 77.5, 32.5, 35.0, 2.5),
    ("DeepSeek V4 Pro", "contramem"): (75.0, 77.5, 55.0, 52.5, 2.5),
    ("Qwen3.7 Plus", "none"): (25.0, 47.5, 5.0, 15.0, 0.0),
    ("Qwen3.7 Plus", "contramem"): (50.0, 67.5, 20.0, 40.0, 0.0),
}
ABLATIONS = {
    "none": (47.5, 52.5, 12.5), "self": (72.5, 92.5, 40.0), "multi-rollout": (75.0, 92.5, 42.5),
    "function-only": (67.5, 85.0, 30.0), "skill-only": (60.0, 100.0, 40.0), "contramem": (80.0, 100.0, 52.5),
}  # fmt: skip


def arm(target: str, condition: str, percentages: tuple[float, ...]) -> ArmResult:
    by_ability = {name: (round(value * 0.4), 40) for name, value in zip(ABILITIES, percentages, strict=False)}
    passed, runs = (sum(side) for side in zip(*by_ability.values(), strict=True))
    return ArmResult(condition=condition, target=target, runs=runs, passed=passed, unknown=0, hung=0,
                     by_ability=by_ability, shown_tokens=0, agent_events=0, model_calls=None, tokens=None,
                     cost_usd=None)  # fmt: skip


def rows_of(table_rows: object, columns: int) -> list[str]:
    return [" ".join(str(cell) for cell in row[:columns]) for row in table_rows]  # type: ignore[attr-defined]


def test_table_1_has_the_rows_of_the_paper() -> None:
    cells = tuple(arm(target, condition, values) for (target, condition), values in TABLE_1.items())
    rows = rows_of(main_table(Results("x", cells=cells), LAYOUT).rows, 8)
    assert rows == [
        "GPT-5.5 No memory 47.5 52.5 12.5 17.5 7.5 27.5",
        "GPT-5.5 Self memory 72.5 92.5 40.0 35.0 12.5 50.5 (+23.0)",
        "GPT-5.5 contramem 80.0 100.0 52.5 55.0 17.5 61.0 (+33.5)",
        "Claude Sonnet No memory 40.0 57.5 17.5 22.5 2.5 28.0",
        "Claude Sonnet Self memory 60.0 80.0 52.5 52.5 10.0 51.0 (+23.0)",
        "Claude Sonnet contramem 75.0 85.0 57.5 42.5 2.5 52.5 (+24.5)",
        "DeepSeek V4 Pro No memory 35.0 47.5 12.5 17.5 2.5 23.0",
        "DeepSeek V4 Pro Self memory 52.5 77.5 32.5 35.0 2.5 40.0 (+17.0)",
        "DeepSeek V4 Pro contramem 75.0 77.5 55.0 52.5 2.5 52.5 (+29.5)",
        "Source macro No memory 40.8 52.5 14.2 19.2 4.2 26.2",
        "Source macro Self memory 61.7 83.3 41.7 40.8 8.3 47.2 (+21.0)",
        "Source macro contramem 76.7 87.5 55.0 50.0 7.5 55.3 (+29.2)",
        "Qwen3.7 Plus No memory 25.0 47.5 5.0 15.0 0.0 18.5",
        "Qwen3.7 Plus contramem 50.0 67.5 20.0 40.0 0.0 35.5 (+17.0)",
    ]


def test_table_3_has_the_rows_of_the_paper_although_the_main_conditions_ran_more_abilities() -> None:
    wide = [arm("GPT-5.5", name, TABLE_1["GPT-5.5", name]) for name in ("none", "self", "contramem")]
    narrow = [arm("GPT-5.5", name, values) for name, values in ABLATIONS.items() if "-" in name]
    table = ablation_table("Table 3", "paper-3", Results("x", cells=(*wide, *narrow)), TABLE_3, LAYOUT)
    assert [(str(row[1]), *map(str, row[2:5]), str(row[-1]).partition(" ")[0]) for row in table.rows] == [
        ("No memory", "47.5", "52.5", "12.5", "37.5"),
        ("Self memory", "72.5", "92.5", "40.0", "68.3"),
        ("Multi-rollout", "75.0", "92.5", "42.5", "70.0"),
        ("Function Cards only", "67.5", "85.0", "30.0", "60.8"),
        ("Skill Cards only", "60.0", "100.0", "40.0", "66.7"),
        ("contramem", "80.0", "100.0", "52.5", "77.5"),
    ]


def test_table_2_has_task_and_scenario_completion_gains_and_the_mean_over_targets() -> None:
    def appworld(target: str, condition: str, tasks: int, scenarios: int) -> ArmResult:
        return ArmResult(condition=condition, target=target, runs=168, passed=tasks, unknown=0, hung=0,
                         by_ability={"test_normal": (tasks, 168)}, shown_tokens=0, agent_events=0, model_calls=None,
                         tokens=None, cost_usd=None, scenarios={"test_normal": (scenarios, 56)})  # fmt: skip

    cells = (
        appworld("DeepSeek-V3.1", "none", 86, 17), appworld("DeepSeek-V3.1", "contramem", 128, 33),
        appworld("Qwen3.6-Flash", "none", 107, 24), appworld("Qwen3.6-Flash", "contramem", 135, 40),
    )  # fmt: skip
    names = ("DeepSeek-V3.1", "Qwen3.6-Flash")
    rows = rows_of(completion_table(Results("x", cells=cells), Layout(names, names, ("test_normal",))).rows, 5)
    assert rows == [
        "DeepSeek-V3.1 No memory 51.2 30.4 –",
        "DeepSeek-V3.1 contramem 76.2 58.9 +25.0",
        "Qwen3.6-Flash No memory 63.7 42.9 –",
        "Qwen3.6-Flash contramem 80.4 71.4 +16.7",
        "Target macro No memory 57.4 36.6 –",
        "Target macro contramem 78.3 65.2 +20.8",
    ]


def test_table_a4_counts_what_passed(tmp_path: Path) -> None:
    """There is no bank here, so no card either: what is unknown is said to be."""
    cells = (arm("GPT-5.5", "append-only", (65.0, 97.5)), arm("GPT-5.5", "contramem", (80.0, 100.0)))
    rows = rows_of(curator_table(ResultFolder(tmp_path), Results("x", cells=cells), LAYOUT).rows, 7)
    assert rows == [
        "GPT-5.5 Execution 0 0 n/a 26/40 (65.0%) 32/40 (80.0%)",
        "GPT-5.5 Search 0 0 n/a 39/40 (97.5%) 40/40 (100.0%)",
        "GPT-5.5 Total 0 0 n/a 65/80 (81.2%) 72/80 (90.0%)",
    ]


def test_the_footprint_is_summed_up_over_the_abilities_that_every_memory_ran() -> None:
    """As in the paper: AWM, 40 runs of each ability, 3,018 memory tokens and 35.2 events a run, 55.10 dollars."""

    def part(condition: str, tokens: float, events: float, cost: float) -> ArmResult:
        cell = arm("GPT-5.5", condition, (50.0,))
        return replace(cell, shown_tokens=tokens, agent_events=events, cost_usd=cost)

    awm = {"execution": part("awm", 3334, 30.5, 18.98), "search": part("awm", 3100, 49.5, 16.20),
           "ambiguity": part("awm", 2620, 25.6, 19.92)}  # fmt: skip
    ours = {name: part("contramem", 1850, 31.0, 19.0) for name in ABILITIES}
    cells = (replace(part("awm", 0, 0, 0), parts=awm), replace(part("contramem", 0, 0, 0), parts=ours))
    rows = footprint_table(Results("x", cells=cells), LAYOUT).rows
    assert [str(row[1]) for row in rows] == [
        "Execution", "Execution", "Search", "Search", "Ambiguity", "Ambiguity", "Aggregate", "Aggregate",
    ]  # fmt: skip
    assert [str(cell) for cell in rows[-2][2:]] == ["AWM", "50.0", "3,018", "n/a", "n/a", "35.2", "55.10"]
    assert str(rows[-1][-1]) == "57.00"
