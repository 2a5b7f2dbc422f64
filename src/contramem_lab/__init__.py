"""The lab: what we need to show that contramem works, and nothing that a user of a bank needs.

It uses the library, and no room of the library imports it. Its commands are registered by an entry point.

    bench/       real environments, and agents that run in them   -> runs
    conditions/  eleven ways to build a memory from the same runs
    experiment/  one file that says it all: split, memories, runs, comparison; resumable
    cli/         `contramem lab ...`

foresight.py tells whether guards separate failing from passing runs; foresight_guards.py scores runs by guards and
baselines.py has the scores to beat. contest.py has TaskContest: a task with passing and failing runs, and how well a
score orders them. split.py splits tasks into reference and held-out ones, without leaks.
"""
