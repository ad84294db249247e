"""What the decoders are tried on: things near to what they expect, and things far from it."""

from __future__ import annotations

import json
import struct
from typing import Any

from hypothesis import strategies as st

from autograder import catalog
from autograder.notebooks import submission_notebook

STEP = catalog.load("grad_scaler_step")
GOOD = submission_notebook(STEP, STEP.solution)
TEXT = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        (
            "",
            "\0",
            "\ud800",
            "\x1b[2J",
            "a\nb",
            "<b>",
            "code",
            "grad_scaler_step_solution",
            "x" * 700,
            "\u2028",
            "\u202e",
        )
    ),
)
NUMBERS = st.one_of(
    st.integers(), st.floats(), st.sampled_from((2**63, 2**63 - 1, -(2**63), 10**30, 0, -1, 1e308, True, False))
)
ATOMS = st.one_of(st.none(), NUMBERS, TEXT)


def nested(keys: st.SearchStrategy[str], leaves: st.SearchStrategy[Any] = ATOMS) -> st.SearchStrategy[Any]:
    """Return JSON with these keys."""
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4))


# -------------------------------------------------------------------------- notebooks

NOTEBOOK_KEYS = st.sampled_from(
    ("cells", "metadata", "nbgrader", "grade_id", "solution", "grade", "cell_type", "source", "nbformat", "outputs",
     "id",
     "worksheets", "attachments", "locked", "points")
)  # fmt: skip
ANY = nested(NOTEBOOK_KEYS | TEXT)
MARK = st.fixed_dictionaries(
    {},
    optional={
        "grade_id": st.sampled_from((f"{STEP.slug}_solution", *(check.id for check in STEP.checks))) | ANY,
        "solution": st.booleans() | ANY, "grade": st.booleans() | ANY, "cell_type": ANY, "locked": ANY, "points": ANY,
    },
)  # fmt: skip
CELL = st.fixed_dictionaries(
    {
        "cell_type": st.sampled_from(("code", "markdown", "raw")) | ANY,
        "source": TEXT | st.lists(TEXT | ATOMS, max_size=4) | ANY,
    },
    optional={
        "metadata": st.fixed_dictionaries({"nbgrader": MARK | ANY}) | ANY,
        "outputs": ANY,
        "id": ANY,
        "attachments": ANY,
    },
)
NOTEBOOK = st.fixed_dictionaries(
    {"cells": st.lists(CELL | ANY, max_size=6) | ANY},
    optional={"metadata": ANY, "nbformat": NUMBERS | ANY, "nbformat_minor": ANY, "worksheets": ANY},
)
AS_BYTES = NOTEBOOK.map(lambda notebook: json.dumps(notebook).encode())


