"""The options that say which column holds what."""

import click

from gode.cli.app import add_options

data_options = add_options(
    click.option("--time", metavar="COLUMN", help="Column of times."),
    click.option(
        "--u", metavar="COLUMN[,...]", help="Column of the signal; A1,A2 or all: each column is a run."
    ),
    click.option(
        "--states",
        metavar="COLUMN,...",
        help="Columns of several signals with one law, as prey,predator or prey=Hare,predator=Lynx, or all.",
    ),
    click.option("--velocity", metavar="COLUMN[,...]", help="Column of u', or one for each state."),
    click.option("--acceleration", metavar="COLUMN[,...]", help="Column of u'', or one for each state."),
    click.option(
        "--force",
        metavar="COLUMN|FORMULA[,...]",
        help="Known input F: a column, or a formula in t; or several.",
    ),
    click.option("--run", "--runs", "run", metavar="COLUMN", help="Column that tells several runs apart."),
    click.option(
        "--initial",
        metavar="VALUES",
        multiple=True,
        help="Known initial values, as 1 or 1,0; once for all runs or once for each.",
    ),
    click.option(
        "--dose",
        metavar="COLUMN:STATE",
        multiple=True,
        help="Amounts and the state that they are added to, as amt:depot; may be repeated. Tables with the "
        "columns ID, TIME, AMT, DV, EVID, CMT, RATE, II, ADDL are read as they are.",
    ),
    click.option(
        "--hold/--no-hold",
        default=None,
        help="Whether each sample of F is held until the next; by default the data decide.",
    ),
    click.option(
        "--interpolation",
        type=click.Choice(("auto", "hold", "linear", "cubic")),
        default="auto",
        help="Interpolation between samples of F.",
    ),
    click.option(
        "--keep-outliers",
        is_flag=True,
        help="Fit single readings that lie far from all others, too; by default they are left out and told.",
    ),
    click.option(
        "--edit",
        metavar="EDIT",
        multiple=True,
        help='Change what was read: "crop 0 to 30", "drop od lines 14,17-19", "subtract blank from A1,A2", '
        '"multiply acc by 9.80665 as m/s2", "hold back 20 %"; may be repeated.',
    ),
    click.option(
        "--header",
        type=click.IntRange(0),
        metavar="LINE",
        help="Line of the column names in the file, from 1; 0 if there is none. By default it is found.",
    ),
    click.option(
        "--skip",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Leave out the first N lines of the file.",
    ),
    click.option(
        "--decimal",
        type=click.Choice((".", ",")),
        help="Decimal sign of the numbers; the other one separates thousands.",
    ),
    click.option(
        "--missing",
        metavar="WORD[,...]",
        multiple=True,
        help="Cells with this word hold no reading, besides NA, n.d., <0.05, OVRFLW; text for any text.",
    ),
)
