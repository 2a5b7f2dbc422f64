from tests.made_runs import call, packet, run

from contramem.bank.support import CardSupport
from contramem.build.call_lists import call_lists_of

SEARCH, DELETE, SEND = call("Mail.search"), call("Mail.delete"), call("Mail.send")


def test_a_list_is_what_a_passing_run_called_up_to_its_last_write() -> None:
    runs = packet(
        run("A", True, SEARCH, call("Mail.delete", error="no such mail"), SEARCH, DELETE, DELETE, SEARCH, "done"),
        run("B", False, DELETE, "done"),
    )
    assert call_lists_of(runs) == (("Mail.search", "Mail.delete"),)


def test_of_lists_that_end_in_the_same_write_the_shortest_is_kept() -> None:
    runs = packet(
        run("A", True, SEARCH, DELETE, "done"),
        run("B", True, call("Mail.list"), SEARCH, DELETE, "done"),
        run("C", True, SEARCH, SEND, "done"),
    )
    assert call_lists_of(runs) == (("Mail.search", "Mail.delete"), ("Mail.search", "Mail.send"))


def test_a_run_that_writes_nothing_or_does_very_much_gives_no_list() -> None:
    much = [call(f"Mail.get_{number}") for number in range(9)]
    runs = packet(run("A", True, SEARCH, "done"), run("B", True, *much, DELETE, "done"))
    assert call_lists_of(runs) == ()


def test_support_of_two_tasks_keeps_one_list_for_each_write() -> None:
    longer = CardSupport(call_lists=(("Mail.list", "Mail.search", "Mail.delete"),))
    both = longer + CardSupport(call_lists=(("Mail.search", "Mail.delete"), ("Mail.send",)))
    assert both.call_lists == (("Mail.search", "Mail.delete"), ("Mail.send",))
