"""The program `contramem`, also as `python -m contramem`."""

import sys


def main() -> None:
    """Run the command line. A hook event of a coding agent skips it, to avoid the time that loading click takes."""
    if sys.argv[1:3] == ["hook", "--bank"]:
        from contramem.inject.hook.client import main as answer_event

        answer_event(sys.argv[2:])
        return
    from contramem.cli import main as run_command

    run_command()


if __name__ == "__main__":  # worker processes import this module too
    main()
