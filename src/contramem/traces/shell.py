"""Shell commands as functions: `Bash(command="cd app && pytest -q")` is a call of `shell.pytest`.

An agent that works in a terminal has one tool for everything. By the tool's name all its runs look alike; by the
program they run they differ. Harnesses also name the tool differently (Bash, execute_bash, exec_command), and the
program is the same in all of them, so runs of one task in two harnesses can be compared.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from contramem.traces.effects import effect_of
from contramem.traces.effects import words as name_words
from contramem.traces.trajectory import Effect

APP = "shell"

_TOOLS = frozenset(
    """bash shell sh zsh terminal execute_bash bash_command run_bash run_command run_shell run_shell_command
    shell_command execute_command exec_command local_shell run_terminal_cmd run_in_terminal""".split()
)
_ARGUMENTS = ("command", "cmd", "input")

# Before the program that a command line is about: where it runs, with which variables, for how long.
_PREPARES = frozenset(
    "cd pushd popd export set unset source . true : echo printf sleep mkdir for case [ [[ test".split()
)
_WRAPS = frozenset("sudo env time timeout nice nohup xvfb-run stdbuf command exec".split())
_KEYWORDS = frozenset("if then elif else fi while until do done { } !".split())
_RUNS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("pnpm", "exec")}
_RUNNERS = frozenset("npx bunx uvx pipx".split())
# Programs that are many programs: what they do stands in their next word.
_MANY = frozenset(
    """git gh docker docker-compose podman kubectl helm terraform npm yarn pnpm bun cargo go pip pip3 uv poetry conda
    apt apt-get brew dnf yum systemctl make just gradle gradlew mvn dotnet rails manage.py aws gcloud az""".split()
)
_READS = frozenset(
    """pytest unittest tox nox mypy pyright flake8 pylint eslint tsc jest vitest mocha phpunit rspec ctest rg which file
    jq tree less more xxd sed awk perl echo printf""".split()
)
"""Programs whose names hold no verb. What they print is why they are run."""
_TAKES_A_VALUE = frozenset("-C -c -n -f --context --namespace --prefix --project".split())
"""Options before a subcommand whose next word is theirs: `git -C folder commit`."""
_TESTING = frozenset("test tests check lint typecheck spec".split())
_SEPARATORS = frozenset(("&&", "||", "|", "|&", ";", "&", ";;", "\n", "(", ")"))
_FALSE_IS_NO_FAILURE = frozenset("grep rg diff test cmp pgrep".split())
_WORD = re.compile(r"[A-Za-z][\w.:-]*")
_NAME = re.compile(r"(?!.*--)[A-Za-z](?:[\w.-]*[\w-])?")
"""Of a program. One with a colon or an option in it (`Password:hazel`, `enc--pass-hazel`) would say more than that, and
`cd..` is a slip."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_EXIT = re.compile(r"(?:exit(?:ed with)? code|exit status|return ?code)\W{0,3}(-?\d+)", re.IGNORECASE)
_EDGE = 400
"""An exit code stands at the beginning or the end of what came back; in between it is something that was printed."""


class Shell(NamedTuple):
    """What a command line is about."""

    function: str
    """`shell.program`, or `shell.program_subcommand`."""
    effect: Effect


def shell_call(tool: str, arguments: Mapping[str, Any] | None) -> Shell | None:
    """The program that this call runs; None when the tool is no shell or is given no command."""
    if not is_shell(tool):
        return None
    return parse_command(command) if (command := _command(arguments or {})) else None


@lru_cache(maxsize=4096)
def is_shell(tool: str) -> bool:
    return tool.rpartition(".")[2].rpartition("__")[2].lower() in _TOOLS


def function_called(tool: str, arguments: Mapping[str, Any] | None) -> str:
    """The name to look a call up by: of a shell command its program, else the tool itself."""
    command = shell_call(tool, arguments)
    return command.function if command else tool


def is_program(function: str) -> bool:
    """Is it a program that ran in a shell? What it does depends on its command line and on files, not on its name."""
    return function.startswith(f"{APP}.")


def is_command_line(function: str, argument: str) -> bool:
    """Does this argument of a call hold what somebody typed into a shell? It may say anything, however short it is."""
    return argument in _ARGUMENTS and is_program(function)


def exit_code_error(function: str, content: object) -> str | None:
    """The error that the exit code in a shell result admits to. `grep` that finds nothing has not failed."""
    app, _, program = function.rpartition(".")
    if app != APP:
        return None
    if isinstance(content, dict):
        code = next((content[key] for key in ("exit_code", "returncode", "exitCode") if key in content), 0)
        text = str(content.get("stderr") or content.get("output") or content.get("stdout") or "")
    else:
        text = content if isinstance(content, str) else ""
        match = _EXIT.search(text[:_EDGE]) or _EXIT.search(text[-_EDGE:])
        code = int(match[1]) if match else 0
    if code in (0, None) or (code == 1 and program in _FALSE_IS_NO_FAILURE):
        return None
    return text[:2000] or f"exit code {code}"


def _command(arguments: Mapping[str, Any]) -> str:
    for name in _ARGUMENTS:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            return shlex.join(value)
        if isinstance(value, dict):
            return _command(value)
    action = arguments.get("action")
    return _command(action) if isinstance(action, dict) else ""


