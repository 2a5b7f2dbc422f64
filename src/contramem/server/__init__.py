"""The server: an explorer for people, review in the browser, and an HTTP API with MCP for agents. Thin, like cli/.

app.py          puts the parts together: routes, middleware, start and stop; options.py is what can be set
project.py      one bank with its runs, its inject log and its live runs; projects share nothing
run_index.py    recorded runs in a file for browsing; live_runs.py runs of agents, which survive a restart
explorer.py     tasks, runs, cards, ledger, search; contrast_page.py the picture of a task,
                comparison.py injections and comparisons
review.py       decisions that a person makes in the browser, checked and recorded as `bank review` does
api.py          JSON for agents and tools; schemas.py its bodies, openapi.py its document, mcp_app.py the same over MCP
access.py       who may do what: tokens.py keeps them hashed; guard_rails.py Host, CSRF, sizes, rates and headers
observe.py      metrics, structured log and audit; pages.py renders templates
"""
