"""The process that Claude Code and Codex start at every event: passes the event on, prints the answer.

It runs at every prompt and every call, so it takes hardly longer than Python takes to start. It is started without
`site` and imports a few modules of the interpreter only: `pathlib`, `socket` and `hashlib` take longer than all else.
Where no resident process answers, `python -m contramem.inject.hook` does; that looks for the files of a setup here, so
that both find the same ones.
"""

import os
import sys

from contramem.inject.switch import is_switched_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ANSWER_S = 8
"""A resident process that takes longer is not waited for: another process answers."""
CONNECT_S = 2
REFUSED = b"!"
"""Begins the answer to what cannot be answered; the reason follows."""
OPTIONS = ("--bank", "--state", "--profile", "--log", "--record")


def main(arguments: "Sequence[str] | None" = None) -> None:
    """Answer one event. Never ends with 2, which Claude Code and Codex take as an order to stop."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if is_switched_off():
        return
    event = sys.stdin.buffer.read()
    answer = _ask_resident(arguments, event)
    if answer is None:
        _answer_slowly(arguments, event)
    elif answer.startswith(REFUSED):
        sys.stderr.buffer.write(b"contramem hook: " + answer[len(REFUSED) :] + b"\n")
    elif answer:
        sys.stdout.buffer.write(answer + b"\n")


def _ask_resident(arguments: "Sequence[str]", event: bytes) -> bytes | None:
    try:
        options = parse_options(arguments)
        folder = options.get("--state") or private_folder()
        return ask(address_path(folder, setup_name(options)), event)
    except (OSError, ValueError):
        return None


def _answer_slowly(arguments: "Sequence[str]", event: bytes) -> None:
    from subprocess import run

    run([sys.executable, "-m", "contramem.inject.hook", *arguments], input=event, check=False)


def parse_options(arguments: "Sequence[str]") -> dict[str, str]:
    """The options of a command line, by name. Raises ValueError for one that is unknown or has no value."""
    options: dict[str, str] = {}
    words = [word for word in arguments if word != "--batches"]  # written by older installs
    while words:
        name = words.pop(0)
        if name not in OPTIONS or not words:
            raise ValueError(f"unknown option {name!r}, or its value is missing.")
        options[name] = words.pop(0)
    if not options.get("--bank"):
        raise ValueError("name the bank with --bank.")
    return options


def setup_name(options: "Mapping[str, str]") -> str:
    """The name of a setup, in its files: other options, a bank that changed and other code are other setups."""
    try:
        status = os.stat(options["--bank"])
        version = f"{status.st_mtime_ns} {status.st_size}"
    except OSError:
        version = "absent"
    files = [os.path.abspath(file) if file else "" for file in map(options.get, ("--bank", "--log", "--record"))]
    code = os.stat(__file__).st_mtime_ns
    return digest("\0".join([*files, version, options.get("--profile", ""), str(code)]))


def digest(text: str) -> str:
    try:
        from _blake2 import blake2b  # what hashlib offers, which also loads OpenSSL
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def private_folder() -> str:
    """A folder of this user. What stands in it is shown to agents, so nobody else may write there."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        folder = os.path.join(local, "contramem-hook")
        os.makedirs(folder, exist_ok=True)
        return folder
    user = os.getuid()
    # As tempfile.gettempdir, which loads a dozen modules.
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"contramem-hook-{user}")
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        _check_private(folder, user)
    return folder


def _check_private(folder: str, user: int) -> None:
    status = os.lstat(folder)
    is_folder = status.st_mode & 0o170000 == 0o040000
    if not is_folder or status.st_uid != user or status.st_mode & 0o022:
        raise PermissionError(f"{folder}: others can write here. Choose a folder of your own with --state.")


def address_path(folder: str, name: str) -> str:
    """Where the resident process of a setup says how it can be reached: path of a socket, port, and its key."""
    return os.path.join(folder, f"address-{name}")


def read_address(file: "str | Path") -> tuple[str, int, str]:
    """Path of a Unix socket, or port and key. Raises OSError or ValueError where there is none."""
    with open(file, encoding="utf-8") as lines:
        path, port, key = lines.read().split("\n")
    return path, int(port), key


def ask(address_file: "str | Path", event: bytes) -> bytes | None:
    """The answer of the resident process, which may be empty. None: it did not answer."""
    try:
        path, port, key = read_address(address_file)
        reply = _exchange(path, port, key.encode() + b"\n" + event)
    except (OSError, ValueError):
        return None
    return reply[:-1] if reply.endswith(b"\n") else None  # an answer that broke off is none


def _exchange(path: str, port: int, request: bytes) -> bytes:
    import _socket  # what socket wraps, which also loads selectors, enum and re

    connection = _socket.socket(_socket.AF_UNIX if path else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_S)
        connection.connect(path or ("127.0.0.1", port))
        connection.settimeout(ANSWER_S)
        connection.sendall(request)
        connection.shutdown(_socket.SHUT_WR)
        parts = []
        while part := connection.recv(1 << 16):
            parts.append(part)
    finally:
        connection.close()
    return b"".join(parts)
