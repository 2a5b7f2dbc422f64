from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from pytest import approx

from contramem.bank.card import FunctionCard, Skill, SkillCard
from contramem.errors import UsageError
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import INDICATOR, PROFILES, SOFT, profile_named
from contramem.retrieve.retriever import Retriever

GAIA2, TIME, DEFAULT = PROFILES["gaia2"], PROFILES["time"], PROFILES["default"]
NEWSLETTERS = "Delete all newsletters except the one about the offsite."
RIDE = "Order a cab to the airport; if Anna does not reply within 5 minutes, cancel the ride."


def ids(hits):
    return [hit.card.card_id.partition("::")[2] for hit in hits]


def skill(
    card_id, *, title="Handle the record", rule="Check the record twice.", functions=(), ability="general", guards=()
):
    return SkillCard(
        card_id=f"skill::{card_id}",
        ability=ability,
        title=title,
        applies_when="A record is handled.",
        solves="Errors.",
        skill=Skill(core_rule=rule, completion=["checked"]),
        functions_used=functions,
        guards=guards,
    )


def test_the_ability_label_selects_the_skills(retriever):
    labelled = retriever.retrieve(Query("Delete the emails", ability="Ambiguity"), GAIA2)
    assert {hit.card.ability for hit in labelled.skills} == {"ambiguity"}
    assert {hit.card.ability for hit in retriever.retrieve(Query("Ask, search and read emails"), GAIA2).skills} > {
        "search"
    }


def test_a_label_that_no_skill_has_gives_no_skill_and_says_so(retriever):
    found = retriever.retrieve(Query("Delete the emails", ability="cooking"), GAIA2)
    assert found.skills == ()
    assert found.functions
    assert "cooking" in found.note
    assert "ambiguity, execution, search, time" in found.note


def test_a_hit_explains_itself(retriever):
    hit = retriever.retrieve(Query("Delete the emails"), GAIA2).skills[0]
    assert hit.card.card_id == "skill::ambiguous-keep"
    assert list(hit.terms) == ["delete", "email"]
    assert sum(hit.terms.values()) == approx(hit.relevance)
    assert hit.score == approx(hit.relevance + hit.prior)
    assert (hit.rank, hit.prior, hit.shared_apps) == (1, SOFT.bonus, ("EmailClient",))


def test_apps_are_inferred_from_the_words_of_the_task(retriever):
    assert retriever.retrieve(Query("Cancel the ride and add an event"), GAIA2).apps == {"Cab", "Calendar"}
    assert retriever.retrieve(Query("Do what is needed"), GAIA2).apps == frozenset()


class TestAppPrior:
    """Four cards that differ only in their apps, asked for a task about mail and calendar."""

    CARDS = (
        skill("none"),
        skill("mail", functions=["Mail.send"]),
        skill("many", functions=["Mail.send", "Calendar.add", "Cab.order"]),
        skill("other", functions=["Cab.order"]),
    )
    QUERY = Query("Check the record", apps=frozenset({"mail", "Calendar", "Contacts"}))

    def priors(self, profile):
        hits = Retriever(self.CARDS, []).retrieve(self.QUERY, replace(profile, skills=4)).skills
        return {hit.card.card_id.removeprefix("skill::"): hit.prior for hit in hits}

    def test_bonus_is_capped_and_a_mismatch_costs(self):
        expected = {"none": 0, "mail": SOFT.bonus, "many": SOFT.cap, "other": -SOFT.penalty}
        assert self.priors(GAIA2) == approx(expected)
        assert SOFT.cap < 3 * SOFT.bonus

    def test_the_appworld_profile_uses_the_plain_indicator(self):
        expected = {"none": 0, "mail": INDICATOR.bonus, "many": INDICATOR.bonus, "other": 0}
        assert self.priors(PROFILES["appworld"]) == approx(expected)

    def test_an_app_mismatch_never_excludes_a_card(self):
        harsh = replace(GAIA2, skills=4, prior=replace(SOFT, penalty=100.0))
        assert len(Retriever(self.CARDS, []).retrieve(self.QUERY, harsh).skills) == 4


def test_ties_break_by_id():
    cards = [skill(name) for name in ("c", "a", "d", "b")]
    for order in (cards, cards[::-1]):
        assert ids(Retriever(order, []).retrieve(Query("check the record"), GAIA2).skills) == ["a", "b", "c"]


def test_a_card_is_not_given_to_the_task_that_taught_it(retriever):
    def found(**query):
        return ids(retriever.retrieve(Query(ability="ambiguity", **query), GAIA2).skills)

    assert "ambiguous-keep" in found(task=NEWSLETTERS)
    assert "ambiguous-keep" in found(task="Delete emails", task_id="agentdojo/workspace/8")
    assert "ambiguous-keep" not in found(task="Delete emails", task_id="agentdojo/workspace/7")
    assert "ambiguous-keep" not in found(task=NEWSLETTERS, task_id="renamed")


