"""The known answers that the page cannot judge as the command line does, each with the reason."""

from __future__ import annotations

from typing import Final

NUMPY: Final = "NumPy is not there when Python runs in the page"
"""What the page says where an answer imports it."""


def _torch(name: str) -> str:
    return f"{name} is not among the operations of torch that there are in the page"


ELSEWHERE: Final = {
    ("dynamic_loss_scale", "right/numpy_arrays"): NUMPY,
    ("dynamic_loss_scale", "right/numpy_scalars"): NUMPY,
    ("dynamic_loss_scale", "right/single_precision"): NUMPY,
    ("dynamic_loss_scale", "wrong/array_of_ints"): NUMPY,
    ("dynamic_loss_scale", "wrong/scale_in_half"): NUMPY,
    ("dynamic_loss_scale_fp32", "right/numpy_arrays"): NUMPY,
    ("dynamic_loss_scale_fp32", "right/numpy_singles"): NUMPY,
    ("grad_scaler_step", "right/numpy_arrays"): NUMPY,
    ("grad_scaler_step", "wrong/reads_memory_in_order"): _torch("Tensor.as_strided"),
    ("largest_safe_scale", "right/frexp"): _torch("torch.linalg"),
    ("largest_safe_scale", "right/numpy_arrays"): NUMPY,
    ("largest_safe_scale", "wrong/returns_a_numpy_float"): _torch("Tensor.numpy"),
    ("master_weight_step", "right/numpy_arrays"): NUMPY,
    ("master_weight_step", "right/sgd"): _torch("torch.nn"),
    ("stochastic_round_bf16", "right/neighbors"): _torch("torch.nextafter"),
    ("stochastic_round_bf16", "right/numpy_words"): NUMPY,
    ("stochastic_round_bf16", "wrong/draws_for_itself"): _torch("torch.Generator"),
    ("underflow_report", "right/exponents_by_frexp"): _torch("torch.frexp"),
    ("underflow_report", "right/numpy_arrays"): NUMPY,
    ("underflow_report", "right/recursive_sum"): _torch("torch.searchsorted"),
}
"""What says that it needs more than there is in the page, and where it runs."""

ENDLESS: Final = frozenset(
    {
        ("decode_float16", "wrong/leaves_out_the_last_of_each"),
        ("dynamic_loss_scale", "wrong/adds_lists"),
        ("dynamic_loss_scale", "wrong/adds_to_the_skipped"),
        ("dynamic_loss_scale", "wrong/asks_if_it_is_new"),
        ("dynamic_loss_scale", "wrong/exact_fractions"),
        ("dynamic_loss_scale", "wrong/looks_back_every_time"),
        ("dynamic_loss_scale_fp32", "wrong/copies_the_list"),
    }
)
"""What the command line ends by its limits on time and memory. The page's clock is not in Python: tests of the page
try it."""
