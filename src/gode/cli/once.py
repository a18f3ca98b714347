"""A command that does not take an option twice: the last one would win without a word."""

import click


class Once(click.Command):
    """A command whose options are given once, but for those that may be repeated."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice.

        Raises:
            click.UsageError: which names the option.
        """
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        options = [each for each in given if isinstance(each, click.Option)]
        values = [each for each in options if not (each.multiple or each.count or each.is_flag)]
        for option in values:
            if values.count(option) > 1 and not ctx.resilient_parsing:  # as in completion
                name = option.opts[0]
                several = "," in str(option.metavar)
                hint = f"for several columns write {name} A1,A2" if several else "give it once"
                raise click.UsageError(f"{name} was given {_times(values.count(option))}; {hint}", ctx)
        return super().parse_args(ctx, args)


def _times(n: int) -> str:
    return "twice" if n == 2 else f"{n} times"