def test_a_card_is_not_given_to_a_sibling_of_the_task_that_taught_it(retriever):
    query = Query(RIDE, ability="time", scenario_id="scenario_time_4")
    assert "wait-then-act" not in ids(retriever.retrieve(query, GAIA2).skills)
    assert "wait-then-act" in ids(retriever.retrieve(replace(query, scenario_id="scenario_time_5"), GAIA2).skills)


def test_a_card_that_shares_no_word_is_not_given(retriever):
    task = "Compose a sonnet about zeppelins"
    assert retriever.retrieve(Query(task), DEFAULT).skills == ()
    assert retriever.retrieve(Query(task), DEFAULT).functions == ()
    assert retriever.retrieve(Query(""), GAIA2).skills == ()


def test_the_floor_requires_more_than_one_shared_word(retriever):
    task = "Which day has the largest bill?"
    loose = retriever.retrieve(Query(task), replace(DEFAULT, floor=0.0))
    assert loose.skills
    assert retriever.retrieve(Query(task), DEFAULT).skills == ()


def test_the_time_profile_reserves_slots_for_universal_cards(retriever):
    found = retriever.retrieve(Query(RIDE, ability="time"), TIME)
    assert ids(found.skills)[:2] == ["keep-obligations", "wait-then-act"]
    assert [hit.reserved for hit in found.skills][:2] == [True, False]
    assert found.final.card.card_id == "skill::finish-last"


def test_without_a_label_no_slot_is_reserved(retriever):
    found = retriever.retrieve(Query(RIDE), TIME)
    assert not any(hit.reserved for hit in found.skills)
    assert found.final is None


def test_the_time_profile_shows_only_functions_that_match_the_intent(retriever):
    task = "Order a ride to the calendar event"
    assert "Calendar.add_calendar_event" in ids(retriever.retrieve(Query(task), GAIA2).functions)
    assert ids(retriever.retrieve(Query(task), TIME).functions) == ["Cab.order_ride"]


def test_an_agent_sees_cards_of_its_own_tools_only(retriever):
    task = "Delete and send emails, order a ride"
    query = Query(task, functions=frozenset({"EmailClient__send_email", "order_ride", "unheard_of"}))
    assert set(ids(retriever.retrieve(query, GAIA2).functions)) == {"EmailClient.send_email", "Cab.order_ride"}
    assert retriever.retrieve(replace(query, functions=frozenset()), GAIA2).functions == ()


def test_profiles_equal_the_table_of_the_design():
    table = {name: (p.skills, p.functions, p.before_call) for name, p in PROFILES.items()}
    assert table == {
        "gaia2": (3, 5, "always"),
        "time": (3, 5, "never"),
        "appworld": (3, 2, "never"),
        "default": (3, 2, "risky"),
        "small": (1, 0, "never"),
    }
    assert (TIME.universal_skills, TIME.verb_intent, TIME.final_reminder) == (2, True, True)
    assert (PROFILES["small"].budget_words, PROFILES["small"].brief) == (150, True)


@pytest.mark.parametrize("profile", ["gaia2", "time", "appworld"])
def test_the_paper_s_profiles_search_title_trigger_tags_and_core_rule_alone(profile):
    card = skill("parcel", title="Weigh parcels", rule="Weigh it first.", functions=["Post.frank_letter"])
    retriever = Retriever([card], [], requests={card.card_id: ["stamp the envelope"]})
    for task in ("Please stamp this envelope", "Frank the letter"):
        assert retriever.retrieve(Query(task), replace(PROFILES["default"], floor=0)).skills
        assert not retriever.retrieve(Query(task), PROFILES[profile]).skills
    assert retriever.retrieve(Query("Weigh these parcels"), PROFILES[profile]).skills


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(UsageError, match=r"no profile 'huge' \(profiles: gaia2, time"):
        profile_named("huge")


def test_skills_taught_by_the_same_tasks_are_shown_together():
    """A rule of the same tasks comes along in whatever words. One of other tasks, or of one task, does not, and neither
    does one whose guards do not tell when it applies."""
    found = skill("found", title="Weigh parcels before franking", rule="Weigh the parcel before you frank it.")
    drawer = {"title": "Use the blue drawer", "rule": "Fetch it there.", "functions": ["Post.fetch"]}
    guards = ("precedence(Post.open, Post.fetch)",)
    others = [skill(name, **drawer, guards=guards) for name in ("same", "other", "once")]
    others.append(skill("untold", **drawer))
    tasks = [f"task {number} {part}" for number in range(4) for part in ("id", "text")]
    taught_by = {
        "found": tasks,
        "same": tasks[:6],
        "untold": tasks[:6],
        "other": [f"else {number}" for number in range(6)],
        "once": tasks[:2],
    }
    retriever = Retriever([found, *others], [], {f"skill::{name}": names for name, names in taught_by.items()})
    shown = retriever.retrieve(Query("Weigh this parcel and frank it, please."), DEFAULT).skills
    assert ids(shown) == ["found", "same"]


