"""Real environments, and agents that run in them.

environment.py   Environment: tasks, tools, a fresh world for every run, a verdict
agent.py         `attempt`: one loop for every environment, target and memory; returns a trajectory
target.py        Target: the agent's model; openai_target.py: any OpenAI-compatible URL; json_mode.py: without tools
limits.py        Limits: what ends a run that does not end by itself
are/, appworld/  environments with their own agent loop
environments.py  environments by name: agentdojo.py, bfcl.py with bfcl_tasks.py
controls.py      the most and the least that text can achieve
soundness.py     can the verdicts be trusted?
"""
