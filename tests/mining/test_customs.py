"""What nearly every run does around a write, learned without verdicts from one run a task."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.mining.customs import find_customs


def lessons(*stories, passed=None, source="agent"):
    runs = [run(source, passed, *story, task=f"Do it {n}.", task_id=f"t{n}") for n, story in enumerate(stories)]
    return list(find_customs(runs, "support"))


def rules(topic):
    return call("Shop.get_rules", {"topic": topic}, "Read them.")


def order(name):
    return call(f"Shop.{name}", {"order_id": "o-1"}, "done")


CANCEL, EXCHANGE = [rules("cancellation"), order("cancel_order")], [rules("exchange"), order("exchange_order")]


def test_the_rules_that_are_read_before_each_change_are_told_together():
    [lesson] = lessons(*[CANCEL, EXCHANGE] * 5)
    assert lesson.text.skill.core_rule == (
        "Call `get_rules` first, each time with its own `topic`: cancellation before `cancel_order` and exchange "
        "before `exchange_order`. Follow what it answers."
    )
    assert lesson.text.guards == (
        "precedence(Shop.get_rules[topic = cancellation], Shop.cancel_order)",
        "precedence(Shop.get_rules[topic = exchange], Shop.exchange_order)",
    )
    assert "In runs of one agent, it was so before 10 of 10 calls." in lesson.text.skill.success_failure_contrast
    assert (lesson.kind, lesson.grade) == ("custom", "observed")


def test_a_word_that_comes_before_every_change_is_one_of_the_task():
    stories = [[rules("paris"), order("cancel_order")], [rules("paris"), order("exchange_order")]] * 5
    assert lessons(*stories) == []


def test_what_some_runs_do_without_is_no_custom():
    assert lessons(*[CANCEL, EXCHANGE] * 5, [order("cancel_order")]) == []


def test_runs_that_failed_show_no_custom():
    assert lessons(*[CANCEL, EXCHANGE] * 5, passed=False) == []
    assert len(lessons(*[CANCEL, EXCHANGE] * 5, passed=True)) == 1


def refund(amount, confirm, **shown):
    given = {"item_id": "i-1", "amount": amount, "confirm": confirm}
    return call("Shop.process_return", given, {"status": "ok", **shown})


def test_an_amount_that_is_what_the_preview_showed_is_taken_from_there():
    def story(price, fee):
        return [refund(0, False, price=price, fee=fee, due=price - fee), refund(price - fee, True)]

    [lesson] = lessons(*[story(50 + n, n % 3 + 1) for n in range(6)])
    assert lesson.text.skill.core_rule == (
        "When you call `process_return` with `confirm`, give as `amount` the `due` that the same call without "
        "`confirm` showed."
    )
    assert lesson.text.skill.success_failure_contrast.endswith("it was so in 6 of 6 calls.")


def test_an_amount_is_worked_out_from_two_parts_that_the_preview_shows():
    def story(price, fee):
        return [refund(0, False, price=price, fee=fee), refund(price - fee, True)]

    [lesson] = lessons(*[story(50 + n, n % 3 + 1) for n in range(6)])
    assert "the `price` minus the `fee`" in lesson.text.skill.core_rule


def test_what_the_preview_only_repeats_is_not_taken_from_it():
    assert lessons(*[[refund(n, False, due=n), refund(n, True)] for n in range(20, 26)]) == []


def test_the_user_who_answers_between_preview_and_confirmation_has_agreed():
    story = [refund(5, False), "It would be 5.", ("user", "Fine."), refund(5, True)]
    [lesson] = lessons(*[story] * 5)
    assert lesson.text.title == "Have the user agree before process_return is confirmed"
    assert lessons(*[story] * 4, [refund(5, False), refund(5, True)]) == []


def test_few_calls_show_nothing():
    assert lessons(*[CANCEL, EXCHANGE] * 2) == []
