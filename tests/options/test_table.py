"""Each entry of the table of options is found wherever options are taken or shown."""

from inspect import signature
from typing import Annotated, TypedDict, Unpack

import click
import pytest

import gode
from gode.cli.discover import discover_command, fit_command
from gode.cli.request import DISCOVER, FIT, in_python, table_options
from gode.errors import ConfigError
from gode.measured import read_arguments
from gode.options.calls import completed, takes_options
from gode.options.entry import Option, Takes, options_of, type_of
from gode.options.files import FromFiles
from gode.options.table import DiscoverOptions, FitOptions, RegressorOptions

CALLS = {
    gode.discover: DiscoverOptions,
    gode.fit: FitOptions,
    gode.ODERegressor: RegressorOptions,
    read_arguments: FromFiles,
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_signature_and_help_of_a_call_are_those_of_the_table(call):
    found = signature(call).parameters
    for name, option in options_of(CALLS[call]).items():
        assert found[name].default == option.default
        assert found[name].annotation == type_of(CALLS[call], name)
        assert f" {name}:" in call.__doc__ or f" {name}," in call.__doc__
    assert "**options" not in call.__doc__
    assert max(map(len, call.__doc__.splitlines())) <= 110


def test_a_name_that_is_no_option_is_refused_as_python_does():
    with pytest.raises(TypeError, match=r"discover\(\) got an unexpected .*'ordr'. Did you mean 'order'?"):
        gode.discover([0, 1], [0, 1], ordr=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'seed'"):
        gode.ODERegressor(seed=1)


@pytest.mark.parametrize(("command", "table"), [(discover_command, DISCOVER), (fit_command, FIT)])
def test_commands_have_the_flags_of_the_table(command, table):
    found = {each.name: each for each in command.params}
    for name, option in table.items():
        assert option.flag.split("/")[0] in found[name].opts
        assert found[name].help == option.said
        assert option.said.endswith(".")


# What is typed, what it is in Python; each is written again as it was typed.
TYPED = {
    "units": (("t=h", "u=m"), {"t": "h", "u": "m"}),
    "fixed": (("K=500",), {"K": 500.0}),
    "bounds": (("r=0:1", "K=0:"), {"r": (0.0, 1.0), "K": (0.0, None)}),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_word_of_the_command_is_a_value_in_python_and_a_word_again(name):
    typed, value = TYPED[name]
    assert in_python({name: typed}) == {name: value}
    assert DISCOVER[name].text(value) == list(typed)


@pytest.mark.parametrize(("word", "value"), [("all", True), ("auto", "auto"), ("K,r", ["K", "r"])])
def test_individual_is_written_as_it_is_typed(word, value):
    assert in_python({"individual": word}) == {"individual": value}
    assert DISCOVER["individual"].text(value) == [word]


def even(value):
    if value % 2:
        raise ConfigError(f"wheels must be even, got {value}")
    return value


class Cart(TypedDict, total=False):
    wheels: Annotated[
        "int",
        Option(
            help="how many there are.", default=4, check=even, flag="--wheels", takes=Takes.WHOLE, least=2,
            usual=4, said="Number of wheels.",
        ),
    ]  # fmt: skip


@takes_options(Cart)
def build(colour: str, **options: Unpack[Cart]) -> tuple[str, int]:
    """Build a cart.

    Args:
        **options: of the cart.
    """
    return colour, completed("build", Cart, options)["wheels"]


def test_a_new_entry_is_in_signature_help_check_and_command():
    assert build("red") == ("red", 4)
    assert str(signature(build)) == "(colour: str, *, wheels: int = 4) -> tuple[str, int]"
    assert "wheels: how many there are." in build.__doc__
    with pytest.raises(ConfigError, match="wheels must be even, got 3"):
        build("red", wheels=3)
    command = table_options(options_of(Cart))(click.Command("build", params=[]))
    assert command.make_context("build", ["--wheels", "6"]).params == {"wheels": 6}
    with pytest.raises(click.UsageError, match="1 is not in the range"):
        command.make_context("build", ["--wheels", "1"])
