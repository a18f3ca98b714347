import numpy as np
import pytest

from gode.errors import ConfigError, DataError
from gode.tables.cells import join_list, split_list
from gode.tables.column_options import parse_formula, parts_of
from gode.tables.dataset import parse_values
from gode.tables.edits import edit_table
from gode.tables.text import parse_table
from gode.units import parse_unit

LONG = "9" * 5000
TABLE = parse_table(b"t,u\n0,1\n1,2\n2,3\n", "a.csv")


def test_a_list_has_commas_and_perhaps_quotes():
    assert split_list('a, "b,c" ,,d') == ["a", "b,c", "d"]
    assert split_list("") == []


@pytest.mark.parametrize("word", ["", "-", "--", "---", "–", "—", "NA", "n/a"])
def test_words_that_mean_that_nothing_was_measured(word):
    table = parse_table(f"t,u\n0,1\n1,{word}\n2,3\n3,4\n".encode(), "a.csv")
    np.testing.assert_array_equal(table.numbers("u"), [1, np.nan, 3, 4])


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


def column(*cells, sign=";", head="t;u"):
    rows = "".join(f"{i}{sign}{cell}\n" for i, cell in enumerate(cells))
    table = parse_table(f"{head.replace(';', sign)}\n{rows}".encode(), "data.csv")
    return table.numbers("u").tolist(), table.notes


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_commas_beside_smaller_numbers_separate_thousands(sign):
    values, notes = column("505", "998", "1,067", "12,500", sign=sign)
    assert values == [505, 998, 1067, 12500]
    assert "commas taken as thousands separators" in notes


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,067", "1,234,567"], [1067, 1234567]),
        (["1,067", "1,068.5"], [1067, 1068.5]),
        (["1.067,5", "1.068,25"], [1067.5, 1068.25]),
        (["1.067", "999,5", "1.068,25"], [1067, 999.5, 1068.25]),
        (["1'067", "12\u202f500"], [1067, 12500]),
        (["1,067", "0,998"], [1.067, 0.998]),
        (["1,067", "1,5"], [1.067, 1.5]),
        (["1,067", "1234,567"], [1.067, 1234.567]),
        (["1.067", "2.068"], [1.067, 2.068]),
    ],
)
def test_the_whole_column_decides(cells, expected):
    assert column(*cells)[0] == expected


def test_another_column_decides_too():
    table = parse_table(b"t;u\n0,000;1,067\n0,500;1,068\n", "data.csv")
    assert table.numbers("u").tolist() == [1.067, 1.068]


def test_what_may_be_either_is_refused():
    with pytest.raises(DataError, match=r"line 2: '1,067' may be 1.067 or 1067, and no other number tells"):
        column("1,067", "1,068")


def test_quoted_numbers_between_commas_are_read():
    assert column('"1,067"', '"998"', sign=",")[0] == [1067, 998]
    assert column('"0,5"', '"1,25"', sign=",")[0] == [0.5, 1.25]


def test_a_number_with_misplaced_separators_is_refused():
    with pytest.raises(DataError, match=r"line 4, column 'u': expected a number, got '1,06.5'"):
        column("1,067.5", "1,068.5", "1,06.5")
