import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.bank.card import FunctionCard, Skill, SkillCard
from contramem.counting import _load_counter, count_tokens
from contramem.inject.guidance import CardText, Size, fit, text_of

lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=40)


def card_text(name, *costs, essential=2):
    upto = [Size(0, 0)]
    for cost in costs:
        upto.append(upto[-1] + Size(cost, cost))
    return CardText(name, tuple(f"{name}{n}" for n in range(len(costs))), tuple(upto), essential)


def skill(**fields):
    skill = Skill(core_rule=fields.pop("rule", "Ask first."), completion=fields.pop("done", ["It was asked."]))
    defaults = {"title": "Ask first", "applies_when": "Something is open.", "solves": "Guesses."}
    return SkillCard(card_id="skill::x", ability="a", skill=skill, **(defaults | fields))


def test_everything_stays_when_it_fits():
    assert fit([card_text("a", 10, 10, 10), card_text("b", 10, 10)], Size(50, 50)) == [3, 2]


def test_the_least_important_field_of_the_last_card_goes_first():
    cards = [card_text("a", 10, 10, 10, 10), card_text("b", 10, 10, 10, 10)]
    assert fit(cards, Size(70, 70)) == [4, 3]
    assert fit(cards, Size(60, 60)) == [3, 3]
    assert fit(cards, Size(50, 50)) == [3, 2]


def test_a_card_with_nothing_but_the_essential_left_goes_as_a_whole():
    cards = [card_text("a", 10, 10), card_text("b", 10, 10)]
    assert fit(cards, Size(39, 39)) == [2, 0]
    assert fit(cards, Size(19, 19)) == [0, 0]
    assert fit(cards, Size(-5, 39)) == [0, 0]


def test_words_are_a_limit_of_their_own():
    assert fit([card_text("a", 10, 10, 10)], Size(1000, 25)) == [2]


@given(st.lists(st.lists(st.integers(1, 50), min_size=2, max_size=8), max_size=6), st.integers(-10, 400))
def test_what_is_kept_fits_and_is_whole_fields(costs, limit):
    cards = [card_text(str(n), *cost) for n, cost in enumerate(costs)]
    kept = fit(cards, Size(limit, limit))
    assert sum(sum(cost[:count]) for cost, count in zip(costs, kept, strict=True)) <= max(limit, 0)
    assert all(count == 0 or count >= 2 for count in kept)


@given(st.lists(st.lists(lines, min_size=1, max_size=3), min_size=1, max_size=5))
def test_counting_by_paragraphs_is_exact(paragraphs):
    text = "\n\n".join("\n".join(paragraph) for paragraph in paragraphs)
    assert count_tokens(text) == _load_counter()(text)


@given(st.lists(lines, min_size=3, max_size=3))
def test_a_card_costs_at_most_the_sum_of_its_lines(texts):
    title, applies_when, rule = (" ".join(f"a {text}".split()) for text in texts)
    text = text_of(skill(title=f"{title} b", applies_when=applies_when, rule=rule))
    assert count_tokens("\n" + "\n".join(text.lines)) <= text.upto[-1].tokens


def test_a_huge_text_is_counted_too():
    assert count_tokens("word " * 300_000) >= 300_000


@pytest.mark.parametrize(
    "nasty", ["line\nbreak", "tab\tand\x00null\x1b[31m", "a\u2028b", "a\r\n### Fake heading", "\u202eevil"]
)
def test_a_field_stays_one_visible_line(nasty):
    text = text_of(skill(title=f"T {nasty}", applies_when=nasty, rule=nasty, done=[nasty, "second."]))
    assert [line.partition(" ")[0] for line in text.lines] == ["###", "Applies", "Rule:", "Done"]
    assert all(line.isprintable() for line in text.lines)
    assert text.lines[3].endswith("; second")


def test_markup_is_shown_as_it_is():
    text = text_of(skill(rule="Use <b> & {{ braces }} {% raw %} <|endoftext|>."))
    assert text.lines[2] == "Rule: Use <b> & {{ braces }} {% raw %} <|endoftext|>."


def test_a_rule_that_is_its_own_completion_is_not_told_twice():
    text = text_of(skill(rule="Give it in cents.", done=["Give it in cents."]))
    assert [line.partition(" ")[0] for line in text.lines] == ["###", "Applies", "Rule:"]


def test_a_bare_function_card_has_no_empty_fields():
    card = FunctionCard(
        card_id="function::A.f", tool="A.f", app="A", function="f", what_it_does="Does it.", returns="Nothing."
    )
    assert text_of(card).lines == ("### A.f", "Does: Does it.", "Returns: Nothing.")


@pytest.mark.parametrize(
    ("done", "is_told"),
    [("`pay` is called with cents if the unit is open.", False), ("The customer has a receipt.", True)],
)
def test_a_completion_is_told_only_where_it_says_more_than_the_rule(done, is_told):
    card = skill(rule="Call `pay` with cents if the unit is open.", done=[done])
    assert any(line.startswith("Done when") for line in text_of(card, lean=True).lines) == is_told
    assert text_of(card).lines[3].startswith("Done when"), "as in the paper"


def test_a_title_that_was_cut_is_never_shown_where_the_paper_does_not_ask_for_it():
    card = skill(title="Call pay with the lowest of those whose state is …", functions_used=("Shop.pay", "Shop.find"))
    assert text_of(card, lean=True).lines[0] == "### About `pay`"
    assert text_of(card).lines[0].endswith("…")
