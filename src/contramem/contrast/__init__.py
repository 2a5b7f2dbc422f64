"""From the trajectories of one task to a packet, and from calls to observations. Read in this order:

    packet.py        Packet: all attempts side by side, values as placeholders, and the signals that separate them;
                     step.py: one event of a run; shown_results.py: what authors see of results and texts
    placeholders.py  replaces values with `<EMAIL_1>`; sightings.py finds them; spans.py, values.py, value_keys.py and
                     form.py decide what a value is; placeholder_types.py lists the types;
                     vocabulary.py and conventions.py look up what stays readable (Public of privacy/ decides)
    signals.py       everything that separates the runs: correctness.py, efficiency.py, recovery.py; signal.py: Signal
    packets.py       the vocabulary and the packets of all tasks, some at a time on an engine; selection.py chooses the
                     tasks that a build learns from when an ability has thousands
    observation.py   Observation: one call of one function, without the task around it

Supporting modules:

    flow.py, seen_texts.py      where a value was first seen
    enabling.py, align.py       what made a refused call work; runs side by side
    permitted.py                values that a tool says it accepts
    observed_effects.py         functions that change something against their name
    clock.py, system_facts.py   when things happened; what the system prompt said
    speech.py, feedback.py      calls that talk to the user; what a judge said
    repeatable.py               what of an error or a manual a card may repeat
    documentation.py            the parts of a manual that an author may read; quotation.py quotes what others wrote
"""
