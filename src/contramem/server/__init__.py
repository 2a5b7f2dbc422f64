"""The server: an explorer for people, review in the browser, and an HTTP API with MCP for agents. Thin, like cli/.

app.py          puts the parts together: routes, middleware, start and stop; options.py is what can be set
project.py      one bank with its runs, labels, inject log and live runs; projects share nothing
tasks.py        start page, tasks, runs and search; cards.py cards, the ledger and review, checked and recorded as
                `bank review` does; compare.py injections and comparisons; preview.py what an agent would get
listing.py      a list with facets, orders and files; pages.py renders templates
api.py          JSON for agents and tools, its bodies and its document; mcp.py the same bank over MCP
access.py       who may do what: tokens.py keeps them hashed; guard_rails.py Host, CSRF, sizes, rates and headers;
                connections.py how long a client may take, and how many may wait
observe.py      metrics, structured log, audit and spans
"""
