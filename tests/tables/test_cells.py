"""Lists of columns and lines as a person types them."""

import pytest

from gode.errors import ConfigError, DataError
from gode.tables.cells import join_list, split_list
from gode.tables.columns import parse_formula, parts_of
from gode.tables.dataset import parse_values
from gode.tables.edits import edit_table
from gode.tables.text import parse_table
from gode.units import parse_unit

LONG = "9" * 5000
TABLE = parse_table(b"t,u\n0,1\n1,2\n2,3\n", "a.csv")


def test_a_list_has_commas_and_perhaps_quotes():
    assert split_list('a, "b,c" ,,d') == ["a", "b,c", "d"]
    assert split_list("") == []


def test_a_list_is_split_as_it_was_joined():
    names = ["plain", "with, comma", 'with "quotes"', "two words"]
    assert split_list(join_list(names)) == names


@pytest.mark.parametrize("read", [split_list, parts_of])
@pytest.mark.parametrize("text", ["a\r\nb", "a\nb", "x" * 200_000])
def test_a_list_of_several_lines_is_refused_in_a_sentence(read, text):
    with pytest.raises(DataError, match="is no list of columns"):
        read(text)


@pytest.mark.parametrize(
    "read",
    [
        lambda: TABLE.find(LONG),
        lambda: edit_table(TABLE, (f"drop u lines {LONG}",)),
        lambda: edit_table(TABLE, (f"multiply {LONG} by 2",)),
        lambda: parse_formula(LONG + "x", TABLE),
        lambda: parse_values(LONG + "x", "--initial"),
        lambda: parse_unit("(" * 5000),
        lambda: parse_unit("m*" * 5000),
    ],
)
def test_very_long_words_are_refused_in_a_short_sentence(read):
    with pytest.raises((ConfigError, DataError)) as caught:
        read()
    assert len(str(caught.value)) < 1500


def test_a_unit_in_a_header_that_is_none_is_left_out():
    assert parse_unit("(" * 5000, strict=False) is None
