"""The options about what is read from files, the first part of the table; see `gode.options.table`."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from gode.options.entry import Group, Input, Option, Place, Takes


class FromFiles(TypedDict, total=False):
    """What is read from files: options of the command line and of `read_arguments`."""

    time: Annotated["str | None", Option(flag="--time", metavar="COLUMN", said="Column of times.")]
    u: Annotated[
        "str | None",
        Option(
            flag="--u",
            metavar="COLUMN[,...]",
            said="Column of the signal; A1,A2 or all: each column is a run.",
        ),
    ]
    states: Annotated[
        "str | None",
        Option(
            flag="--states",
            metavar="COLUMN,...",
            said="Columns of several signals with one law, as prey,predator or prey=Hare,predator=Lynx, "
            "or all.",
        ),
    ]
    velocity: Annotated[
        "str | None",
        Option(flag="--velocity", metavar="COLUMN[,...]", said="Column of u', or one for each state."),
    ]
    acceleration: Annotated[
        "str | None",
        Option(flag="--acceleration", metavar="COLUMN[,...]", said="Column of u'', or one for each state."),
    ]
    sd: Annotated[
        "str | None",
        Option(
            flag="--sd",
            metavar="COLUMN[,...]",
            said="Column of the standard errors of the readings, or one for each state.",
        ),
    ]
    force: Annotated[
        "str | None",
        Option(
            flag="--force",
            metavar="COLUMN|FORMULA[,...]",
            said="Known input F: a column, or a formula in t; or several.",
        ),
    ]
    run: Annotated[
        "str | None",
        Option(
            help="columns by name or number, or none; those that are not given are guessed from their names "
            "and from how they behave.",
            flag="--run/--runs",
            metavar="COLUMN",
            said="Column that tells several runs apart.",
        ),
    ]
    edit: Annotated[
        "Sequence[str]",
        Option(
            help='changes of what was read, such as "crop 0 to 30".',
            default=(),
            flag="--edit",
            takes=Takes.TEXTS,
            metavar="EDIT",
            said='Change what was read: "crop 0 to 30", "drop od lines 14,17-19", "subtract blank from '
            'A1,A2", "multiply acc by 9.80665 as m/s2", "hold back 20 %"; may be repeated.',
        ),
    ]
    header: Annotated[
        "int | None",
        Option(
            help="the line of the column names in the file, from 1; 0 if there is none.",
            flag="--header",
            takes=Takes.WHOLE,
            least=0,
            metavar="LINE",
            said="Line of the column names in the file, from 1; 0 if there is none. By default it is found.",
            place=Place(Group.WRITTEN, "Line of the column names", "From 1; 0 if there is none."),
        ),
    ]
    skip: Annotated[
        "int",
        Option(
            help="how many lines at the start of the file are left out.",
            default=0,
            flag="--skip",
            takes=Takes.WHOLE,
            least=0,
            usual=0,
            metavar="N",
            said="Leave out the first N lines of the file.",
            place=Place(Group.WRITTEN, "Lines to leave out at the start"),
        ),
    ]
    decimal: Annotated[
        "str | None",
        Option(
            help='the decimal sign, "." or ",".',
            flag="--decimal",
            takes=Takes.WORD,
            words=(".", ","),
            said="Decimal sign of the numbers; the other one separates thousands.",
            place=Place(
                Group.WRITTEN,
                "Decimal sign",
                input=Input.CHOICE,
                choices=(("", "as the numbers suggest"), (".", "point"), (",", "comma")),
            ),
        ),
    ]
    missing: Annotated[
        "Sequence[str]",
        Option(
            help='words in cells that hold no reading, besides usual ones such as NA and n.d.; "text" for '
            "any.",
            default=(),
            flag="--missing",
            takes=Takes.TEXTS,
            metavar="WORD[,...]",
            said="Cells with this word hold no reading, besides NA, n.d., <0.05, OVRFLW; text for any text.",
            place=Place(
                Group.WRITTEN,
                "Words in cells without a reading",
                "Besides NA, n.d., <0.05, OVRFLW; text for any text.",
                Input.WORDS,
            ),
        ),
    ]
    dose: Annotated[
        "Sequence[str]",
        Option(
            help='columns of amounts and the states that they are added to, such as ["amt:depot"].',
            default=(),
            flag="--dose",
            takes=Takes.TEXTS,
            metavar="COLUMN:STATE",
            said="Amounts and the state that they are added to, as amt:depot; may be repeated. Tables with "
            "the columns ID, TIME, AMT, DV, EVID, CMT, RATE, II, ADDL are read as they are.",
            place=Place(Group.DATA, "Doses", "A column of amounts and a state: amt:depot", Input.WORDS),
        ),
    ]
