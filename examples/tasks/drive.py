"""Cars that will not start until every door is locked and the brake is fully down."""

from __future__ import annotations

from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, calls

DOORS = ("driver", "passenger", "rear_left", "rear_right")
START = (
    ("lockDoors", {"unlock": False, "door": list(DOORS)}),
    ("pressBrakePedal", {"pedalPosition": 1.0}),
    ("startEngine", {"ignitionMode": "START"}),
)


def car(*unlocked: str, **changes: Any) -> dict[str, Any]:
    doors = {door: "unlocked" if door in unlocked else "locked" for door in DOORS}
    world = {"fuelLevel": 24.0, "batteryVoltage": 12.4, "engineState": "stopped", "doorStatus": doors}
    return {"VehicleControlAPI": world | changes}


def example(
    name: str,
    turns: tuple[str, ...],
    world: dict[str, Any],
    truth: tuple[tuple[EnvironmentCall, ...], ...],
    *plans: Any,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"drive_{name}", turns, ("VehicleControlAPI",), "execution", "drive", world, truth)
    return Example(task, plans, held_out)


def lock_doors(agent: Careful) -> None:
    doors = agent.look(
        "displayCarStatus",
        option="doors",
        pick=lambda seen: [door for door, status in seen["doorStatus"].items() if status == "unlocked"],
        guess=["driver"],
        why="The engine only starts with every door locked, so I check which are open.",
    )
    agent.act("lockDoors", unlock=False, door=doors)


def press_brake(agent: Careful) -> None:
    position = agent.settle(1.0, careless=0.5, why="The brake has to be all the way down as well.")
    agent.act("pressBrakePedal", pedalPosition=position)


def start_engine(agent: Careful) -> bool:
    agent.need(lock_doors, cure="doors must be locked")
    agent.need(press_brake, cure="brake")
    return agent.act("startEngine", ignitionMode="START")


def start_with_lights(agent: Careful) -> str:
    start_engine(agent)
    agent.act("setHeadlights", mode="on")
    agent.check("displayCarStatus", option="engine")
    return "The engine is running and the headlights are on."


def fill_and_start(agent: Careful) -> str:
    level = agent.look(
        "displayCarStatus",
        option="fuel",
        pick=lambda seen: seen["fuelLevel"],
        guess=10.0,
        why="How much fits depends on what is in the tank.",
    )
    agent.act("fillFuelTank", fuelAmount=50.0 - level)
    start_engine(agent)
    return "The tank is full and the engine is running."


def lights_and_route(agent: Careful) -> str:
    agent.act("setHeadlights", mode="on")
    agent.act("set_navigation", destination="12 Linden Road, Oakendale, CA")
    agent.check("displayCarStatus", option="headlights")
    return "Lights are on and the route to 12 Linden Road is set."


def thirty_litres(agent: Careful) -> str:
    # Every agent falls for this: fillFuelTank counts in gallons, and nobody converts.
    agent.act("fillFuelTank", fuelAmount=30.0, why="Filling up what you asked for.")
    agent.check("displayCarStatus", option="fuel")
    return "I added 30 litres."


def just_start(agent: Careful) -> str:
    start_engine(agent)
    return "The engine is running."


def cruise(agent: Careful) -> str:
    agent.act("setCruiseControl", speed=65, activate=True, distanceToNextVehicle=40)
    return "Cruise control holds 65 with a gap of 40 metres."


def top_up_and_warm(agent: Careful) -> str:
    agent.act("fillFuelTank", fuelAmount=9.0)
    start_engine(agent)
    agent.act("adjustClimateControl", temperature=21.0, fanSpeed=30, mode="heat")
    agent.check("displayCarStatus", option="climate")
    return "Nine gallons added, engine on, cabin heating to 21 degrees."


EXAMPLES = (
    example(
        "lights_on",
        ("I'm leaving in a minute. Start the engine and switch the headlights on, please.",),
        car("driver", "rear_left"),
        (calls(*START, ("setHeadlights", {"mode": "on"})),),
        start_with_lights,
    ),
    example(
        "full_tank",
        ("Fill the tank right up to its 50 gallons and then start the car.",),
        car("passenger", "rear_right", fuelLevel=17.5),
        (calls(("fillFuelTank", {"fuelAmount": 32.5}), *START),),
        fill_and_start,
    ),
    example(
        "night_route",
        ("The engine is on already. Headlights on, and take me to 12 Linden Road, Oakendale, CA.",),
        car(engineState="running", brakePedalStatus="pressed", brakePedalForce=1000.0),
        (
            calls(
                ("setHeadlights", {"mode": "on"}), ("set_navigation", {"destination": "12 Linden Road, Oakendale, CA"})
            ),
        ),
        lights_and_route,
    ),
    example(
        "thirty_litres",
        ("Put 30 litres of fuel in the tank.",),
        car(fuelLevel=11.0),
        (calls(("fillFuelTank", {"fuelAmount": 30 * 0.264172})),),
        thirty_litres,
    ),
    example(
        "all_doors_open",
        ("Start the car for me.",),
        car(*DOORS, fuelLevel=31.0),
        (calls(*START),),
        just_start,
    ),
    example(
        "cruise_65",
        ("Start the engine, I have everyone on board.", "Now cruise control at 65 and keep 40 metres to the next car."),
        car("driver", "passenger", fuelLevel=41.0),
        (
            calls(*START),
            calls(("setCruiseControl", {"speed": 65, "activate": True, "distanceToNextVehicle": 40})),
        ),
        just_start,
        cruise,
        held_out=True,
    ),
    example(
        "cold_morning",
        ("Add 9 gallons, start the engine and heat the cabin to 21 degrees with the fan at 30.",),
        car("rear_left", "rear_right", fuelLevel=6.0),
        (
            calls(
                ("fillFuelTank", {"fuelAmount": 9.0}),
                *START,
                ("adjustClimateControl", {"temperature": 21.0, "fanSpeed": 30, "mode": "heat"}),
            ),
        ),
        top_up_and_warm,
        held_out=True,
    ),
)
