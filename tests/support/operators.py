"""How to draw inputs and attributes for every operator of the table.

`CASES` has one entry for each operator; a test fails for an operator that has none, so nobody adds
one that the laws do not run over.
"""

from __future__ import annotations

import algebra
import creation
import elementwise
import layers
import layout
import many_steps
import networks
import recurrence
import reductions
import steps
import vision

CASES = {}
for _part in (
    algebra,
    creation,
    elementwise,
    layers,
    layout,
    networks,
    recurrence,
    reductions,
    steps,
    vision,
):
    if _both := CASES.keys() & _part.CASES.keys():
        raise ValueError(f"operators with two entries: {sorted(_both)}")
    CASES.update(_part.CASES)

#: what is compared with MXNet; some steps are drawn otherwise than for the laws
COMPARED = {**CASES, **many_steps.CASES}

#: operators that the laws cannot make cases of, and where they are tested
ELSEWHERE = {
    "Custom": "tests/test_operator.py: what it does is written by users",
    **vision.ELSEWHERE,
    **algebra.ELSEWHERE,
    **recurrence.ELSEWHERE,
}

#: operators that only appear in the gradients of others, whose laws they are seen through
PARTS_OF_GRADIENTS = (
    frozenset(
        "_basic_index _basic_index_grad _boolean_mask_grad _cast_like _concat_grad "
        "_count_sketch_grad _ctc_grad _dense_zeros _diag_grad _dot_lhs_grad _dot_rhs_grad "
        "_embedding_grad _fully_connected_data_grad _fully_connected_weight_grad "
        "_fully_connected_weight_grad_like _gather_index _gather_index_grad _gather_nd_grad "
        "_grad_add _grad_mul _heads_into _heads_of _khatri_rao_part _leaky_slopes "
        "_linalg_cofactors _linalg_dot _linalg_folded _linalg_inverse_gaps _linalg_mirror "
        "_linalg_scaled _linalg_transposed _linalg_triangle _make_loss_grad _one_hot_like "
        "_other_products _pad_grad _pdf_possible _pdf_spread _pdf_spread_rows _pdf_sum "
        "_pdf_sum_rows _pick_drawn _pick_grad _polygamma _prelu_gamma_grad _put_along "
        "_put_drawn _regression_grad _repeat_grad _retain_grad _rnn_data_grad _rnn_grad "
        "_rows_copied _rows_dot _rows_of _sequence_last_grad _slice_axis_grad "
        "_slice_like_grad _softmax_output_grad _softrelu _spread_along_last _spread_like "
        "_spread_mean _spread_reduced _square_sum_grad _sum_rows _sum_to _svm_output_grad "
        "_take_along _take_grad _tie_weights _tile_grad _where_grad".split()
    )
    | vision.PARTS_OF_GRADIENTS
    | layers.PARTS_OF_GRADIENTS
)
