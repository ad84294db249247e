"""The command line: arguments -> one call -> exit status.

torch is imported only by what needs it, so that ``--help`` and usage errors answer at once.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, TypeVar

import typer
from typer.core import TyperGroup

from autograder.errors import HALTED, INTERRUPTED_TEXT, NOTHING_GRADED
from autograder.halting import halting, status_of
from autograder.report.untrusted import MESSAGE, one_line, visible


class _Commands(TyperGroup):
    """Commands that end in one way from outside, and whose usage errors show an argument and do not obey it.

    A shell's ``*`` may hand us a file's name.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _shown():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        with _shown(), halting():
            try:
                return super().invoke(*args, **kwargs)
            except KeyboardInterrupt as error:
                _end(INTERRUPTED_TEXT, error)


@contextlib.contextmanager
def _shown() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the class of usage errors is no public name of typer's; their message is
        if isinstance(message := getattr(error, "message", None), str):
            error.message = one_line(message, MESSAGE)  # type: ignore[attr-defined]
        raise


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Half Precision, Whole Gradients: grade the exercises of the book.\n\n"
    "Exit statuses are in each command's --help. A fault of the grader's own ends with 1 and a traceback.",
)
reference_app = typer.Typer(no_args_is_help=True, help="Record what the reference does, and compare with records.")
app.add_typer(reference_app, name="reference")

COLLECTED: Final = Path("build/course/submitted")
"""Where nbgrader puts a class that it collects."""
_Run = TypeVar("_Run", bound=Callable[..., None])
WAIT_SECONDS: Final = 30.0
"""For a first worker of a cluster."""
Seed = Annotated[int | None, typer.Option("--seed", help="Draw the random cases from this number.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")]
Slugs = Annotated[list[str] | None, typer.Argument(help="Exercises; all of them when none is named.")]
Unconfined = Annotated[
    bool, typer.Option("--unconfined", help="Run submissions without walls. Only for code that you trust.")
]


def main() -> None:
    """Run the command line; a fault of ours ends it with a traceback, in which no text of a submission is obeyed."""
    try:
        app(prog_name="autograder")
    except Exception:
        print(visible(traceback.format_exc()), end="", file=sys.stderr)
        raise SystemExit(1) from None


def fail(message: str) -> NoReturn:
    """Say in one line on stderr why nothing was done, and exit with status 2."""
    print(f"autograder: {one_line(' '.join(message.split()), MESSAGE)}", file=sys.stderr)
    raise typer.Exit(2)


def _end(message: str, error: BaseException) -> NoReturn:
    with contextlib.suppress(OSError):  # the terminal is gone
        print(f"autograder: {message}", file=sys.stderr)
    raise typer.Exit(status_of(error)) from None


def _command(into: typer.Typer, statuses: str, name: str | None = None) -> Callable[[_Run], _Run]:
    """Add a command, whose ``--help`` is its docstring and all exit statuses: its own and those of every command."""

    def add(function: _Run) -> _Run:
        return into.command(name, help=f"{function.__doc__}\n\nExit status: {statuses}; {HALTED}.")(function)

    return add


@_command(app, "0 full marks; 1 graded with less; 2 could not be graded, one sentence says why")
def check(
    file: Annotated[Path, typer.Argument(help="A notebook (.ipynb) or a Python file (.py).")],
    exercise: Annotated[str | None, typer.Option("--exercise", help="Which exercise it answers.")] = None,
    as_json: Json = False,
    seed: Seed = None,
) -> None:
    """Grade one file and show the feedback."""
    from autograder.commands import check as command

    raise typer.Exit(command.run(file, exercise, as_json=as_json, seed=seed))


