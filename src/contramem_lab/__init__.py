"""The lab: what we need to show that contramem works, and nothing that a user of a bank needs.

It uses the library, and no room of the library imports it. Its commands are `contramem lab ...`, registered by an entry
point.

environment.py  where agents act: tasks, tools, a fresh world for every run, a verdict; agentdojo.py, bfcl.py
appworld.py     an environment with an agent loop of its own, and so is are.py (settings, scenarios) with are_runs.py
                and are_worker.py, which is what runs inside ARE
target.py       the agent's model; agent.py lets it try a task, with or without a memory
condition.py    what a way to build a memory gets and gives; conditions.py has eleven, baselines.py those without cards
foresight.py    whether a memory tells failing from passing runs; measure.py: what each memory knows, and what it costs
config.py       an experiment as a file; split.py: which tasks teach; opened.py: what the file names; plan.py: what is
                missing, and the runs to make; jobs.py makes and keeps them; memory.py builds and freezes memories
experiment.py   from file to report, in the order it happens; results.py, report.py and paper.py present it
"""
