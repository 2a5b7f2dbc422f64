"""What a function changes, and what the same call does a second time."""

import pytest
from tests.observed_calls import call, card_of

from contramem.contrast.form import ResultForm
from contramem.contrast.observation import ResultUse


def toggles(*states, run="A", task="t1"):
    shown = {"function": "Phone.toggle_data", "form": ResultForm("text")}
    return [
        call(task=task, run=run, position=n, returned=f"Data is now {state}.", **shown)
        for n, state in enumerate(states)
    ]


def test_a_word_for_an_effect_fits_what_the_function_does_and_takes():
    def effect(name, **other):
        feeds = (ResultUse(name, "Net.report", "id"),)
        calls = [call(function=name, task=f"t{n}", run=f"{n}", feeds=feeds, **other) for n in range(4)]
        return card_of(*calls, function=name).side_effects

    assert effect("Net.run_speed_test") == ""
    assert effect("Net.reset_settings") == "Resets the settings. Destructive."
    assert effect("Bank.make_payment") == "Makes the payment. Irreversible."
    assert effect("Net.disable_lock", arguments={"id": "<ID_1>"}) == "Disables the lock: changes stored state."


@pytest.mark.parametrize(
    ("name", "second", "told"),
    [
        pytest.param(
            "send_email", {}, "A repeat is not refused: the same call was accepted again in 2 runs.", id="accepted"
        ),
        pytest.param("set_flag", {}, "Sets the flag: changes stored state.", id="idempotent"),
        pytest.param(
            "send_email",
            {"error": "Error: already sent"},
            'The same call a second time was refused in 2 runs ("Error: already sent").',
            id="refused",
        ),
    ],
)
def test_what_a_repeated_write_does_is_told(name, second, told):
    calls = [
        observation
        for run in "ABC"
        for observation in (
            call({"id": f"<ID_{run}>"}, run=run, origins={"id": "Mail.search"}),
            call({"id": "<ID_A>" if run == "C" else f"<ID_{run}>"}, run=run, position=1, **second),
        )
    ]
    assert card_of(*calls, function=f"Mail.{name}").side_effects.endswith(told)


def test_a_toggle_is_seen_by_the_states_it_leaves():
    calls = [*toggles("ON", "OFF", "ON"), *toggles("OFF", "ON", run="B"), *toggles("ON", run="C")]
    assert card_of(*calls, function="Phone.toggle_data").side_effects == (
        'Toggles the data: changes stored state. It flips the state it finds: the same call ended with "on" in 4 and '
        '"off" in 2 calls. A repeat undid the first call in 3 of 3 repeats. Look up the state before the call.'
    )


def test_what_is_only_called_a_toggle_is_a_caution_from_its_name():
    calls = [call({"id": "<ID_1>"}, run=run, origins={"id": "Home.list"}, function="Home.toggle_lamp") for run in "ABC"]
    assert card_of(*calls, function="Home.toggle_lamp").side_effects.endswith(
        "By its name it flips a state: a second call may undo the first."
    )