@lru_cache(maxsize=4096)
def parse_command(command: str) -> Shell | None:
    """What one command line is about: its first program that does more than prepare the next."""
    lines = [words for words in map(_strip_wrappers, _simple_commands(command)) if words]
    if not lines:
        return None
    chosen = next((words for words in lines if words[0] not in _PREPARES), lines[0])
    if _is_prose(chosen):
        return None
    if chosen[0] in ("bash", "sh", "zsh") and (script := _script(chosen)):
        return parse_command(script)
    name = _program(chosen)
    return Shell(f"{APP}.{name}", _effect(name, chosen)) if name else None


def _is_prose(words: Sequence[str]) -> bool:
    """Was a sentence typed into the shell? It begins with a capital and names neither an option, a file nor a value."""
    return words[0][:1].isupper() and not any(set(word) & set("-/.=:~$*") for word in words[:3])


def command_shape(command: str) -> str:
    """A command line without its values: programs, options and the endings of files stay, other words become `…`.

    `cd /app && grep -rn "def f" src/a.py | head -5` is `cd … && grep -rn … *.py | head -5`.
    """
    lexer = shlex.shlex(command.partition("<<")[0], posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    shape: list[str] = []
    opens = True
    try:
        for token in lexer:
            is_separator = token in _SEPARATORS or not token.strip("\n;&|()")
            word = token.strip("\n") if is_separator else token if opens else _word_shape(token)
            if word and not (word == "…" and shape[-1:] == ["…"]):
                shape.append(word)
            opens = is_separator or (opens and bool(_ASSIGNMENT.match(token)))
    except ValueError:
        pass
    return " ".join(shape) + (" <<…" if "<<" in command else "")


def _word_shape(word: str) -> str:
    if re.fullmatch(r"--?[A-Za-z][\w-]*|-\d+|[<>]+|&?>+&?\d?", word):
        return word
    if word.startswith("--") and "=" in word:
        return f"{word.partition('=')[0]}=…"
    ending = PurePosixPath(word).suffix
    return f"*{ending}" if re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,4}", ending) else "…"


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The commands of a line, each as its words. A here-document is what a command reads, not a command."""
    lexer = shlex.shlex(command.partition("<<")[0], posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for token in lexer:
            if token in _SEPARATORS or not token.strip("\n;&|()"):
                yield words
                words = []
            else:
                words.append(token)
    except ValueError:  # a quote that is never closed: what came before it still tells the program
        pass
    yield words


def _strip_wrappers(words: list[str]) -> list[str]:
    """Without variables set for the command, and without programs whose task is to run another one."""
    while words:
        first, *rest = words
        if first in _KEYWORDS or _ASSIGNMENT.match(first):
            words = rest
        elif first in _WRAPS or first in _RUNNERS or (first, rest[0] if rest else "") in _RUNS:
            rest = rest[1:] if first not in _WRAPS | _RUNNERS else rest
            while rest and (rest[0].startswith("-") or rest[0][:1].isdigit()):
                rest = rest[1:]
            if not rest:
                return words
            words = rest
        elif _is_python(first) and rest[:1] == ["-m"] and len(rest) > 1:
            words = rest[1:]
        else:
            break
    return words


def _is_python(word: str) -> bool:
    return re.fullmatch(r"python[\d.]*", PurePosixPath(word).name) is not None


def _script(words: Sequence[str]) -> str:
    """The command of `bash -lc COMMAND`."""
    for flag, value in pairwise(words[1:]):
        if flag.startswith("-") and flag.endswith("c"):
            return value
    return ""


def _program(words: Sequence[str]) -> str:
    first = PurePosixPath(words[0]).name
    if _is_python(first):
        first = "python"
        if len(words) > 1 and PurePosixPath(words[1]).name == "manage.py":
            first, words = "manage.py", words[1:]
    if not _NAME.fullmatch(first):
        return ""
    parts = [first.removesuffix(".py").removesuffix(".sh")]
    if first in _MANY:
        own = [word for before, word in pairwise(words) if before not in _TAKES_A_VALUE]
        subcommands = [word for word in own if _WORD.fullmatch(word) and "." not in word]
        if subcommands[:1] == ["run"] and len(subcommands) > 1:  # `npm run test` and `npm test` are one thing
            subcommands = subcommands[1:]
        parts += subcommands[:1]
    return "_".join(part.replace(".", "_").replace(":", "_") for part in parts)


def _effect(name: str, words: Sequence[str]) -> Effect:
    """Told by the words of the command, not of the program alone: `make` writes, `make test` does not."""
    if any(word in (">", ">>", "&>") and _is_file(after) for word, after in pairwise(words)):
        return "write"
    if name in ("sed", "perl") and any(word.startswith("-") and "i" in word for word in words[1:]):
        return "write"
    if name in _READS or _TESTING.intersection(name_words(name)):
        return "read"
    program, _, subcommand = name.partition("_")
    return effect_of(subcommand if subcommand and program in _MANY else name)


def _is_file(target: str) -> bool:
    return not target.startswith(("/dev/", "&"))
