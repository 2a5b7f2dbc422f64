"""The server: an explorer for people, review in the browser, and an HTTP API with MCP for agents. Thin, like cli/.

app.py          puts the parts together: routes, middleware, start and stop; options.py is what can be set
project.py      one bank with its runs, its inject log and its live runs; projects share nothing
run_index.py    recorded runs in a file for browsing; live.py runs of agents, which survive a restart, and MCP
tasks.py        start page, tasks, runs and search; cards.py cards, the ledger and review, checked and recorded as
                `cards review` does; comparison.py injections and comparisons
listing.py      a list with facets, orders and files; pages.py renders templates
api.py          JSON for agents and tools, its bodies and its document
access.py       who may do what: tokens.py keeps them hashed; guard_rails.py Host, CSRF, sizes, rates and headers
observe.py      metrics, structured log, audit and spans
"""
