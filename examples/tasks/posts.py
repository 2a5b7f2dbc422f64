"""Posts that need a sign-in, an id that was really looked up, and exactly one go."""

from __future__ import annotations

from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall
from tasks.example import Example, Plan, calls

USER, PASSWORD = "mirelake", "oat-and-honey"
SIGN_IN = ("authenticate_twitter", {"username": USER, "password": PASSWORD})
SIGNATURE = f"My login is {USER}, password {PASSWORD}."


def post(number: int, by: str, content: str, *tags: str) -> dict[str, Any]:
    return {"id": number, "username": by, "content": content, "tags": list(tags), "mentions": []}


def feed(*posts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    world = {
        "username": USER,
        "password": PASSWORD,
        "authenticated": False,
        "tweets": {str(entry["id"]): entry for entry in posts},
        "tweet_counter": max(entry["id"] for entry in posts) + 1,
        "comments": {},
        "retweets": {},
        "following_list": ["hillwalks", "old_signs"],
    }
    return {"TwitterAPI": world | changes}


def example(
    name: str,
    text: str,
    world: dict[str, Any],
    truth: tuple[EnvironmentCall, ...],
    plan: Plan,
    *,
    held_out: bool = False,
) -> Example:
    task = BfclTask(f"posts_{name}", (text,), ("TwitterAPI",), "execution", "posts", world, (truth,))
    return Example(task, (plan,), held_out)


def sign_in(agent: Careful) -> bool:
    return agent.act(
        "authenticate_twitter", username=USER, password=PASSWORD, why="Writing needs a signed-in user, so that first."
    )


def announce_cleanup(agent: Careful) -> str:
    agent.need(sign_in, cure="authenticate")
    tags = agent.settle(["#parks", "#volunteers"], careless=["parks", "volunteers"])
    agent.act("post_tweet", content="Trail cleanup on Saturday at nine.", tags=tags, mentions=["@hillwalks"])
    return "Your post about the cleanup is out."


def share_bakery(agent: Careful) -> str:
    agent.need(sign_in, cure="authenticate")
    number = agent.look(
        "search_tweets",
        keyword="bakery",
        pick=lambda seen: seen[0]["id"],
        guess=1,
        why="I need the id of that post.",
    )
    agent.act("retweet", tweet_id=number)
    agent.act("comment", tweet_id=number, comment_content="Worth the queue.")
    agent.check("get_tweet_comments", tweet_id=number)
    return "I shared the bakery post and left your comment."


def follow_three(agent: Careful) -> str:
    agent.need(sign_in, cure="authenticate")
    for name in agent.each(("kiln_notes", "slow_ferries", "moss_daily")):
        agent.act("follow_user", username_to_follow=name)
    agent.check("list_all_following")
    return "You follow kiln_notes, slow_ferries and moss_daily now."


def two_posts(agent: Careful) -> str:
    agent.need(sign_in, cure="authenticate")
    for content in agent.each(("Ferry 7 is late today.", "Ferry 9 is on time.")):
        agent.act("post_tweet", content=content, tags=agent.settle(["#ferry"], careless=["ferry"]))
    return "Both ferry updates are posted."


def share_known(agent: Careful) -> str:
    agent.act("retweet", tweet_id=58)
    agent.check("get_user_stats", username=USER)
    return "Post 58 is shared."


EXAMPLES = (
    example(
        "cleanup",
        "Post 'Trail cleanup on Saturday at nine.' with the tags parks and volunteers, mentioning @hillwalks. "
        + SIGNATURE,
        feed(post(20, USER, "New boots!", "#walks")),
        calls(
            SIGN_IN,
            (
                "post_tweet",
                {
                    "content": "Trail cleanup on Saturday at nine.",
                    "tags": ["#parks", "#volunteers"],
                    "mentions": ["@hillwalks"],
                },
            ),
        ),
        announce_cleanup,
    ),
    example(
        "bakery",
        "Share the post about the new bakery and comment 'Worth the queue.' on it. " + SIGNATURE,
        feed(
            post(31, "corner_crumb", "Our bakery opens at six.", "#bread"),
            post(33, "old_signs", "A sign from 1911.", "#signs"),
            post(1, "hillwalks", "Fog all morning.", "#walks"),
        ),
        calls(
            SIGN_IN, ("retweet", {"tweet_id": 31}), ("comment", {"tweet_id": 31, "comment_content": "Worth the queue."})
        ),
        share_bakery,
    ),
    example(
        "follow_three",
        "Follow kiln_notes, slow_ferries and moss_daily for me. " + SIGNATURE,
        feed(post(2, "hillwalks", "Rain.", "#walks")),
        calls(
            SIGN_IN,
            ("follow_user", {"username_to_follow": "kiln_notes"}),
            ("follow_user", {"username_to_follow": "slow_ferries"}),
            ("follow_user", {"username_to_follow": "moss_daily"}),
        ),
        follow_three,
    ),
    example(
        "share_58",
        "I'm signed in already. Please share post 58.",
        feed(post(58, "old_signs", "Enamel, 1920s.", "#signs"), authenticated=True),
        calls(("retweet", {"tweet_id": 58})),
        share_known,
    ),
    example(
        "ferries",
        "Two posts, each tagged ferry: 'Ferry 7 is late today.' and 'Ferry 9 is on time.' " + SIGNATURE,
        feed(post(77, USER, "Ferry 7 runs hourly.", "#ferry")),
        calls(
            SIGN_IN,
            ("post_tweet", {"content": "Ferry 7 is late today.", "tags": ["#ferry"]}),
            ("post_tweet", {"content": "Ferry 9 is on time.", "tags": ["#ferry"]}),
        ),
        two_posts,
        held_out=True,
    ),
)
