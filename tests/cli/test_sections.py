from click.testing import CliRunner

from contramem.cli import cli


def test_help_of_a_large_command_lists_what_people_need_and_help_all_the_rest_in_sections():
    short = CliRunner().invoke(cli, ["build", "--help"]).output
    assert all(f"  {option} " in short for option in ("--bank", "--out", "--map", "--model", "--json", "--help-all"))
    assert "--prompt-tokens" not in short
    text = CliRunner().invoke(cli, ["build", "--help-all"]).output
    sections = ["Options:", "How to read the files:", "Where to compute:", "A model as author:"]
    assert sorted(sections, key=text.index) == sections
    assert text.index("--bank") < text.index(sections[1]) < text.index("--format") < text.index(sections[2])
    assert text.index("--budget") > text.index(sections[3])
