"""Options and arguments of the commands: what they say and take stands in ``options.toml``."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, TypeVar, get_origin

import typer
from typing_extensions import override

from scbench.base import __version__
from scbench.base.data import packaged_toml

# Forms of the scores of a run.
ScoreForm = Literal["table", "json", "csv", "markdown"]
# Forms of an analysis: three for people, three for programs.
TableForm = Literal["table", "markdown", "latex", "csv", "json", "parquet"]
# Forms of a list of tasks, and of the scores of a submission.
ListForm = Literal["table", "markdown", "json"]
# Settings that files of other programs are of, and items are shown in.
ToolSetting = Literal["no_tools", "tools"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def descriptions() -> dict[str, Any]:
    """Return the tables of ``options.toml``."""
    return packaged_toml("scbench.cli", "options.toml")


def described(function: _Function) -> _Function:
    """Describe the parameters of a command, but those that carry their description themselves.

    A parameter without a default is an argument unless the description names it; one with a default
    is an option unless the description says otherwise.
    """
    modules = descriptions()
    module = modules.get(function.__module__.rpartition(".")[2], {})
    texts = (
        modules["shared"] | module.get("shared", {}) | module.get(function.__name__, {})
    )
    for name, parameter in signature(function).parameters.items():
        if (
            get_origin(parameter.annotation) is Annotated
            or parameter.annotation is typer.Context
        ):
            continue
        text = texts[name]
        settings = {"help": text} if isinstance(text, str) else dict(text)
        names = settings.pop("names", ())
        required = parameter.default is Parameter.empty and not names
        make = typer.Argument if settings.pop("argument", required) else typer.Option
        described_type = Annotated[parameter.annotation, make(*names, **settings)]  # type: ignore[name-defined]
        function.__annotations__[name] = described_type
    return function


class Commands(typer.Typer):
    """Commands with the options and arguments that ``options.toml`` describes."""

    def __init__(self, group: str | None = None, **settings: Any) -> None:  # noqa: ANN401
        text = {"help": descriptions()["groups"][group]} if group else {}
        super().__init__(rich_markup_mode=None, **text, **settings)

    @override
    def command(self, *names: Any, **settings: Any) -> Callable[[_Function], _Function]:
        register = super().command(*names, **settings)
        return lambda function: register(described(function))


def _show_version(value: bool) -> None:
    if value:
        print(f"scbench {__version__}")  # noqa: T201
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=_show_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
]