@_command(
    app,
    "0 all graded, whatever the marks; 1 some could not be, each named; 2 it could not begin, or not go on, one "
    "sentence says why",
)
def grade(
    submissions: Annotated[
        Path, typer.Argument(help="A tree <student>/<exercise>/<exercise>.ipynb (or .py, or one notebook of any name).")
    ] = COLLECTED,
    out: Annotated[Path, typer.Option("--out", help="Where gradebook, feedback and grades.csv go.")] = Path(
        "build/course"
    ),
    gradebook: Annotated[
        str,
        typer.Option(
            "--gradebook",
            envvar="AUTOGRADER_GRADEBOOK",
            help="SQLAlchemy URL, as postgresql+psycopg://USER@HOST/NAME; gradebook.db under --out when not given.",
        ),
    ] = "",
    workers: Annotated[
        int,
        typer.Option(
            "--workers", min=0, help="Grading processes, at most; one a core when 0, never above 4 a core (or 8)."
        ),
    ] = 0,
    seed: Seed = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is unchanged.")] = False,
    as_json: Json = False,
    progress: Annotated[bool, typer.Option("--progress", help="Show progress although stderr is no terminal.")] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            "--skip",
            help="Leave out students whose name fits this pattern, also of grades.csv and the report. Their marks stay "
            "in the gradebook; they are graded again when no longer skipped.",
        ),
    ] = None,
    unconfined: Unconfined = False,
    book: Annotated[
        str, typer.Option("--book", help="Where pages link to: an address or a path under --out; the site's if empty.")
    ] = "",
    no_feedback: Annotated[
        bool, typer.Option("--no-feedback", help="Make no feedback pages; those of unchanged work stay.")
    ] = False,
    scheduler: Annotated[
        str, typer.Option("--scheduler", help="Grade on a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT.")
    ] = "",
    wait: Annotated[
        float | None,
        typer.Option("--wait", min=0, help="With --scheduler: seconds to wait for a worker to come; 30 if not given."),
    ] = None,
    tls_ca: Annotated[
        str, typer.Option("--tls-ca", metavar="FILE", help="With tls://: who signed; Dask's configuration if empty.")
    ] = "",
    tls_cert: Annotated[str, typer.Option("--tls-cert", metavar="FILE", help="With tls://: our certificate.")] = "",
    tls_key: Annotated[str, typer.Option("--tls-key", metavar="FILE", help="With tls://: its key.")] = "",
) -> None:
    """Grade a class. What ends half-way keeps what it graded, and says so; the same command goes on from there."""
    try:
        from autograder.commands import grade as command
    except KeyboardInterrupt as error:
        _end(NOTHING_GRADED, error)
    if submissions == COLLECTED and not submissions.exists():
        fail(
            f"{submissions}: there is no such folder, for nbgrader has collected no class; name the folder of yours, "
            "which holds <student>/<exercise>/<exercise>.ipynb: autograder grade FOLDER (the sample class is "
            "examples/submissions)"
        )
    patience = WAIT_SECONDS if wait is None else wait
    cluster = command.ClusterOptions(scheduler, patience, tls_ca, tls_cert, tls_key) if scheduler else None
    if cluster is None and (tls_ca or tls_cert or tls_key):
        fail("--tls-ca, --tls-cert and --tls-key are for --scheduler tls://HOST:PORT, which was not given")
    if cluster is None and wait is not None:
        fail("--wait is for --scheduler, which was not given")
    options = command.Options(
        submissions,
        out,
        gradebook,
        workers,
        seed,
        force,
        as_json,
        progress,
        tuple(skip or ()),
        unconfined,
        book,
        not no_feedback,
        cluster,
    )
    raise typer.Exit(command.run(options))


@_command(app, "0 done; 1 with --check, something is not current; 2 it could not be done, one sentence says why")
def release(
    slugs: Slugs = None,
    check_only: Annotated[bool, typer.Option("--check", help="Write nothing; say what is not current.")] = False,
) -> None:
    """Write student notebooks, nbgrader source notebooks and recorded expectations."""
    from autograder.commands import release as command

    raise typer.Exit(command.run(slugs or [], check_only=check_only))


@_command(app, "0 it does; 1 it does not; 2 it could not be told, one sentence says why")
def prove(
    slugs: Slugs = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds the verdicts must agree over.")] = 100,
    stock: Annotated[str, typer.Option("--stock", help="Compare with nbgrader itself: none, some, all.")] = "some",
) -> None:
    """Prove that every exercise folder keeps its promises."""
    from autograder.commands import prove as command

    if stock not in ("none", "some", "all"):
        fail(f"--stock is {stock!r}; choose none, some or all")
    raise typer.Exit(command.run(slugs or [], seeds=seeds, stock=stock))


@_command(app, "0 fit to grade untrusted work; 1 not; 2 usage error")
def doctor(as_json: Json = False) -> None:
    """Show what this machine offers."""
    from autograder.commands import doctor as command

    raise typer.Exit(command.run(as_json=as_json))


Device = Annotated[str, typer.Option("--device", help="cuda or cpu; CUDA where there is one when not given.")]


@_command(reference_app, "0 done; 2 no such device or exercise, one sentence says which", "record")
def reference_record(slugs: Slugs = None, device: Device = "") -> None:
    """Record traces of the live reference, with where they came from."""
    from autograder.commands import reference as command

    raise typer.Exit(command.record(slugs or [], device))


@_command(reference_app, "0 equal; 1 they differ; 2 no such device or exercise, one sentence says which", "verify")
def reference_verify(slugs: Slugs = None, device: Device = "") -> None:
    """Compare the live reference with recorded traces."""
    from autograder.commands import reference as command

    raise typer.Exit(command.verify(slugs or [], device))
