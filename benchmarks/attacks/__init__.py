"""The parts of benchmarks/attack: honest runs, texts and secrets put into them, and the exits that are searched.

desk.py        honest runs of a made-up service desk, one app for each attack
languages.py   orders and openings in twelve languages
second_family.py  languages and disguises that no defence was tuned on
third_family.py, third_places.py, third_credentials.py  what somebody who has read the code would try
fourth_family.py, fourth_places.py, fourth_credentials.py  requests that no imperative gives away
depot.py       honest runs of a parcel depot, as chat messages
fifth_family.py, fifth_places.py, fifth_credentials.py  every field of a chat record, cards, guards, encodings
sixth_family.py, sixth_places.py  short texts, names, states
clinic.py      honest runs of a clinic's desk, as Anthropic messages in an archive
seventh_family.py, seventh_places.py, seventh_credentials.py  every block of a message, schemas, names of files
garage.py      honest runs of a garage, as sessions of Google's Agent Development Kit
eighth_family.py, eighth_places.py, eighth_credentials.py  every part of an event, texts over several fields
theatre.py     honest runs of a box office, as OpenTelemetry spans
ninth_family.py  texts, places and secrets in spans
harbour.py     honest runs of a harbour office's terminal, as OpenHands evaluations
tenth_family.py  what a coding agent's terminal shows: hints, logs, command lines, files
observatory.py honest runs of an observatory's night desk, as tau2 results
eleventh_family.py, eleventh_credentials.py  users with tools, scenarios, policies, checks, trials
texts.py       planted texts: what is ordered, in which language and disguise
credentials.py secrets of many kinds, and how they are written
places.py      where in a run something can be planted
exits.py       the real commands, and everything they write
author.py      what instruments tell a model, and an author that copies texts onto cards
campaign.py    one seed: make the runs, run the commands, count what comes out
"""