@st.composite
def changed(draw: st.DrawFn, data: bytes) -> bytes:
    """Return the bytes with a few places replaced by others."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from((0, 1, 2, 8, 100, 10_000))))
        put = draw(
            st.binary(max_size=8)
            | st.sampled_from((b"[", b"{", b'"', b"\\ud800", b"\\u0000", b"null", b"9" * 5000, b"NaN"))
        )
        data = data[:start] + put + data[end:]
    return data


NOTEBOOKS = st.one_of(AS_BYTES, changed(GOOD.encode()), AS_BYTES.flatmap(changed), st.binary(max_size=300))

# ----------------------------------------------------------------------- observations

FORM_KEYS = st.sampled_from(
    ("outcomes", "returned", "after", "later", "raised", "output", "ended", "detail", "whole", "tensor", "shape",
     "data", "dict", "kept", "cycle", "count", "first", "steps",
     "tuple", "runs", "b64", "as", "scalars", "scalar", "value", "opaque", "f", "library", "strided", "share", "grads")
)  # fmt: skip
LOOSE = nested(FORM_KEYS)
DTYPE = st.sampled_from(("float32", "float64", "float16", "bfloat16", "int64", "bool", "complex64", ""))
FLOAT = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    ({"f": "nan"}, {"f": "inf"}, {"f": "-inf"}, -0.0, 1, True)
)
PACKED = st.one_of(
    st.lists(FLOAT, max_size=5),
    st.fixed_dictionaries({"runs": st.lists(st.tuples(FLOAT | LOOSE, st.integers(0, 10**9)).map(list), max_size=3)}),
    st.fixed_dictionaries({"cycle": st.lists(FLOAT | LOOSE, max_size=3), "count": st.integers(-1, 10**9)}),
    st.fixed_dictionaries(
        {
            "first": st.integers(-(2**63), 2**63),
            "steps": st.lists(st.tuples(st.integers(-3, 2**62), st.integers(0, 40)).map(list), max_size=3).map(
                lambda runs: {"runs": runs}
            )
            | LOOSE,
        }
    ),
    st.fixed_dictionaries(
        {
            "b64": st.sampled_from(("", "AAAAAAAA8D8=", "AQE=", "!", "AAAA")) | TEXT,
            "as": st.sampled_from(("d", "q", "?", "e", "H", "x")),
        }
    ),
)
TENSOR = st.fixed_dictionaries(
    {
        "tensor": DTYPE,
        "shape": st.lists(st.integers(0, 3) | st.sampled_from((2**62, -1)), max_size=3) | LOOSE,
        "data": PACKED | LOOSE,
    },
    optional={"library": st.sampled_from(("torch", "numpy", "x")), "strided": st.booleans(), "share": TEXT},
)
VECTOR = st.lists(FLOAT, max_size=4).map(lambda items: {"tensor": "float32", "shape": [len(items)], "data": items})
NAMES = st.sampled_from(("scales", "skipped", "final_scale", "grads", "overflows"))
VALUE = st.recursive(
    st.one_of(ATOMS, FLOAT, TENSOR, VECTOR, st.fixed_dictionaries({"scalar": DTYPE, "value": FLOAT | LOOSE}),
              st.tuples(TEXT, TEXT).map(lambda pair: {"opaque": list(pair)}), LOOSE),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, min_size=2, max_size=2).map(lambda pair: {"tuple": pair}),
        st.dictionaries(NAMES | TEXT, inner, max_size=3).map(
            lambda items: {"dict": items}
        ),
        st.fixed_dictionaries({"tuple": PACKED}),
        st.fixed_dictionaries({"scalars": DTYPE, "data": PACKED}),
    ),
    max_leaves=8,
)  # fmt: skip
RAISED = (
    st.tuples(TEXT, TEXT, st.none() | st.integers(-1, 2**40), st.none() | st.integers(-1, 2**40), TEXT).map(list)
    | LOOSE
)
OUTCOME = st.one_of(
    st.fixed_dictionaries(
        {"returned": VALUE, "after": st.dictionaries(TEXT | FORM_KEYS, VALUE, max_size=3)},
        optional={"later": VALUE, "kept": VALUE},
    ),
    st.fixed_dictionaries({"raised": RAISED}),
    LOOSE,
)
OBSERVATIONS = st.one_of(
    st.fixed_dictionaries({"outcomes": st.lists(OUTCOME, min_size=1, max_size=2)}, optional={"output": TEXT}),
    st.fixed_dictionaries(
        {"outcomes": st.lists(OUTCOME, max_size=2) | LOOSE}, optional={"output": LOOSE, "ended": TEXT, "whole": LOOSE}
    ),
    LOOSE,
)
CLAIMS = st.tuples(OBSERVATIONS, st.integers(0, 10**6))
REPORTS = st.one_of(
    st.fixed_dictionaries(
        {"loaded": st.fixed_dictionaries({
            "defined": st.booleans() | LOOSE, "callable": st.booleans() | LOOSE,
            "errors": st.lists(RAISED, max_size=3) | LOOSE,
            "notes": st.lists(TEXT, max_size=3) | LOOSE, "output": TEXT | LOOSE,
        })}
    ),
    LOOSE,
)  # fmt: skip

# ----------------------------------------------------------------------------- frames


def frame(data: bytes) -> bytes:
    """Return the bytes as a frame."""
    return struct.pack(">I", len(data)) + data


JSON_BYTES = (OBSERVATIONS | REPORTS).map(lambda message: json.dumps(message).encode())
FRAMES = st.one_of(
    JSON_BYTES.map(frame),
    JSON_BYTES.flatmap(changed).map(frame),
    st.binary(max_size=200),
    st.binary(max_size=200).map(frame),
    JSON_BYTES.map(frame).flatmap(changed),
    st.sampled_from(
        (b"[" * 5000, b'{"a":' * 5000, b"9" * 5000, b"1e999", b"NaN", b'"\\ud800"', b"\xed\xa0\x80", b'"\xed\xa0\x80"')
    ).map(frame),
)
