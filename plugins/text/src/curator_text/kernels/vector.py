"""Look at 64 bytes at a time: which of them are spaces, letters, line ends, as the bits of one integer each.

Each function is a few vector instructions (LLVM's own vectors, which suit any processor).
All of them take addresses of memory instead of arrays, which are several times as dear to hand from function to
function. They read and write unaligned and unchecked: the caller makes sure that the memory is there.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = [
    "byte_at",
    "class_bits",
    "count_bits",
    "equal_bits",
    "equal_lower_bits",
    "first_bit",
    "high_bits",
    "in_range_bits",
    "int64_at",
    "load_8",
    "put_byte",
    "put_int32",
    "put_int64",
    "trail_bits",
    "uint32_at",
    "uint64_at",
]

BLOCK = 64
_I1, _I8, _I64 = ir.IntType(1), ir.IntType(8), ir.IntType(64)
_BLOCK = ir.VectorType(_I8, BLOCK)


def _address(builder, arguments, kind):
    address = builder.add(arguments[0], builder.mul(arguments[1], ir.Constant(_I64, kind.width // 8)))
    return builder.inttoptr(address, kind.as_pointer())


def _load_block(builder, arguments):
    address = builder.add(arguments[0], arguments[1])
    block = builder.load(builder.inttoptr(address, _BLOCK.as_pointer()))
    block.align = 1
    return block


def _splat(value):
    return ir.Constant(_BLOCK, [value] * BLOCK)


def _as_bits(builder, mask):
    return builder.bitcast(mask, _I64)


def _in_range(builder, block, first, last):
    shifted = builder.sub(block, _splat(first))
    return builder.icmp_unsigned("<=", shifted, _splat(last - first))


def _loader(width):
    kind = ir.IntType(width)

    def generate(context, builder, signature, arguments):
        value = builder.load(_address(builder, arguments, kind))
        value.align = 1
        return builder.zext(value, _I64) if width < _I64.width else value

    return generate


@intrinsic
def byte_at(typing_context, address, index):
    """Return one byte of an array of bytes."""
    return types.int64(types.int64, types.int64), _loader(8)


@intrinsic
def uint32_at(typing_context, address, index):
    """Return one number of an array of 32-bit numbers."""
    return types.int64(types.int64, types.int64), _loader(32)


@intrinsic
def uint64_at(typing_context, address, index):
    """Return one number of an array of 64-bit numbers."""
    return types.uint64(types.int64, types.int64), _loader(64)


@intrinsic
def int64_at(typing_context, address, index):
    """Return one number of an array of signed 64-bit numbers."""
    return types.int64(types.int64, types.int64), _loader(64)


@intrinsic
def load_8(typing_context, address, at):
    """Return the eight bytes from ``at`` as one integer."""

    def generate(context, builder, signature, arguments):
        start = builder.add(arguments[0], arguments[1])
        value = builder.load(builder.inttoptr(start, _I64.as_pointer()))
        value.align = 1
        return value

    return types.uint64(types.int64, types.int64), generate


@intrinsic
def put_byte(typing_context, address, index, value):
    """Write one number of an array of bytes."""
    return types.void(types.int64, types.int64, types.int64), _storer(8)


@intrinsic
def put_int32(typing_context, address, index, value):
    """Write one number of an array of 32-bit numbers."""
    return types.void(types.int64, types.int64, types.int64), _storer(32)


@intrinsic
def put_int64(typing_context, address, index, value):
    """Write one number of an array of 64-bit numbers."""
    return types.void(types.int64, types.int64, types.int64), _storer(64)


def _storer(width):
    kind = ir.IntType(width)

    def generate(context, builder, signature, arguments):
        value = builder.trunc(arguments[2], kind) if width < _I64.width else arguments[2]
        store = builder.store(value, _address(builder, arguments, kind))
        store.align = 1
        return context.get_dummy_value()

    return generate


@intrinsic
def class_bits(typing_context, address, at):
    """Return where the 64 bytes from ``at`` are whitespace, letters, digits (all ASCII) and not ASCII."""

    def generate(context, builder, signature, arguments):
        block = _load_block(builder, arguments)
        space = builder.or_(_in_range(builder, block, 9, 13), _in_range(builder, block, 28, 32))
        letter = _in_range(builder, builder.or_(block, _splat(0x20)), 0x61, 0x7A)
        digit = _in_range(builder, block, 0x30, 0x39)
        high = builder.icmp_unsigned(">=", block, _splat(0x80))
        values = [_as_bits(builder, each) for each in (space, letter, digit, high)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.uint64, 4)(types.int64, types.int64), generate


@intrinsic
def equal_bits(typing_context, address, at, byte):
    """Return where the 64 bytes from ``at`` are a byte, which is a constant."""
    if not isinstance(byte, types.IntegerLiteral):
        return None
    wanted = byte.literal_value

    def generate(context, builder, signature, arguments):
        block = _load_block(builder, arguments)
        return _as_bits(builder, builder.icmp_unsigned("==", block, _splat(wanted)))

    return types.uint64(types.int64, types.int64, byte), generate


@intrinsic
def equal_lower_bits(typing_context, address, at, letter):
    """Return where the 64 bytes from ``at`` are a letter of either case; its lower-case form is a constant."""
    if not isinstance(letter, types.IntegerLiteral):
        return None
    wanted = letter.literal_value

    def generate(context, builder, signature, arguments):
        block = builder.or_(_load_block(builder, arguments), _splat(0x20))
        return _as_bits(builder, builder.icmp_unsigned("==", block, _splat(wanted)))

    return types.uint64(types.int64, types.int64, letter), generate


@intrinsic
def in_range_bits(typing_context, address, at, first, last):
    """Return where the 64 bytes from ``at`` are in a range, whose ends are constants."""
    if not isinstance(first, types.IntegerLiteral) or not isinstance(last, types.IntegerLiteral):
        return None
    low, high = first.literal_value, last.literal_value

    def generate(context, builder, signature, arguments):
        block = _load_block(builder, arguments)
        return _as_bits(builder, _in_range(builder, block, low, high))

    return types.uint64(types.int64, types.int64, first, last), generate


@intrinsic
def high_bits(typing_context, address, at):
    """Return where the 64 bytes from ``at`` are not ASCII."""

    def generate(context, builder, signature, arguments):
        block = _load_block(builder, arguments)
        return _as_bits(builder, builder.icmp_unsigned(">=", block, _splat(0x80)))

    return types.uint64(types.int64, types.int64), generate


@intrinsic
def trail_bits(typing_context, address, at):
    """Return where the 64 bytes from ``at`` continue a character (10xxxxxx)."""

    def generate(context, builder, signature, arguments):
        block = _load_block(builder, arguments)
        kept = builder.and_(block, _splat(0xC0))
        return _as_bits(builder, builder.icmp_unsigned("==", kept, _splat(0x80)))

    return types.uint64(types.int64, types.int64), generate


@intrinsic
def first_bit(typing_context, bits):
    """Return the position of the lowest bit that is set; 64 where none is."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(_I1, 0))

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typing_context, bits):
    """Return how many bits are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate
