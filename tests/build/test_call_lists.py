from tests.made_runs import call, packet, run

from contramem.build.call_lists import MAX_LISTS, CallListsByWrite, call_list_of
from contramem.retrieve.terms import term, terms_of

SEARCH, DELETE, SEND = call("Mail.search"), call("Mail.delete"), call("Mail.send")


def test_a_list_is_what_a_passing_run_called_up_to_its_last_write() -> None:
    runs = packet(
        run("A", True, SEARCH, call("Mail.delete", error="no such mail"), SEARCH, DELETE, DELETE, SEARCH, "done"),
        run("B", False, DELETE, "done"),
    )
    assert call_list_of(runs).calls == ("Mail.search", "Mail.delete")


def test_the_list_of_most_passing_runs_is_kept_and_of_two_the_shorter() -> None:
    longer, shorter = (call("Mail.list"), SEARCH, DELETE), (SEARCH, DELETE)
    equal = packet(run("A", True, *longer, "done"), run("B", True, *shorter, "done"))
    assert call_list_of(equal).calls == ("Mail.search", "Mail.delete")
    most = packet(run("A", True, *longer, "done"), run("B", True, *longer, "done"), run("C", True, *shorter, "done"))
    assert call_list_of(most).calls == ("Mail.list", "Mail.search", "Mail.delete")


def test_runs_that_write_nothing_or_do_very_much_give_no_list() -> None:
    much = [call(f"Mail.get_{number}") for number in range(9)]
    assert call_list_of(packet(run("A", True, SEARCH, "done"))) is None
    assert call_list_of(packet(run("A", True, *much, DELETE, "done"))) is None


def test_a_list_keeps_whose_request_it_was_for_and_not_in_words() -> None:
    runs = packet(run("A", True, SEARCH, DELETE, "done", task="Delete the newsletters"))
    kept = call_list_of(runs)
    assert kept.taught_by == tuple(sorted(runs.identity))
    assert term("newsletter") in terms_of(kept.request)
    assert "newsletter" not in kept.request


def test_lists_are_kept_by_the_write_that_they_end_in() -> None:
    lists = CallListsByWrite(
        [packet(run("A", True, SEARCH, DELETE, "done")), packet(run("A", True, SEARCH, SEND, "done"))]
    )
    assert [item.calls for item in lists.lists_for("Mail.delete")] == [("Mail.search", "Mail.delete")]
    assert lists.lists_for("Mail.search") == ()


def test_of_very_many_lists_those_stay_that_most_tasks_have_in_common() -> None:
    rare = packet(run("A", True, call("Mail.list"), DELETE, "done", task_id="rare"))
    common = [packet(run("A", True, SEARCH, DELETE, "done", task_id=f"task {number}")) for number in range(MAX_LISTS)]
    kept = CallListsByWrite([rare, *common]).lists_for("Mail.delete")
    assert len(kept) == MAX_LISTS
    assert {item.calls for item in kept} == {("Mail.search", "Mail.delete")}
