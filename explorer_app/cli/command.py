"""How our commands parse: one-line usage errors, --debug everywhere, and a PATH where a command could stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

DEFAULT = "PATH..."  # the name under which opening a path is a command; nobody can type it by accident


@dataclass
class Settings:
    """What holds for the whole run.

    `give_back` makes this process again what it was before it became ours.
    """

    debug: bool = False
    give_back: Callable[[], None] = lambda: None


def debug_option() -> click.Option:
    """A new --debug, which every command takes."""

    def switch_on(context: click.Context, _: click.Parameter, wanted: Any) -> None:
        if wanted:
            context.ensure_object(Settings).debug = True

    return click.Option(
        ["--debug"], is_flag=True, is_eager=True, expose_value=False, callback=switch_on,
        help="Show the traceback of an error.",
    )  # fmt: skip


class Command(click.Command):
    """A command that takes --debug."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(debug_option())


class ExplorerGroup(click.Group):
    """The commands; whatever is neither a command nor an option of the group is opened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(debug_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {name for option in self.get_params(ctx) for name in (*option.opts, *option.secondary_opts)}
        lead = 0
        while lead < len(args) and args[lead] in own:
            lead += 1
        rest = args[lead:]
        if rest and rest[0] not in self.commands:
            rest = [DEFAULT, *rest]
        elif not args:
            raise click.UsageError("name a trace to open, or a command", ctx)
        return super().parse_args(ctx, [*args[:lead], *rest])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.commands if name != DEFAULT]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, f"{DEFAULT} [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = _records(self.get_params(ctx), ctx)
        opening = {name: text for name, text in _records(self.commands[DEFAULT].params, ctx).items() if name not in own}
        with formatter.section(f"Options with {DEFAULT}"):
            formatter.write_dl(list(opening.items()))
        self.format_commands(ctx, formatter)
        with formatter.section("Other options"):
            formatter.write_dl(list(own.items()))


def _records(params: Sequence[click.Parameter], context: click.Context) -> dict[str, str]:
    """Name and help text of each option."""
    found = (param.get_help_record(context) for param in params if isinstance(param, click.Option))
    return dict(record for record in found if record)
