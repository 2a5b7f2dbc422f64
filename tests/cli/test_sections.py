from click.testing import CliRunner

from contramem.cli import cli


def test_help_lists_what_a_command_is_about_before_what_it_shares_with_others():
    text = CliRunner().invoke(cli, ["build", "--help"]).output
    sections = ["Options:", "How to read the files:", "Where to compute:", "A model as author:"]
    assert sorted(sections, key=text.index) == sections
    assert text.index("--bank") < text.index(sections[1]) < text.index("--format") < text.index(sections[2])
    assert text.index("--budget") > text.index(sections[3])
