"""What the wrong elements of an output have in common: by what they differ, and where they are."""

import numpy as np

from ..launches import Out
from . import elsewhere, matrices, places, rules, sums
from .elements import Wrong

__all__ = ["in_common"]

WAYS = (
    rules.on_bools,
    rules.on_before,
    rules.on_zeros,
    rules.on_wrapping,
    rules.on_narrow_inputs,
    rules.on_rows_alike,
    elsewhere.on_moved,
    sums.on_counts,
    rules.on_times_added,
    rules.on_formulas,
    elsewhere.on_choice,
    rules.on_one_factor,
    rules.on_one_offset,
    rules.on_one_value,
    sums.on_sums,
    matrices.on_products,
    matrices.on_a_vector,
    elsewhere.on_neighbours,
    elsewhere.on_pairs,
    elsewhere.on_an_input,
    rules.on_row_factors,
    rules.on_powers,
    rules.on_digits,
    places.on_limits,
    places.on_places,
    places.on_some_zeros,
)


def in_common(got: np.ndarray, out: Out, is_wrong: np.ndarray, arguments: list) -> str:
    """In words, or ""; got, is_wrong: as flat arrays; arguments: of the launch, arrays behind maps
    among them."""
    found = Wrong(got, out, is_wrong, arguments)
    with np.errstate(all="ignore"):
        return next(filter(None, (way(found) for way in WAYS)), "")
