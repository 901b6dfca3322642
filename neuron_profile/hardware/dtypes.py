"""Bytes of one element of each element type, by the names under which Kineto records it."""

from __future__ import annotations

# torch writes the demangled C++ name of the element type (caffe2::TypeMeta::name), which differs between
# compilers: "long int" (gcc), "long" (clang), "__int64" (MSVC). Sizes: c10/core/ScalarType.h.
ITEMSIZE: dict[str, int] = {
    "float": 4,
    "double": 8,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "bool": 1,
    "unsigned char": 1,
    "signed char": 1,
    "char": 1,
    "short": 2,
    "short int": 2,
    "int": 4,
    "long": 8,
    "long int": 8,
    "long long": 8,
    "long long int": 8,
    "__int64": 8,
    "unsigned short": 2,
    "short unsigned int": 2,
    "unsigned int": 4,
    "unsigned long": 8,
    "long unsigned int": 8,
    "unsigned long long": 8,
    "unsigned __int64": 8,
    "c10::complex<c10::Half>": 4,
    "c10::complex<float>": 8,
    "c10::complex<double>": 16,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e4m3fnuz": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float8_e5m2fnuz": 1,
    "c10::Float8_e8m0fnu": 1,
    "c10::Float4_e2m1fn_x2": 1,
    "c10::qint8": 1,
    "c10::quint8": 1,
    "c10::qint32": 4,
}

# By what name a peak is published for each element type that devices compute with; others have none.
COMPUTE_TYPE: dict[str, str] = {
    "double": "fp64",
    "float": "fp32",
    "c10::Half": "fp16",
    "c10::BFloat16": "bf16",
    "c10::Float8_e4m3fn": "fp8",
    "c10::Float8_e4m3fnuz": "fp8",
    "c10::Float8_e5m2": "fp8",
    "c10::Float8_e5m2fnuz": "fp8",
    "c10::Float4_e2m1fn_x2": "fp4",
    "signed char": "int8",
    "char": "int8",
    "c10::qint8": "int8",
}

# The elements of a list of tensors have no recorded type; torch's default type (torch.get_default_dtype) is float.
ASSUMED_ITEMSIZE = 4

INDEX_BYTES = 8  # torch.int64, what argmax, topk, sort and max-pooling return
STATISTIC_BYTES = 4  # float32, in which norms and attention keep their statistics (at::toOpMathType)
