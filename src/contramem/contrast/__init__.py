"""From the trajectories of one task to a packet, and from calls to observations. Read in this order:

    packet.py        Packet: all attempts side by side, values as placeholders, and the signals that separate them
    placeholders.py  puts `<EMAIL_1>` in the place of values; sightings.py finds them, spans.py, values.py,
                     value_keys.py, form.py and ordinary.py say what is one; placeholder_types.py has their types;
                     vocabulary.py and conventions.py say what stays readable
    signals.py       all that separates the runs: correctness.py, efficiency.py, recovery.py; signal.py has the noun
    collection.py    the vocabulary and the packets of all tasks, shard by shard on an engine; selection.py chooses the
                     tasks that a build learns from, when an ability has thousands
    observation.py   Observation: one call of one function, without the task around it

Beside them: flow.py knows where a value was seen and seen_texts.py searches what was shown, enabling.py what made a
refused call work, align.py sets runs side by side, permitted.py knows the values that a tool says it takes, english.py
holds ordinary words, taint.py, instructions.py and instruction_forms.py keep planted text out, look_alikes.py reads
letters that imitate others, speech.py knows calls that talk to the user, clock.py when things happened, feedback.py
what a judge says without its solution, program_message.py and documentation.py what errors and manuals may say, and
quotation.py marks somebody's words.
"""
