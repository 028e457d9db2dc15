"""Thrift's compact protocol, in which Parquet's footers are written: any struct to plain Python and back, byte for byte.

A struct is ``{field id: (type, value)}`` in the order of its fields, a list ``(type of its elements, [values])``; a number, or a string's bytes, are themselves.
"""

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
WHOLE = (I16, I32, I64)
SHORT = 15  # the largest step between field ids, and more than the longest list, that fit a byte together with a type

Struct = dict[int, tuple[int, Any]]


class Reader:
    """Takes one value after the other from some bytes; ValueError for a type that footers do not have."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            fields[number] = (head & 15, self.value(head & 15))
        return fields

    def value(self, kind: int, *, element: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self._byte() == TRUE if element else kind == TRUE
        if kind in WHOLE:
            return _signed(self._varint())
        if kind in (BYTE, DOUBLE, BINARY):
            return self._bytes({BYTE: 1, DOUBLE: 8}.get(kind) or self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            size = self._varint() if head >> 4 == SHORT else head >> 4
            return head & 15, [self.value(head & 15, element=True) for _ in range(size)]
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"type {kind} of thrift's compact protocol, which no footer of Parquet has")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift


def written(fields: Struct) -> bytes:
    """The bytes of a struct."""
    out, before = bytearray(), 0
    for number, (kind, value) in fields.items():
        if 0 < number - before <= SHORT:
            out.append((number - before) << 4 | kind)
        else:
            out += bytes([kind]) + _varint(_zigzag(number))
        out += b"" if kind in (TRUE, FALSE) else _value(kind, value)
        before = number
    return bytes(out) + b"\0"


def _value(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return bytes([TRUE if value else FALSE])
    if kind in WHOLE:
        return _varint(_zigzag(value))
    if kind == BINARY:
        return _varint(len(value)) + value
    if kind in (LIST, SET):
        element, values = value
        size = len(values)
        head = bytes([size << 4 | element]) if size < SHORT else bytes([SHORT << 4 | element]) + _varint(size)
        return head + b"".join(_value(element, one) for one in values)
    return written(value) if kind == STRUCT else value


def _signed(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