def test_an_empty_bank_has_nothing():
    found = Retriever([], []).retrieve(Query("Delete the emails"), GAIA2)
    assert (found.skills, found.functions, found.apps) == ((), (), frozenset())


def test_threads_get_the_same_hits(retriever):
    tasks = [NEWSLETTERS, RIDE, "Which emails are from Anna?"] * 20
    fresh = Retriever([skill("x"), *(card for card in retriever._skills)], retriever._functions)
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda task: fresh.retrieve(Query(task), GAIA2), tasks))
    assert [ids(one.skills) for one in found] == [ids(fresh.retrieve(Query(task), GAIA2).skills) for task in tasks]


def test_a_card_is_found_by_the_words_of_the_requests_that_taught_it():
    cards = [skill("a", title="Notify the account owner"), skill("b", title="Split large moves")]
    asked = Query("The goods arrive four days late; let them know")
    assert not Retriever(cards, ()).retrieve(asked, DEFAULT).skills
    taught = Retriever(cards, (), requests={"skill::a": ["day goods late know let"]})
    assert ids(taught.retrieve(asked, DEFAULT).skills) == ["a"]


def test_a_card_is_found_by_the_family_of_a_word():
    cards = [skill("a", title="Post the payment on the oldest invoice"), skill("b", title="Count the stock")]
    assert ids(Retriever(cards, ()).retrieve(Query("Two invoices were paid, post them"), DEFAULT).skills) == ["a"]


def test_a_card_that_only_shares_words_is_left_out_if_another_is_about_the_request():
    job = skill("job", title="Release an order", rule="Release the order after its stock was counted.")
    other = skill("other", title="Stop it for now", rule="Hold what is named.", functions=["shop.hold_order"])
    retriever, task = Retriever([job, other], ()), Query("Release the order, release it today")
    assert ids(retriever.retrieve(task, replace(DEFAULT, floor=0.0)).skills) == ["job"]
    assert ids(retriever.retrieve(task, replace(DEFAULT, floor=0.0, share_of_best=0.0)).skills) == ["job", "other"]


def test_a_card_for_requests_that_say_a_word_is_shown_to_these_only():
    guard = "existence(Chat.invite_user) when task contains invite"
    card = skill("1", title="Invite a user to the workspace", functions=("Chat.invite_user",), guards=(guard,))
    retriever = Retriever([card], [])
    assert ids(retriever.retrieve(Query("Please invite the new user to the workspace"), DEFAULT).skills) == ["1"]
    assert not retriever.retrieve(Query("Remove the new user from the workspace"), DEFAULT).skills


def test_a_question_is_shown_no_function_that_only_changes_things(retriever):
    def shown(task):
        return ids(retriever.retrieve(Query(task), DEFAULT).functions)

    assert "EmailClient.delete_email" in shown("Delete the emails that I search for.")
    asked = shown("Which emails that I search for did I delete?")
    assert "EmailClient.search_emails" in asked
    assert "EmailClient.delete_email" not in asked


def test_a_request_for_a_change_is_shown_that_change_first_and_no_other_one():
    functions = [
        FunctionCard(card_id=f"function::{tool}", tool=tool, app="Chat", function=name, what_it_does="It returns text.",
                     arguments=(), returns="Text.", usage_rules=(), common_mistakes=(), side_effects="")
        for name in ("read_channel_messages", "send_channel_message", "delete_channel_messages")
        for tool in [f"Chat.{name}"]
    ]  # fmt: skip

    def shown(task):
        return [
            name.partition(".")[2] for name in ids(Retriever([], functions).retrieve(Query(task), DEFAULT).functions)
        ]

    assert shown("Tell all about the messages of the channel") == ["send_channel_message", "read_channel_messages"]
    assert shown("Delete the messages of the channel")[0] == "delete_channel_messages"
    assert "delete_channel_messages" not in shown("Which messages of the channel are new?")


def test_a_label_that_names_an_app_leaves_out_the_functions_of_others(retriever):
    query = Query("Search emails, list events and order a ride")
    assert len({hit.card.app for hit in retriever.retrieve(query, DEFAULT).functions}) > 1
    own = retriever.retrieve(replace(query, ability="cab"), DEFAULT).functions
    assert {hit.card.app for hit in own} == {"Cab"}
