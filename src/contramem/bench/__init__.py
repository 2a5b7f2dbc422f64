"""Real environments, and agents that run in them.

environment.py   Environment: tasks, tools, a fresh world for every run, a verdict
agent.py         `attempt`: one loop for every environment, target and memory; gives a trajectory
target.py        Target: the agent's model; openai_target.py any OpenAI-compatible URL, json_mode.py without tools
limits.py        Limits: what ends a run that does not end itself
are/, appworld/  environments with an agent loop of their own
environments.py  environments by name: agentdojo.py, bfcl.py with bfcl_tasks.py
controls.py      the most and the least that text can do
soundness.py     can the verdicts be trusted?
"""
