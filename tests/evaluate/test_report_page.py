"""The page as a file: whole, safe, the same each time, and readable without its pictures."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contramem.errors import UsageError
from contramem.evaluate.report import (
    Bar,
    Estimate,
    FlipRow,
    IntervalRow,
    Item,
    Listing,
    Manifest,
    Page,
    ReportTable,
    Section,
    Tile,
    as_html,
    bar_chart,
    flip_chart,
    inputs_of,
    interval_chart,
    write_html,
)
from contramem.evaluate.report.charts import nice, round_up
from contramem.evaluate.report.table import fit, width

ATTACK = "</title></svg><script>alert('x')</script><img src=http://evil.example/a.png onerror=alert(1)>"


def figures(text="search", count=3):
    """One of each kind, with `text` wherever a text may come from a trace."""
    names = [f"{text}-{number}" for number in range(count)]
    return [
        bar_chart(text, [Bar(name, 3, 1, 5) for name in names] + [Bar(text, None)], measure=text),
        interval_chart(
            text, [IntervalRow(name, [Estimate(40, 30, 50), Estimate(None)], "+1") for name in names],
            series=(text, "Memory"), measure=text, reference=50, notes="Points",
        ),
        flip_chart(text, [FlipRow(name, names, names) for name in names]),
    ]  # fmt: skip


def page(text="search", count=3):
    items = [Item(text, text, (text, text)) for _ in range(count)]
    table = ReportTable(text, (text, "n"), [[text, "1"]], notes=(text,))
    section = Section(
        text, text, [Listing(text, items, "bad"), Listing(text, ())], figures(text, count), [table], [text]
    )
    manifest = Manifest(command=f"contramem {text}", seed=0, more=((text, text),), version="0.1.0")
    return Page(text, text, [section], manifest, "good", text, [Tile(text, text, text)], [text])


class Seen(HTMLParser):
    """Every element of a page, and what it would load."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.loads, self.texts = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [
            v for k, v in attributes if k in ("src", "href", "srcset", "action", "data") and not v.startswith("#")
        ]
        self.loads += [k for k, _ in attributes if k.startswith("on")]

    def handle_data(self, text):
        self.texts.append(text)


def test_text_is_escaped_everywhere():
    seen = Seen(as_html(page(ATTACK)))
    assert {"script", "img", "iframe", "object"}.isdisjoint(seen.tags)
    assert seen.loads == ["data:,"], "an empty icon, so that no browser asks a server for one"


@settings(max_examples=30)
@given(st.text(max_size=20))
def test_any_text_makes_a_page_that_can_be_written_and_charts_that_are_xml(text):
    as_html(page(text, 1)).encode()
    for figure in figures(text, 1):
        ElementTree.fromstring(str(figure.svg))


def test_the_policy_of_the_page_forbids_scripts_and_loading():
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', as_html(page()))
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy


def test_the_same_page_gives_the_same_text():
    assert as_html(page()) == as_html(page())


def test_the_verdict_comes_before_everything_else_and_the_manifest_last():
    html = as_html(page())
    places = [html.index(f'class="{name}') for name in ("verdict", "tiles", "facts")]
    assert places == sorted(places)


def test_every_figure_has_a_label_and_a_table():
    for figure in figures():
        svg = ElementTree.fromstring(str(figure.svg))
        assert svg.attrib["role"] == "img"
        assert "search" in svg.attrib["aria-label"]
        assert list(figure.table.cells()), figure.title


def test_headings_do_not_skip_a_level_and_every_link_leads_somewhere():
    html = as_html(page())
    levels = [int(level) for level in re.findall(r"<h([1-6])", html)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for anchor in re.findall(r'href="#([^"]+)"', html):
        assert f'id="{anchor}"' in html


def test_sections_with_the_same_title_get_different_anchors():
    twice = Page("t", "v", [Section("Same"), Section("Same")], Manifest("c"))
    assert re.findall(r'<section id="([^"]+)"', as_html(twice)) == ["same", "same-2"]


def test_the_end_of_a_long_list_is_collapsed_and_a_short_list_is_not():
    html = as_html(page(count=31))
    assert '<details class="listing"><summary>1 more</summary>' in html
    assert '<details class="listing">' not in as_html(page(count=30))


def test_a_chart_draws_at_most_sixty_rows_and_says_so():
    figure = flip_chart("t", [FlipRow(f"ability {n}", ["a"], []) for n in range(100)])
    assert "The first 60 of 100 rows are drawn" in figure.caption
    assert len(list(figure.table.cells())) == 100


def test_hundreds_of_flips_become_a_bar():
    figure = flip_chart("t", [FlipRow("all", [f"task {n}" for n in range(500)], ["x"] * 20)])
    assert str(figure.svg).count("<rect") == 2


def test_an_unknown_value_has_no_bar_and_is_named():
    figure = bar_chart("t", [Bar("a", None), Bar("b", 2)], measure="m")
    assert str(figure.svg).count("<rect") == 1
    assert "n/a" in str(figure.svg)


def test_charts_work_without_data():
    for figure in (
        bar_chart("t", [], measure="m"), interval_chart("t", [], measure="m"), flip_chart("t", []),
    ):  # fmt: skip
        ElementTree.fromstring(str(figure.svg))


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_ticks_are_few_and_lie_on_the_axis(low, span):
    ticks = nice(low, low + span)
    assert 1 <= len(ticks) <= 12
    assert all(low - 1e-6 * (abs(low) + span) <= tick <= low + span + 1e-6 * (abs(low) + span) for tick in ticks)


@given(st.floats(1e-6, 1e9))
def test_an_axis_ends_just_above_its_largest_value(value):
    assert value * (1 - 1e-9) <= round_up(value) <= 2.5 * value


@given(st.text(max_size=40), st.integers(20, 200))
def test_a_shortened_name_fits_and_shows_both_ends(text, pixels):
    assert width(fit(text, pixels)) <= max(pixels + 0.5, 2 * 12)


def test_a_page_that_cannot_be_written_is_one_clear_line_and_leaves_nothing(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere/report.html: cannot be written \(No such file or directory\)"):
        write_html(page(), tmp_path / "nowhere" / "report.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: cannot be written"):
        write_html(page(), tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_digest_of_a_folder_depends_on_names_and_contents_alone(tmp_path):
    for place in ("one", "two"):
        (tmp_path / place / "deep").mkdir(parents=True)
        (tmp_path / place / "deep" / "a.json").write_text("a")
    one, two = inputs_of("base", [tmp_path / "one", tmp_path / "two"])
    assert (one.files, one.size, one.sha256) == (two.files, two.size, two.sha256) == (1, 1, one.sha256)
    (tmp_path / "two" / "deep" / "a.json").rename(tmp_path / "two" / "deep" / "b.json")
    assert inputs_of("base", [tmp_path / "two"])[0].sha256 != one.sha256


def test_the_digest_of_a_file_is_what_sha256sum_says(tmp_path):
    file = Path(tmp_path / "a")
    file.write_text("abc")
    [found] = inputs_of("base", [file])
    assert found.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
