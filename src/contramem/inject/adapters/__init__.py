"""Adapters: contramem in other people's agents, one thin file a framework. Each imports its framework only when it is
imported itself, and needs the extra of that name.

    guided_run.py         what all of them share: what to show when, and which call to hold
    starter.py            starting runs, and conversations in which more is asked
    wrapper.py            hand-written loops: tools in a dict, or one callable; tools with notes beside their results,
                          for frameworks without hooks; whether a framework's limits leave room for a held call
    pydantic_ai.py        a capability of an agent
    langchain.py          middleware of an agent; the same for a ToolNode in a LangGraph graph
    openai_agents.py      a guided copy of an agent, for one run
    inspect_ai.py         a guided task: hooks and an approver
    claude_agent_sdk.py   hooks of a client, for its options
    google_adk.py         a plugin of a runner
    strands.py            hooks of an agent
    smolagents.py         a guided copy of an agent, for one run
    autogen.py            guided tools, for one run; so are crewai.py and llama_index.py
"""
