"""``make bench``: run every measurement, print a table, leave ``build/bench.json``.

``python -m bench grading scale`` runs those alone that are named; ``python -m bench --help`` lists them.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from bench import machine, results
from bench.dask import dask
from bench.grading import grading
from bench.isolation import isolation
from bench.notebook import notebook
from bench.page import pages
from bench.scale import scale, twenty_thousand
from bench.stall import stall
from bench.start import start
from bench.timing import Line, Skipped

Measurement: TypeAlias = Callable[[], Iterator[Line | Skipped]]
_SIZE: Final = 2_000
LARGE: Final = 20_000
_ASKED_FOR: Final = ("twenty_thousand",)
"""Runs only when it is named: it takes from ten minutes to half an hour."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, each thing against another.")
    parser.add_argument(
        "--size",
        type=int,
        default=_SIZE,
        metavar="N",
        help=f"submissions of the large class of `scale`; {_SIZE:,} if not given",
    )
    parser.add_argument("--keep", action="store_true", help=f"put what is measured into {results.KEPT}, too")
    known = measurements(_SIZE)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)}; all but the last if none")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"there is no measurement {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    names = options.names or [name for name in known if name not in _ASKED_FOR]
    here = machine.here_and_now()
    print(f"{here.text()}\n", flush=True)
    lines: list[Line | Skipped] = []
    for name in names:
        for line in measurements(options.size)[name]():
            lines.append(line)
            print(line.text(), flush=True)
        # After each, so that an interruption costs one measurement.
        results.write(results.LATEST, here, lines)
        if options.keep:
            results.keep(results.KEPT, here, lines)
    measured = [line for line in lines if isinstance(line, Line)]
    missed = [line.name for line in measured if not line.holds]
    not_met = f"; not: {', '.join(missed)}" if missed else ""
    print(f"\n{len(measured) - len(missed)} of {len(measured)} targets hold{not_met}.")


def measurements(size: int) -> Mapping[str, Measurement]:
    """Return every measurement by name, in the order in which they run."""
    return {
        "grading": grading,
        "isolation": isolation,
        "scale": functools.partial(scale, size),
        "stall": stall,
        "dask": dask,
        "notebook": notebook,
        "start": start,
        "pages": pages,
        "twenty_thousand": functools.partial(twenty_thousand, LARGE),
    }


if __name__ == "__main__":
    main()
