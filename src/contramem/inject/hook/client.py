"""The process that Claude Code and Codex start for every event: forwards the event and prints the answer.

It runs at every prompt and every call, so it must take little longer than Python takes to start. It is started without
`site` and imports only a few built-in modules: `pathlib`, `socket` and `hashlib` would take longer than all the rest.
If no resident process answers, `python -m contramem.inject.hook` does; it uses the functions of this file to locate the
files of a setup, so that both find the same ones.
"""

import os
import sys

from contramem.inject.switch import is_switched_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ANSWER_S = 8
"""If the resident process takes longer, another process answers."""
CONNECT_S = 2
REFUSED = b"!"
"""The first byte of an error answer; the reason follows."""
OPTIONS = ("--bank", "--state", "--profile", "--log", "--record", "--hold", "--enforce")


def main(arguments: "Sequence[str] | None" = None) -> None:
    """Answer one event. Never exits with 2, which Claude Code and Codex treat as a block."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if is_switched_off():
        return
    message = read_message()
    answer = _ask_resident(arguments, message)
    if answer is None:
        _answer_slowly(arguments, message)
    elif answer.startswith(REFUSED):
        sys.stderr.buffer.write(b"contramem hook: " + answer[len(REFUSED) :] + b"\n")
    elif answer:
        sys.stdout.buffer.write(answer + b"\n")


def read_message() -> bytes:
    """The event on standard input, after a line with how Claude Code was started, which the event does not say: `cli`
    by a person, `sdk-cli` by `claude -p`. Empty for Codex."""
    return os.environ.get("CLAUDE_CODE_ENTRYPOINT", "").encode() + b"\n" + sys.stdin.buffer.read()


def _ask_resident(arguments: "Sequence[str]", message: bytes) -> bytes | None:
    try:
        options = parse_options(arguments)
        folder = options.get("--state") or private_folder()
        return ask(address_path(folder, setup_name(options)), message)
    except (OSError, ValueError):
        return None


def _answer_slowly(arguments: "Sequence[str]", message: bytes) -> None:
    from subprocess import run

    event = message.partition(b"\n")[2]
    run([sys.executable, "-m", "contramem.inject.hook", *arguments], input=event, check=False)


def parse_options(arguments: "Sequence[str]") -> dict[str, str]:
    """Parse the options of a command line, by name. Raises ValueError for an unknown option or a missing value."""
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
    """The name of a setup, used in its file names. It changes with the options, the bank and the code."""
    try:
        status = os.stat(options["--bank"])
        version = f"{status.st_mtime_ns} {status.st_size}"
    except OSError:
        version = "absent"
    files = [os.path.abspath(file) if file else "" for file in map(options.get, ("--bank", "--log", "--record"))]
    code = os.stat(__file__).st_mtime_ns
    chosen = [options.get(name, "") for name in ("--profile", "--hold", "--enforce")]
    return digest("\0".join([*files, version, *chosen, str(code)]))


def digest(text: str) -> str:
    try:
        from _blake2 import blake2b  # hashlib would also load OpenSSL
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def private_folder() -> str:
    """A folder of this user. Its contents are shown to agents, so nobody else may write to it."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        folder = os.path.join(local, "contramem-hook")
        os.makedirs(folder, exist_ok=True)
        return folder
    user = os.getuid()
    # Like tempfile.gettempdir, which would load a dozen modules.
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
    """The file in which the resident process of a setup writes its address: socket path, port and key."""
    return os.path.join(folder, f"address-{name}")


def read_address(file: "str | Path") -> tuple[str, int, str]:
    """Read the path of a Unix socket, or port and key. Raises OSError or ValueError if there is none."""
    with open(file, encoding="utf-8") as lines:
        path, port, key = lines.read().split("\n")
    return path, int(port), key


def ask(address_file: "str | Path", message: bytes) -> bytes | None:
    """The answer of the resident process, which may be empty. None if it did not answer."""
    try:
        path, port, key = read_address(address_file)
        reply = _exchange(path, port, key.encode() + b"\n" + message)
    except (OSError, ValueError):
        return None
    return reply[:-1] if reply.endswith(b"\n") else None  # a truncated answer is ignored


def _exchange(path: str, port: int, request: bytes) -> bytes:
    import _socket  # socket would also load selectors, enum and re

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
