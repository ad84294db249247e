"""Half Precision, Whole Gradients: the autograder.

``from autograder import check`` is what a notebook needs; everything else has a command.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.student import check as check

__version__ = "0.1.0"
__all__ = ["check"]


def __getattr__(name: str) -> Any:
    # Lazy, because the confined process and the command line import the package without needing the checks.
    if name == "check":
        from autograder.student import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
