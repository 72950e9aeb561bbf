"""The handbook's pages for organisers know every setting and every command, and nothing that is not there."""

import inspect
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from pbem import paths
from pbem.cli import main
from pbem.config.fields import Setting
from pbem.config.settings import SETTINGS


def page(name: str) -> str:
    return (paths.handbook() / name).read_text(encoding="utf-8")


def commands(command: click.Command = main, name: str = "pbem") -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from commands(inner, f"{name} {each}")
    else:
        yield name, command


COMMANDS = dict(commands())


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)
def test_every_setting_is_in_the_handbook_as_it_is_declared(setting: Setting) -> None:
    row = f"| `{setting.variable}` | `{setting.name}` | {setting.default_words or 'nothing'} | {setting.explanation}"
    assert row + (" Secret." if setting.secret else "") + " |\n" in page("settings.md")


def test_the_handbook_knows_no_setting_that_is_not_there() -> None:
    mentioned = set(re.findall(r"PBEM_[A-Z_]+", page("settings.md") + page("running-a-server.md")))
    known = {each.variable for each in SETTINGS}
    assert mentioned <= known | {f"{each.variable}_FILE" for each in SETTINGS if each.secret} | {"PBEM_CONFIG"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_handbook_with_its_help_its_options_and_an_example(name: str) -> None:
    command = COMMANDS[name]
    heading = f"## `{name}`\n"
    assert heading in page("commands.md")
    section = page("commands.md").split(heading)[1].split("\n## ")[0]
    assert inspect.cleandoc(command.help or "") in section
    # The options of all acts are described once.
    acts = page("commands.md").split("\n## Acts\n")[1].split("\n## ")[0]
    described = section + (acts if {"reason", "dry_run"} <= {option.name for option in command.params} else "")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help
            assert option.help in described
            assert all(
                f"`{each}" in described or f"/{each}" in described for each in [*option.opts, *option.secondary_opts]
            )
    example = (command.epilog or "").split("Example:\n")[1].split("\n\n")[0].strip()
    assert name in example
    # After a list it would belong to the list, and not be set apart.
    assert f"\n    {example}\n" in section.split("\n- ")[0]


def test_the_handbook_knows_no_command_that_is_not_there() -> None:
    assert set(re.findall(r"^## `(.*)`$", page("commands.md"), re.MULTILINE)) == COMMANDS.keys()
    everywhere = "".join(file.read_text(encoding="utf-8") for file in paths.handbook().rglob("*.md"))
    for words in re.findall(r"`pbem ([a-z ]+)", everywhere):
        assert any(f"pbem {words}".startswith(f"{name} ") or f"pbem {words}".strip() == name for name in known_names())


def known_names() -> set[str]:
    """Commands and groups of commands."""
    return {" ".join(name.split()[:length]) for name in COMMANDS for length in (2, 3)}


@pytest.mark.parametrize("name", [*COMMANDS, "pbem"])
def test_every_help_names_the_exit_codes(name: str) -> None:
    command = COMMANDS.get(name, main)
    for code in ("0    done", "1    it could not", "2    the command line", "130  interrupted"):
        assert code in (command.epilog or "")


def test_links_between_pages_lead_somewhere() -> None:
    for file in paths.handbook().rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:]+\.md)\)", file.read_text(encoding="utf-8")):
            assert (file.parent / target).is_file(), f"{file.name} links to {target}"


@pytest.mark.parametrize("name", sorted({"pbem", *(name.rpartition(" ")[0] for name in COMMANDS)}))
def test_every_command_fits_a_line_of_its_list(name: str) -> None:
    listed = CliRunner().invoke(main, [*name.split()[1:], "--help"], env={"COLUMNS": "80"}).output
    lines = listed.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    assert lines
    assert [line for line in lines if line.endswith("...")] == []
