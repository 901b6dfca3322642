from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Codec(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RAW: _ClassVar[Codec]
    ZSTD: _ClassVar[Codec]

class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TYPE_UNSPECIFIED: _ClassVar[Type]
    BOOL: _ClassVar[Type]
    U8: _ClassVar[Type]
    U32: _ClassVar[Type]
    I32: _ClassVar[Type]
    I64: _ClassVar[Type]
    U64: _ClassVar[Type]
    F64: _ClassVar[Type]

class Transform(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONSTANT: _ClassVar[Transform]
    PLAIN: _ClassVar[Transform]
    SPLIT: _ClassVar[Transform]
    DELTA: _ClassVar[Transform]
RAW: Codec
ZSTD: Codec
TYPE_UNSPECIFIED: Type
BOOL: Type
U8: Type
U32: Type
I32: Type
I64: Type
U64: Type
F64: Type
CONSTANT: Transform
PLAIN: Transform
SPLIT: Transform
DELTA: Transform

class Trace(_message.Message):
    __slots__ = ("magic", "header", "strings", "stacks", "arg_sets", "blocks", "metadata", "index", "index_offset")
    MAGIC_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    STACKS_FIELD_NUMBER: _ClassVar[int]
    ARG_SETS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INDEX_OFFSET_FIELD_NUMBER: _ClassVar[int]
    magic: int
    header: Header
    strings: _containers.RepeatedCompositeFieldContainer[Values]
    stacks: _containers.RepeatedCompositeFieldContainer[Values]
    arg_sets: _containers.RepeatedCompositeFieldContainer[Values]
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    metadata: _containers.RepeatedCompositeFieldContainer[Metadata]
    index: Index
    index_offset: int
    def __init__(self, magic: _Optional[int] = ..., header: _Optional[_Union[Header, _Mapping]] = ..., strings: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., stacks: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., arg_sets: _Optional[_Iterable[_Union[Values, _Mapping]]] = ..., blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ..., metadata: _Optional[_Iterable[_Union[Metadata, _Mapping]]] = ..., index: _Optional[_Union[Index, _Mapping]] = ..., index_offset: _Optional[int] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("major", "minor", "created_by", "crc32")
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    MINOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    major: int
    minor: int
    created_by: str
    crc32: int
    def __init__(self, major: _Optional[int] = ..., minor: _Optional[int] = ..., created_by: _Optional[str] = ..., crc32: _Optional[int] = ...) -> None: ...

class Values(_message.Message):
    __slots__ = ("first_id", "count", "lengths", "data", "raw_size", "codec", "crc32")
    FIRST_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LENGTHS_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    RAW_SIZE_FIELD_NUMBER: _ClassVar[int]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    first_id: int
    count: int
    lengths: bytes
    data: bytes
    raw_size: int
    codec: Codec
    crc32: int
    def __init__(self, first_id: _Optional[int] = ..., count: _Optional[int] = ..., lengths: _Optional[bytes] = ..., data: _Optional[bytes] = ..., raw_size: _Optional[int] = ..., codec: _Optional[_Union[Codec, str]] = ..., crc32: _Optional[int] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("table", "first_row", "rows", "columns", "crc32")
    TABLE_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    table: str
    first_row: int
    rows: int
    columns: _containers.RepeatedCompositeFieldContainer[Column]
    crc32: int
    def __init__(self, table: _Optional[str] = ..., first_row: _Optional[int] = ..., rows: _Optional[int] = ..., columns: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., crc32: _Optional[int] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("name", "type", "transform", "width", "base", "step", "codec", "data", "count", "fill", "places")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FILL_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: Type
    transform: Transform
    width: int
    base: int
    step: int
    codec: Codec
    data: bytes
    count: int
    fill: int
    places: bytes
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[Type, str]] = ..., transform: _Optional[_Union[Transform, str]] = ..., width: _Optional[int] = ..., base: _Optional[int] = ..., step: _Optional[int] = ..., codec: _Optional[_Union[Codec, str]] = ..., data: _Optional[bytes] = ..., count: _Optional[int] = ..., fill: _Optional[int] = ..., places: _Optional[bytes] = ...) -> None: ...

class Metadata(_message.Message):
    __slots__ = ("json", "report", "expected_rows", "crc32")
    JSON_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_ROWS_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    json: bytes
    report: bytes
    expected_rows: bytes
    crc32: int
    def __init__(self, json: _Optional[bytes] = ..., report: _Optional[bytes] = ..., expected_rows: _Optional[bytes] = ..., crc32: _Optional[int] = ...) -> None: ...

class Index(_message.Message):
    __slots__ = ("field", "offset", "size", "table_names", "table", "rows", "track", "ts_min", "ts_max", "crc32")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TABLE_NAMES_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    TRACK_FIELD_NUMBER: _ClassVar[int]
    TS_MIN_FIELD_NUMBER: _ClassVar[int]
    TS_MAX_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    field: _containers.RepeatedScalarFieldContainer[int]
    offset: _containers.RepeatedScalarFieldContainer[int]
    size: _containers.RepeatedScalarFieldContainer[int]
    table_names: _containers.RepeatedScalarFieldContainer[str]
    table: _containers.RepeatedScalarFieldContainer[int]
    rows: _containers.RepeatedScalarFieldContainer[int]
    track: _containers.RepeatedScalarFieldContainer[int]
    ts_min: _containers.RepeatedScalarFieldContainer[int]
    ts_max: _containers.RepeatedScalarFieldContainer[int]
    crc32: int
    def __init__(self, field: _Optional[_Iterable[int]] = ..., offset: _Optional[_Iterable[int]] = ..., size: _Optional[_Iterable[int]] = ..., table_names: _Optional[_Iterable[str]] = ..., table: _Optional[_Iterable[int]] = ..., rows: _Optional[_Iterable[int]] = ..., track: _Optional[_Iterable[int]] = ..., ts_min: _Optional[_Iterable[int]] = ..., ts_max: _Optional[_Iterable[int]] = ..., crc32: _Optional[int] = ...) -> None: ...
