"""Unfinished: what failing runs left out altogether becomes a card about looking, acting or trying again."""

from __future__ import annotations

from collections.abc import Iterator

from tests.made_runs import call, run

from contramem.build.rules.kinds.last_words import LastWords
from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.kinds.try_again import TryAgain
from contramem.build.rules.rule import Rule
from contramem.build.rules.unfinished import find_unfinished
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def mail_desk(
    *,
    gives_up: bool = True,
    searches_by_day: bool = False,
    hasty: str = "What is the address?",
    timid: str = "Shall I send it?",
    answer: str = "Monday.",
) -> Iterator[Trajectory]:
    """Eight requests to invite somebody and three questions. `hasty` never looks, `timid` asks, `weary` gives up."""
    for number in range(8):
        asked, better = {"query": f"the person {number}"}, {"query": f"person{number}"}
        if searches_by_day:
            asked, better = {"day": f"2031-03-0{number + 1}"}, {"day": f"2031-04-0{number + 1}"}
        miss = call("Mail.search", asked, error="No contact found")
        hit = call("Mail.search", better, {"address": f"p{number}@x.org"})
        invite = call("Mail.send_invitation", {"to": f"p{number}@x.org"})
        attempts = {
            "careful": (True, [miss, hit, invite, "Done."]),
            "sure": (True, [hit, invite, "Done."]),
            "hasty": (False, [hasty]),
            "timid": (False, [hit, timid]),
            "weary": (False, [miss, "I found nobody."] if gives_up else [hit, invite, "Done, perhaps."]),
        }
        for source, (passed, steps) in attempts.items():
            task = f"Please send an invitation to person {number}."
            yield run(source, passed, *steps, task=task, task_id=f"invite-{number}")
    for number in range(3):
        look = call("Mail.search", {"query": f"rota{number}"}, {"day": "Monday"})
        for source in ("careful", "sure"):
            task = f"On which day is rota {number}?"
            yield run(source, True, look, answer, task=task, task_id=f"ask-{number}")


def find_rules(runs: Iterator[Trajectory]) -> dict[type[Rule], Rule]:
    run_set = RunSet.of(runs)
    return {type(rule): rule for rule in find_unfinished(run_set.select(), run_set)}


def test_runs_that_answer_without_a_look_teach_to_look_first() -> None:
    rule = find_rules(mail_desk())[LookFirst]
    assert [str(guard) for guard in rule.guards] == ["precedence(reads(Mail), finalize)"]
    assert "8 answered or asked without and failed" in rule.words().success_failure_contrast


def test_runs_that_break_off_or_write_a_call_down_lack_something_other_than_a_look() -> None:
    for last in ("", '{"action": "Mail.search", "action_input": {}}'):
        assert LookFirst not in find_rules(mail_desk(hasty=last))


def test_questions_instead_of_the_change_teach_that_nobody_replies() -> None:
    rule = find_rules(mail_desk())[LastWords]
    assert isinstance(rule, LastWords)
    assert [str(guard) for guard in rule.guards] == ["existence(writes(Mail)) when task contains send"]
    assert (rule.ending, rule.failed, rule.passed) == ("question", 16, 0)


def test_calls_that_stand_in_the_answer_teach_to_make_them() -> None:
    written = 'send_invitation(to="p@x.org")'
    rule = find_rules(mail_desk(hasty=written, timid=written))[LastWords]
    assert isinstance(rule, LastWords)
    assert rule.ending == "written call"


def test_an_ending_that_passing_runs_have_as_well_is_no_mistake() -> None:
    assert LastWords in find_rules(mail_desk())
    assert LastWords not in find_rules(mail_desk(answer="Monday. Does that suit you?"))


def test_giving_up_after_a_miss_teaches_which_argument_to_change() -> None:
    rule = find_rules(mail_desk())[TryAgain]
    assert [str(guard) for guard in rule.guards] == ["existence(Mail.search) when Mail.search"]
    assert "call it again with another `query`" in rule.words().core_rule


def test_what_no_failing_run_leaves_out_teaches_nothing() -> None:
    assert TryAgain not in find_rules(mail_desk(gives_up=False))


def test_another_day_is_another_question_and_no_other_wording() -> None:
    assert TryAgain not in find_rules(mail_desk(searches_by_day=True))


def test_words_of_the_first_request_order_nothing_where_users_write_again() -> None:
    assert {LookFirst, LastWords} <= find_rules(mail_desk()).keys()
    again = run("talker", True, "Which one?", ("user", "The first."), "Done.", task="Which rota?", task_id="talk")
    rules = find_rules(iter([*mail_desk(), again]))
    assert LastWords not in rules
    look = rules[LookFirst]
    assert isinstance(look, LookFirst)
    assert look.gets_replies
