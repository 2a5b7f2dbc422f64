"""AppWorld, reached over HTTP: its pins (pydantic < 2) do not touch ours.

environment.py  AppWorldEnvironment: tasks, and a code agent that thinks, runs one Python cell and reads what it printed
server.py       the routes of `appworld serve environment` that are used here
docs.py         the documentation of its APIs, as tools and as text for the agent
"""
