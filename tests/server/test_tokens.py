"""Tokens of a server that runs: added, listed and revoked by the commands that a user runs."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener, urlopen

import pytest
from click.testing import CliRunner, Result
from tests.server.live import LiveServer, serving

from contramem.cli import cli


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.jsonl"


@pytest.fixture
def live(bank: Path, tmp_path: Path, file: Path) -> Iterator[LiveServer]:
    with serving(str(bank), "--tokens", str(file), cwd=tmp_path) as server:
        yield server


def token(command: str, *words: str, file: Path) -> Result:
    return CliRunner().invoke(cli, ["serve", "token", command, *words, "--tokens", str(file)])


def add(file: Path, name: str, *options: str) -> str:
    return token("add", name, *options, file=file).stdout.strip()


def status(server: LiveServer, secret: str) -> int:
    request = Request(f"{server.url}/api/v1/default/cards", headers={"authorization": f"Bearer {secret}"})
    try:
        with urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def log_in(server: LiveServer, secret: str) -> OpenerDirector:
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    browser.open(f"{server.url}/login", urlencode({"token": secret}).encode()).close()
    return browser


def page(server: LiveServer, browser: OpenerDirector) -> str:
    with browser.open(Request(f"{server.url}/default/cards", headers={"accept": "text/html"})) as answer:
        return str(answer.url)


@pytest.mark.slow
def test_a_revoked_a_replaced_and_a_new_token_count_at_once(live: LiveServer, file: Path) -> None:
    assert status(live, "ctm_none") == 401
    first = add(file, "ci")
    assert status(live, first) == 200
    second = add(file, "ci")  # of the same name: the first is replaced
    assert (status(live, first), status(live, second)) == (401, 200)
    assert token("revoke", "ci", file=file).exit_code == 0
    assert status(live, second) == 401


@pytest.mark.slow
def test_a_session_in_a_browser_ends_with_its_token(live: LiveServer, file: Path) -> None:
    browser = log_in(live, add(file, "ada"))
    add(file, "bob")
    assert page(live, browser).endswith("/default/cards")
    token("revoke", "ada", file=file)
    assert page(live, browser).endswith("/login")


@pytest.mark.slow
def test_while_the_file_of_tokens_is_damaged_nobody_is_let_in(live: LiveServer, file: Path) -> None:
    secret = add(file, "ci")
    whole = file.read_bytes()
    file.write_bytes(whole[:20])
    assert status(live, secret) == 401
    file.write_bytes(whole)
    assert status(live, secret) == 200
    live.stop()
    assert "nobody is let in" in live.log and secret not in live.log


def test_the_list_names_tokens_with_scopes_and_project_and_no_secret(file: Path) -> None:
    secret = add(file, "ci", "--scopes", "guide,record", "--only-project", "support")
    add(file, "ada")
    listed = token("list", file=file)
    assert listed.stdout.splitlines() == ["ci: guide, record in support", "ada: read in every project"]
    assert json.loads(token("list", "--json", file=file).stdout)[1] == {
        "name": "ada",
        "scopes": ["read"],
        "project": None,
    }
    assert secret not in listed.output


def test_revoking_a_token_that_is_not_there_names_those_that_are(file: Path) -> None:
    add(file, "ci")
    refused = token("revoke", "cj", file=file)
    assert refused.exit_code == 1 and "no token 'cj'. It has: ci." in str(refused.exception)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        pytest.param(["--host", "0.0.0.0"], "--host 0.0.0.0 lets other machines in", id="host"),
        pytest.param(
            ["--allow-host", "memory.example.org"], "lets other machines in, so it needs --tokens", id="proxy"
        ),
        pytest.param(["--allow-host", "m.example.org", "--show-values"], "needs --tokens", id="proxy-with-values"),
        pytest.param(
            ["--allow-host", "m.example.org", "--show-values", "--tokens", "tokens.jsonl"],
            "excludes --allow-host m.example.org",
            id="values-for-others",
        ),
    ],
)
def test_a_server_that_others_can_reach_needs_tokens_and_shows_no_values(
    bank: Path, options: list[str], complaint: str
) -> None:
    refused = CliRunner().invoke(cli, ["serve", "--bank", str(bank), *options])
    assert refused.exit_code == 1 and complaint in str(refused.exception)
