"""The emitter of filter programs, run on a machine that knows nothing of it."""

from __future__ import annotations

import machine
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox import bpf

words = st.integers(0, 2**32 - 1)


def result(code: bpf.Code, word: int) -> int:
    return machine.run(bpf.pack((*bpf.load(4), *code)), 0, word)


@given(st.dictionaries(words, words, max_size=400), words, st.data())
def test_a_lookup_finds_the_range_of_every_word(ranges: dict[int, int], first: int, data: st.DataObject) -> None:
    ranges[0] = first
    starts = sorted(ranges.items())
    code = bpf.lookup([(start, bpf.give(value)) for start, value in starts])
    edges = [word for start, _ in starts for word in (start, max(0, start - 1))]
    for word in [*data.draw(st.lists(st.sampled_from(edges), max_size=20)), data.draw(words)]:
        assert result(code, word) == [value for start, value in starts if start <= word][-1]


@given(st.sets(words, max_size=300), words)
def test_one_of_many_values_is_told_from_others(values: set[int], word: int) -> None:
    code = bpf.one_of(values, bpf.give(1), bpf.give(2))
    for tried in [word, *list(values)[:20]]:
        assert result(code, tried) == (1 if tried in values else 2)


@pytest.mark.parametrize("length", [1, bpf.FARTHEST, bpf.FARTHEST + 1, 1000])
def test_code_that_is_too_far_for_a_conditional_jump_is_reached(length: int) -> None:
    far = (*bpf.load(0) * (length - 1), *bpf.give(8))
    for test in (bpf.EQUAL, bpf.AT_LEAST):
        code = bpf.choose(test, 5, far, bpf.give(9))
        assert result(code, 5) == 8
        assert result(code, 4) == 9
        assert result(code, 6) == (9 if test == bpf.EQUAL else 8)


def test_what_is_packed_is_unpacked() -> None:
    code = (*bpf.load(0), *bpf.choose(bpf.EQUAL, 2**32 - 1, bpf.give(1), bpf.give(0)))
    assert bpf.unpack(bpf.pack(code)) == code


def test_a_program_that_the_kernel_would_not_take_is_refused() -> None:
    bpf.pack(bpf.give(0) * bpf.LONGEST)
    with pytest.raises(ValueError, match="4097 instructions"):
        bpf.pack(bpf.give(0) * (bpf.LONGEST + 1))
