"""Reports: a web page in one file, and tables in every form people paste them into.

    from contramem.evaluate.report import Bar, Manifest, Page, Section, ReportTable, bar_chart, percent, write_html

    chart = bar_chart("Memory tokens", [Bar("none", 0), Bar("contramem", 1851)], measure="tokens at task start")
    table = ReportTable("Conditions", ("Condition", "Success %"), [["none", percent(0.26)]])
    table.as_rich(); table.as_markdown(); table.as_latex(); table.as_csv()
    page = Page("Ten conditions", "contramem leads by 4 points.", [Section("Cost", figures=[chart], tables=[table])],
                Manifest(command="contramem ...", inputs=inputs_of("runs", [path]), seed=0))
    write_html(page, Path("report.html"))

- Charts (`bar_chart`, `interval_chart`, `flip_chart`) turn plain data into a `Figure`, which includes a
  table. Colours are names: `base`, `memory`, `good`, `bad`, `plain`, `series-0` to `-5`.
- Cells (`number`, `percent`, `difference_cell`, `points`, `between`) write None as `n/a`, and keep the number for CSV.
- Any text may come from a trace. It is escaped when it is written, so pass it unescaped.
"""

from contramem.evaluate.report.charts import (
    Bar,
    Estimate,
    Figure,
    FlipRow,
    IntervalRow,
    bar_chart,
    flip_chart,
    interval_chart,
)
from contramem.evaluate.report.page import (
    Input,
    Item,
    Listing,
    Manifest,
    Page,
    Section,
    Tile,
    as_html,
    inputs_of,
    write_html,
    write_tables,
    write_text,
)
from contramem.evaluate.report.table import (
    Cell,
    ReportTable,
    between,
    difference_cell,
    number,
    percent,
    points,
    unknown,
)

__all__ = [
    "Bar",
    "Cell",
    "Estimate",
    "Figure",
    "FlipRow",
    "Input",
    "IntervalRow",
    "Item",
    "Listing",
    "Manifest",
    "Page",
    "ReportTable",
    "Section",
    "Tile",
    "as_html",
    "bar_chart",
    "between",
    "difference_cell",
    "flip_chart",
    "inputs_of",
    "interval_chart",
    "number",
    "percent",
    "points",
    "unknown",
    "write_html",
    "write_tables",
    "write_text",
]  # fmt: skip
