"""The instruments of an author: look at all runs, suppose, try, explain, propose. For people, coding agents and rules.

run_set.py      RunSet: all runs of a domain, ready to be asked many times; recorded_actions.py: what one run did
run_file.py     the same runs on disk, with an index; run_cache.py: kept for the next command
kinds.py        tasks of one kind: same functions, near wording; task_groups.py: which group a task is nearest to
halves.py       which tasks are tried on, and which are kept back to confirm
trial.py        Trial: a guard on all runs, counted by outcome, kind and source; guard_check.py: what no run has
trial_log.py    how many things were tried and confirmed, so that `proven` means something
atoms.py        facts of a run that a condition can ask for; sharpen.py: the conditions that make a guard true
candidates.py   the guards that a kind of task gives reason to try; argument_candidates.py: those about arguments
relations.py    what is true of one argument; measures.py: of what there can be too much; wordings.py: what texts say
seen_fields.py  what earlier results held when a call was made
contenders.py   candidates that could explain failures, with their conditions
explain.py      those that hold up, ranked; masks.py: sets of runs as bits, so that all of them can be counted
side_by_side.py what the runs of a task did, call by call; values_seen.py: the values behind a guard
task_words.py   words of requests that tell when a function is needed
tables.py       the runs as tables for SQL; query_memory.py: what one query may take
proposal.py     a card as somebody writes it; card_text.py: as text
proposal_checks.py  what is held against it: run_values.py, person_names.py, copied_texts.py, neighbours.py
sql_check.py    a rule that no guard can state, checked by a query
propose.py      what becomes of each proposal, in the ledger; proposal_support.py: what it rests on
ask.py          the questions that commands and MCP tools ask
report_text.py  reports as lines of text; report_json.py: as plain values
instruments.py  the instruments as tools that a model calls; mcp_author.py: offered over MCP
install.py      the Agent Skill for Claude Code, Codex and Cursor; its text is skill/SKILL.md
"""
