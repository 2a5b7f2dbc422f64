"""The house rules. No documentation mentions them and no tool enforces them: only outcomes show them."""

from __future__ import annotations

from typing import NamedTuple


class HouseRule(NamedTuple):
    """One rule that runs are judged by."""

    id: str
    kind: str
    statement: str
    templates: str
    """The kinds of requests in which it decides something."""


RULES = (
    HouseRule("S01", "every item", "An order is released only after count_stock was called for every SKU on it.",
              "release_order release_customer"),
    HouseRule("S02", "when not to act", "An order of a customer with an overdue invoice is not released but assigned "
              "to 'credit-desk' (and only then).", "release_order release_customer"),
    HouseRule("S03", "order", "A credit note above 500 is preceded by hold_order of the invoice's order; smaller ones "
              "have no hold.", "refund_damaged overcharge"),
    HouseRule("S04", "companion call", "A credit note above 500 is followed by assign_owner(credit note, "
              "'finance-lead'); smaller ones are not assigned there.", "refund_damaged overcharge"),
    HouseRule("S05", "argument form", "Stock goes to warehouse B2 in lots of at most 40 per move_stock; to any other "
              "warehouse in one booking.", "move_stock replenish"),
    HouseRule("S06", "argument source", "Notices go to the customer's account_owner, never to the contact's address.",
              "complaint close_ticket delay_notice"),
    HouseRule("S07", "argument source", "A ticket's reason is exactly the code that lookup_code gives for the topic "
              "(late, damaged, short), no free text.", "complaint"),
    HouseRule("S08", "at most once", "One complaint is one ticket: open_ticket is called once, also when several "
              "orders are named.", "complaint"),
    HouseRule("S09", "order", "A ticket is closed only after send_notice.", "close_ticket"),
    HouseRule("S10", "choice of target", "Payments fill the customer's oldest unpaid invoice first, then the next, "
              "even if another one matches the amount.", "payment"),
    HouseRule("S11", "argument form", "post_payment takes the amount in whole cents.", "payment"),
    HouseRule("S12", "argument form", "create_order takes `due` as ISO week, 2025-W14, not as a date.", "new_order"),
    HouseRule("S13", "forbidden call", "No create_order when the customer has a held order: the lines are added to the "
              "held one.", "new_order"),
    HouseRule("S14", "forbidden call", "Orders of tier A customers are never held; they are assigned to 'key-desk' "
              "instead (other tiers: hold).", "stop_order"),
)  # fmt: skip

TEMPLATES = tuple(
    "release_order release_customer refund_damaged overcharge payment move_stock replenish complaint close_ticket "
    "new_order stop_order delay_notice".split()
)
