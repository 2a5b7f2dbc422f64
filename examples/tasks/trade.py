"""Orders that need a sign-in, the real symbol and today's price, or the id that only the order history knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls

USER, PASSWORD = "r.okafor", "walnut-desk"
SIGN_IN = ("trading_login", {"username": USER, "password": PASSWORD})
SIGNATURE = f"Log in as {USER} with password {PASSWORD}."


def order(number: int, kind: str, symbol: str, price: float, amount: int, status: str) -> dict[str, Any]:
    words = {"id": number, "order_type": kind, "symbol": symbol, "price": price, "amount": amount}
    return words | {"status": status}


def quote(price: float, change: float) -> dict[str, float]:
    return {"price": price, "percent_change": change, "volume": 1.2, "MA(5)": price - 0.4, "MA(20)": price - 1.1}


def market(*orders: dict[str, Any], **changes: Any) -> dict[str, Any]:
    world = {
        "orders": {str(entry["id"]): entry for entry in orders},
        "account_info": {"account_id": 6021, "balance": 8000.0, "binding_card": 5551},
        "authenticated": False,
        "market_status": "Open",
        "order_counter": max((entry["id"] for entry in orders), default=700) + 1,
        "stocks": {
            "QUAS": quote(61.5, 0.4),
            "NEPT": quote(102.25, -1.3),
            "SYNX": quote(18.75, 0.0),
            "OMEG": quote(240.0, 2.1),
            "ZETA": quote(7.2, -0.2),
            "ALPH": quote(133.0, 0.9),
        },
        "watch_list": ["OMEG"],
        "transaction_history": [],
    }
    return {"TradingBot": world | changes}


def example(
    name: str,
    text: str,
    world: dict[str, Any],
    truth: tuple[EnvironmentCall, ...],
    plan: Plan,
    *,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"trade_{name}", (text,), ("TradingBot",), "search", "trade", world, (truth,))
    return Example(task, (plan,), held_out)


def sign_in(agent: Careful) -> bool:
    return agent.act("trading_login", username=USER, password=PASSWORD, why="Orders need a signed-in account.")


def at_market(kind: str, company: str, amount: int, wrong_symbol: str, wrong_price: float) -> Plan:
    def plan(agent: Careful) -> str:
        agent.need(sign_in, cure="log in")
        symbol = agent.look(
            "get_symbol_by_name",
            name=company,
            pick=lambda seen: seen["symbol"],
            guess=wrong_symbol,
            why="A company name is not a symbol.",
        )
        price = agent.look(
            "get_stock_info",
            symbol=symbol,
            pick=lambda seen: seen["price"],
            guess=wrong_price,
            why="And I need today's price.",
        )
        agent.act("place_order", order_type=kind, symbol=symbol, price=price, amount=amount)
        return f"Your order for {amount} shares of {company} is placed at {price}."

    return plan


def orders_where(agent: Careful, wanted: Callable[[dict[str, Any]], bool], guess: list[int]) -> list[int]:
    """Ids of the orders that `wanted` accepts, read one by one."""
    numbers: list[int] = agent.look(
        "get_order_history",
        pick=lambda seen: seen["history"],
        guess=guess,
        why="Order ids are in the history; I check each order before cancelling.",
    )
    if numbers is guess:
        return guess
    found = []
    for number in numbers:
        if agent.look("get_order_details", order_id=number, pick=wanted):
            found.append(number)
    return found


def cancel(company: str, wanted: Callable[[dict[str, Any]], bool], guess: list[int]) -> Plan:
    def plan(agent: Careful) -> str:
        agent.need(sign_in, cure="log in")
        for number in agent.each(orders_where(agent, wanted, guess)):
            agent.act("cancel_order", order_id=number)
        agent.check("get_order_history")
        return f"Cancelled: {company}."

    return plan


def watch_two(agent: Careful) -> str:
    agent.act("add_to_watchlist", stock="ALPH")
    agent.act("add_to_watchlist", stock="ZETA")
    price = agent.look("get_stock_info", symbol="ALPH", pick=lambda seen: seen["price"])
    return f"Both are on your watchlist. ALPH stands at {price}."


EXAMPLES = (
    example(
        "buy_quasar",
        f"Buy 20 shares of Quasar Ltd. at the current price. {SIGNATURE}",
        market(order(811, "Buy", "ZETA", 7.0, 50, "Completed")),
        calls(SIGN_IN, ("place_order", {"order_type": "Buy", "symbol": "QUAS", "price": 61.5, "amount": 20})),
        at_market("Buy", "Quasar Ltd.", 20, "QSR", 60.0),
    ),
    example(
        "cancel_neptune",
        f"Cancel my open order for Neptune Systems (NEPT). {SIGNATURE}",
        market(
            order(402, "Buy", "NEPT", 99.0, 10, "Completed"),
            order(409, "Sell", "OMEG", 250.0, 3, "Open"),
            order(417, "Buy", "NEPT", 100.5, 12, "Open"),
        ),
        calls(SIGN_IN, ("cancel_order", {"order_id": 417})),
        cancel(
            "your open Neptune order", lambda seen: seen["symbol"] == "NEPT" and seen["status"] == "Open", guess=[402]
        ),
    ),
    example(
        "watchlist",
        "Put ALPH and ZETA on my watchlist and tell me what ALPH costs right now.",
        market(),
        calls(
            ("add_to_watchlist", {"stock": "ALPH"}),
            ("add_to_watchlist", {"stock": "ZETA"}),
            ("get_stock_info", {"symbol": "ALPH"}),
        ),
        watch_two,
    ),
    example(
        "cancel_all_open",
        f"Cancel every order of mine that is still open. {SIGNATURE}",
        market(
            order(520, "Buy", "SYNX", 18.0, 40, "Open"),
            order(521, "Buy", "ALPH", 130.0, 2, "Completed"),
            order(525, "Sell", "ZETA", 7.9, 100, "Open"),
            order(526, "Sell", "QUAS", 66.0, 5, "Open"),
        ),
        calls(
            SIGN_IN,
            ("cancel_order", {"order_id": 520}),
            ("cancel_order", {"order_id": 525}),
            ("cancel_order", {"order_id": 526}),
        ),
        cancel("all open orders", lambda seen: seen["status"] == "Open", guess=[520, 521]),
        held_out=True,
    ),
    example(
        "sell_synex",
        f"Sell 60 shares of Synex Solutions at today's price. {SIGNATURE}",
        market(order(930, "Buy", "SYNX", 15.0, 60, "Completed")),
        calls(SIGN_IN, ("place_order", {"order_type": "Sell", "symbol": "SYNX", "price": 18.75, "amount": 60})),
        at_market("Sell", "Synex Solutions", 60, "SYNX", 20.0),
        held_out=True,
    ),
)
