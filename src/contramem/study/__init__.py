"""The instruments of an author (look at all runs, try a guess, explain, propose), for people, coding agents and rules.

run_set.py      RunSet: all runs of a domain, ready for many questions; recorded_actions.py: what one run did;
                run_outline.py: which calls it made
run_file.py     the same runs on disk, with an index; run_cache.py: kept for the next command
kinds.py        kinds of tasks: same functions, similar wording; task_groups.py: the nearest group of a task
halves.py       which tasks are open for trials, and which are held out for confirmation
replays.py      which runs followed or broke a guard
trial.py        Trial: a guard on all runs, counted by outcome, kind and source; guard_check.py: names no run has
trial_log.py    how many guards were tried and confirmed, so that `proven` means something
atoms.py        facts about a run that a condition can use; chosen_records.py: facts about the record that it chose
sharpen.py      conditions that make a guard true; condition_pairs.py: two that do so only together
candidates.py   the guards worth trying on a kind of task; argument_candidates.py: those about arguments;
                guard_candidate.py: one of them
argument_uses.py  what each call of a run passed
relations.py    what is true of one argument; seen_relation.py: one such fact; measures.py: quantities with a limit;
                wordings.py: words of texts; record_ways.py: how a record was chosen; calculations.py: numbers
seen_fields.py  what earlier results contained when a call was made
contenders.py   candidates that may explain failures, with their conditions
explain.py      the candidates that hold up, ranked; by_kind.py: those of one kind of task that others contradict;
                masks.py: sets of runs as bits, for fast counting; run_masks.py: how runs ended, as such sets
instead.py      what passing runs do where a guard forbids a call; demanded_words.py: how, where it demands one
side_by_side.py what the runs of a task did, call by call; values_seen.py: the values behind a guard
task_words.py   words of requests that tell when a function is needed
tables.py       the runs as tables for SQL; query_memory.py: the memory limit of a query
proposal.py     a card as its author writes it; card_text.py: the same as text
proposal_checks.py  the checks of a proposal; related_cards.py: cards of the bank that are like it
sql_check.py    a rule that no guard can express, checked by a query
propose.py      decides each proposal and records it; proposal_support.py: its evidence
ask.py          the questions behind commands and MCP tools
report_text.py  reports as lines of text; report_json.py: as plain values
instruments.py  the instruments as tools for a model; mcp_author.py: offered over MCP
install.py      the Agent Skill for Claude Code, Codex and Cursor; its text is skill/SKILL.md
"""
