"""The numbers of a state as bytes, exactly, and back."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex.errors import InputError

FORMAT = "prepex snapshot 2"
# Bytes of the document, which may have outcomes in it, and of what is unpacked of it at a time.
LONGEST_HEAD, PIECE = 1_000_000_000, 1_000_000


def pack(head: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """A document and arrays."""
    shapes = [[str(array.dtype), *array.shape] for array in arrays]
    text = json.dumps({"format": FORMAT, **head, "arrays": shapes})
    return zlib.compress(text.encode() + b"\n" + b"".join(array.tobytes() for array in arrays), 1)


class Packed:
    """The unpacked bytes, as they are asked for: a few bytes may stand for gigabytes."""

    def __init__(self, packed: bytes) -> None:
        self._left, self._unpacker, self._ready = packed, zlib.decompressobj(), bytearray()

    def _more(self, most: int) -> bool:
        piece = self._unpacker.decompress(self._left, most)
        self._left = self._unpacker.unconsumed_tail
        self._ready += piece
        return bool(piece)

    def line(self) -> bytes:
        """The first line."""
        while b"\n" not in self._ready:
            if len(self._ready) > LONGEST_HEAD or not self._more(PIECE):
                raise InputError("snapshot must begin with a line, got none")
        line, _, self._ready = self._ready.partition(b"\n")
        return bytes(line)

    def rest(self, size: int) -> bytes:
        """What follows: exactly so much."""
        while len(self._ready) <= size and self._more(size + 1 - len(self._ready)):
            pass
        if len(self._ready) != size or not self._unpacker.eof:
            raise InputError(f"snapshot must have {size} bytes of numbers, got another size")
        return bytes(self._ready)


def unpack(snapshot: bytes) -> tuple[dict[str, Any], Packed]:
    """The document, and the bytes of the arrays."""
    try:
        packed = Packed(snapshot)
        given = json.loads(packed.line())
        if isinstance(given, dict) and given.get("arrays") == []:
            packed.rest(0)
    except (TypeError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"snapshot must be what snapshot() gave, got something else: {error}") from None
    if given["format"] != FORMAT:
        raise InputError(f"snapshot must have the format {FORMAT!r}, got {given['format']!r}")
    return given, packed


def write_into(arrays: Sequence[NDArray[Any]], given: dict[str, Any], packed: Packed) -> None:
    """The packed numbers into arrays of the same shapes."""
    if [[str(array.dtype), *array.shape] for array in arrays] != given["arrays"]:
        raise InputError("snapshot must be of an experiment with the same settings, got other arrays")
    try:
        numbers, at = packed.rest(sum(array.nbytes for array in arrays)), 0
    except zlib.error as error:
        raise InputError(f"snapshot must be what snapshot() gave, got something else: {error}") from None
    for array in arrays:
        array[...] = np.frombuffer(numbers, array.dtype, array.size, at).reshape(array.shape)
        at += array.nbytes
