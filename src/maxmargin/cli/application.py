"""The command as a whole: its name, its version, how it ends.

==========  ==========================================================================
exit code   meaning
==========  ==========================================================================
0           done
1           cannot be done: the data, the model file or this computer (the reason is said)
2           wrong use: an option, a value or a combination of options
3           done, but not proved: the solver stopped before `tol`, or a proof does not hold
130         stopped by Ctrl-C
141         nobody reads the output any more (`maxmargin … | head`)
==========  ==========================================================================
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import Thread
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command_from_info

from maxmargin import __version__
from maxmargin.cli.deferred import defer, without

REFUSED, WRONG_USE, NOT_PROVED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
WrongUse: Any = typer.BadParameter.__base__  # which typer has no name of its own for
# What a command may fail with that is not a mistake of ours: said in a line, without a traceback.
EXPECTED = (ValueError, TypeError, ImportError, OSError, MemoryError, RecursionError)


# The module of each command, in the order of the help; it adds the command to `app`.
MODULES = {
    "train": "train",
    "predict": "predict",
    "evaluate": "predict",
    "tune": "tune",
    "loo": "tune",
    "certify": "certify",
    "inspect": "inspect",
    "convert": "convert",
    "race": "race",
    "demo": "demo",
    "sample": "sample",
    "playground": "playground",
    "reproduce": "repository",
    "bench": "repository",
    "svm-train": "svm_train",
    "svm-predict": "svm_predict",
    "svm-scale": "svm_scale",
}


class Commands(TyperGroup):
    """The commands; errors, warnings, Ctrl-C and broken pipes end each of them alike.

    The module of a command is imported when it is called: nobody waits for the others.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            # For an unknown name typer suggests a similar one, so it needs all of them.
            _import([MODULES[cmd_name]] if cmd_name in MODULES else [*MODULES.values()])
            for info in app.registered_commands:
                made = get_command_from_info(
                    info, pretty_exceptions_short=True, rich_markup_mode="rich"
                )
                self.commands[str(made.name)] = made
        return super().get_command(ctx, cmd_name)

    def main(self, *args: Any, **options: Any) -> None:
        """Run, and exit; wrong use is said in two lines, without a frame around it."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except WrongUse as error:
            if not error.format_message():  # no command at all: the help
                error.show()
            else:
                path = error.ctx.command_path if error.ctx else "maxmargin"
                say(f"{path}: {' '.join(error.format_message().split())}", style="red")
                say(f"Its options: {path} --help")
            code = WRONG_USE
        sys.exit(code or 0)

    def invoke(self, ctx: Any) -> object:
        with ending_well():
            result: object = super().invoke(ctx)
            sys.stdout.flush()
            return result


def _import(modules: Sequence[str]) -> None:
    """Import modules of commands, as quickly as possible.

    Imported objects are never garbage: Python's collector does not look at them, now or later.
    """
    defer("scipy.stats", "gmean", "rankdata", "spearmanr")
    defer("scipy.interpolate", "BSpline")
    defer("scipy.optimize", "brentq", "minimize", "minimize_scalar")
    gc.disable()
    try:
        with without("pandas"):
            for module in modules:
                import_module(f"maxmargin.cli.{module}")
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def ending_well() -> Iterator[None]:
    """End with a message of a line or two and an exit code, not with a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("once")
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        warnings.showwarning = say_warning
        try:
            yield
        except BrokenPipeError:
            # The interpreter flushes standard output once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            say("Stopped by Ctrl-C.", style="yellow")
            raise typer.Exit(INTERRUPTED) from None
        except EXPECTED as error:
            raise refusal(_sentence(error)) from error


@contextmanager
def ending_at_once(*, keep: bool = False) -> Iterator[None]:
    """End the process at Ctrl-C without waiting for compiled code; exit code 130.

    Python handles a signal when its main thread comes back from compiled code, which may take
    minutes. Here a thread waits for the byte that Python writes when the signal arrives. With
    `keep` the first Ctrl-C is a KeyboardInterrupt, as usual, and the second one ends the process.
    A process that was started deaf to Ctrl-C, in the background of a script, stays so.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.SIG_IGN:
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def watch() -> None:
        kept = keep
        while signals := os.read(reading, 1):
            if signals[0] != signal.SIGINT:
                continue
            Console(stderr=True).show_cursor()  # which a live view hides
            if kept:
                kept = False
                say("Ctrl-C: making the model so far; once more ends at once.", style="yellow")
            else:
                say("Stopped by Ctrl-C.", style="yellow")
                os._exit(INTERRUPTED)
        os.close(reading)

    Thread(target=watch, daemon=True).start()
    if not keep:
        signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.set_wakeup_fd(writing)
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, usual)
        os.close(writing)


def refusal(message: str) -> typer.Exit:
    """Say the reason; returns the exception to raise."""
    say(message, style="red")
    return typer.Exit(REFUSED)


def require(command: str, install: str, *packages: str) -> None:
    """Refuse a command if a package is missing, and say what `pip install` gets it."""
    missing = [name for name in packages if not find_spec(name)]
    if missing:
        raise refusal(
            f"maxmargin {command} needs {' and '.join(missing)}. Install what it needs with: "
            f"pip install {install}"
        )


def say(message: str, style: str | None = None) -> None:
    """A line on standard error, where it does not disturb what a program reads."""
    Console(stderr=True).print(message, style=style, markup=False, highlight=False, soft_wrap=True)


def say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning without the place in our code it came from."""
    say(f"Warning: {' '.join(str(message).split())}", style="yellow")


def _sentence(error: BaseException) -> str:
    """The message of an error in at most two lines."""
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}"
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {error}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "\n".join(lines[:2]) or type(error).__name__


def examples(*commands: str) -> str:
    """The end of a command's help."""
    return "\n\n".join(["[bold]Examples[/bold]", *(f"  {command}" for command in commands)])


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog=examples(
        "maxmargin train iris.csv --holdout 0.2",
        "maxmargin predict iris.maxmargin new.csv",
        "maxmargin --install-completion",
    ),
)


def _print_version(show: bool) -> None:
    if show:
        typer.echo(f"maxmargin {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Kernel machines: exact, certified, fast, and readable.

    Exit codes: 0 done, 1 cannot be done, 2 wrong use, 3 done but not proved, 130 Ctrl-C.
    """
