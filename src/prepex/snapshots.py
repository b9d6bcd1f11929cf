"""The numbers of a state as bytes, exactly, and back."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "prepex snapshot 1"


def pack(head: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """A document and arrays."""
    shapes = [[str(array.dtype), *array.shape] for array in arrays]
    text = json.dumps({"format": FORMAT, **head, "arrays": shapes})
    return zlib.compress(text.encode() + b"\n" + b"".join(array.tobytes() for array in arrays), 1)


def unpack(snapshot: bytes) -> tuple[dict[str, Any], bytes]:
    """The document, and the bytes of the arrays."""
    try:
        head, _, numbers = zlib.decompress(snapshot).partition(b"\n")
        given = json.loads(head)
    except (TypeError, zlib.error, ValueError) as error:
        raise ValueError(f"snapshot must be what snapshot() gave, got something else: {error}") from None
    if given["format"] != FORMAT:
        raise ValueError(f"snapshot must have the format {FORMAT!r}, got {given['format']!r}")
    return given, numbers


def write_into(arrays: Sequence[NDArray[Any]], given: dict[str, Any], numbers: bytes) -> None:
    """The packed numbers into arrays of the same shapes."""
    if [[str(array.dtype), *array.shape] for array in arrays] != given["arrays"]:
        raise ValueError("snapshot must be of an experiment with the same settings, got other arrays")
    at = 0
    for array in arrays:
        array[...] = np.frombuffer(numbers, array.dtype, array.size, at).reshape(array.shape)
        at += array.nbytes
