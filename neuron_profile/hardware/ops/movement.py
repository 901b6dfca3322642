"""Operators that only move data, and those that move nothing at all."""

from __future__ import annotations

from neuron_profile.hardware.call import Call
from neuron_profile.hardware.rule import Rule, Traffic

# Results that alias an input in torch's registered schemas.
_VIEWS = """
    _conj _fw_primal _indices _make_dual _neg_view _nested_get_values _nested_view_from_buffer
    _nested_view_from_jagged _reshape_alias _unsafe_view _values adjoint alias as_strided atleast_1d atleast_2d
    atleast_3d broadcast_tensors broadcast_to ccol_indices chunk coalesce col_indices conj crow_indices detach
    diagonal dsplit expand expand_as flatten hsplit imag indices lift lift_fresh linalg_diagonal mH mT matrix_H
    moveaxis movedim narrow numpy_T permute positive ravel real reshape reshape_as resolve_conj resolve_neg
    row_indices select slice split split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind
    unfold unflatten unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze values view view_as view_as_complex
    view_as_real view_dtype vsplit
"""
# Memory taken without being written, or a tensor given other memory.
_ALLOCATIONS = """
    empty empty_like empty_permuted empty_quantized empty_strided new_empty new_empty_strided resize resize_as set
    _resize_output _efficientzerotensor
"""
_QUESTIONS = """
    size sym_size stride sym_stride numel sym_numel storage_offset sym_storage_offset dim is_contiguous is_pinned
    is_same_size is_floating_point is_complex is_conj is_neg is_nonzero is_set_to is_inference is_leaf item
    result_type can_cast promote_types output_nr requires_grad retain_grad record_stream _version
    _debug_has_internal_overlap _has_compatible_shallow_copy_type _fused_sdp_choice _use_cudnn_ctc_loss
    _is_zerotensor _nnpack_available cudnn_is_acceptable _assert_async _assert_tensor_metadata _assert_scalar
    _functional_assert_async
"""
# These move data by calling another operator, which is recorded itself, or not at all (`to` the same type).
_WRAPPERS = """
    to contiguous clone _to_copy type_as float half double cpu cuda pin_memory _pin_memory
    _autocast_to_full_precision _autocast_to_reduced_precision dropout feature_dropout alpha_dropout expand_copy
    narrow_copy zeros zeros_like new_zeros ones ones_like new_ones full full_like new_full rand rand_like randn
    randn_like scalar_tensor repeat repeat_interleave tile
"""
MOVES_NOTHING = frozenset((_VIEWS + _ALLOCATIONS + _QUESTIONS + _WRAPPERS).split())


def _copy(call: Call) -> Traffic | None:
    """copy_(self, src): src is read, self is written."""
    target, source = call.tensor(0), call.tensor(1)
    return None if target is None or source is None else Traffic(source.nbytes, target.nbytes)


def _join(call: Call) -> Traffic | None:
    whole = sum(t.nbytes for t in call.list(0))
    return Traffic(whole, whole) if call.list(0) else None


def _scalar(call: Call) -> Traffic | None:
    source = call.tensor(0)
    return None if source is None else Traffic(source.itemsize, 0)


RULES: dict[str, Rule] = {
    "copy": Rule("copy", _copy, None, "the source read once, the target written once"),
    **dict.fromkeys(
        ("cat", "concat", "stack", "_cat"), Rule("copy", _join, None, "every part read once, the whole written once")
    ),
    "_local_scalar_dense": Rule("copy", _scalar, None, "one element read"),
}
