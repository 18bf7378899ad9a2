"""Rows as columns: numpy arrays over the received bytes, without work for single values. The arrays cannot be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import numpy.typing as npt

from .errors import MpiscopeError

if TYPE_CHECKING:
    import pyarrow

#: Stands in a column of ranks, communicators, call sites or collectives where there is none.
NONE: Final = 0xFFFF_FFFF
#: Stands in a column of tags where there is none.
NO_TAG: Final = -0x8000_0000

U32 = npt.NDArray[np.uint32]
I32 = npt.NDArray[np.int32]
F64 = npt.NDArray[np.float64]


def _column(dtype: str, missing: int | float | None = None) -> Any:
    return field(metadata={"dtype": np.dtype(dtype), "missing": missing})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Columns of equal length."""

    @classmethod
    def decode(cls, blobs: Mapping[str, bytes]) -> Self:
        """From little-endian blobs by name. Columns that this version does not know are left out."""
        arrays = {
            column.name: np.frombuffer(blobs[column.name], column.metadata["dtype"]) for column in fields(cls)
        }
        if len({len(array) for array in arrays.values()}) > 1:
            raise ValueError("columns differ in length")
        return cls(**arrays)

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns by name, in order."""
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def table(self) -> pyarrow.Table:
        """The same as an Arrow table, with nulls where a row has no value. Needs `pip install mpiscope[arrow]`."""
        try:
            import pyarrow
        except ImportError as error:
            raise MpiscopeError("a table needs pyarrow: pip install mpiscope[arrow]") from error
        columns = {}
        for column in fields(self):
            array, missing = getattr(self, column.name), column.metadata["missing"]
            if missing is None:
                mask = None
            else:
                mask = np.isnan(array) if missing != missing else array == missing
            columns[column.name] = pyarrow.array(array, mask=mask)
        return pyarrow.table(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Calls(Columns):
    """MPI calls, ordered by when they returned. Times are nanoseconds of run time."""

    #: The rank that called.
    rank: U32 = _column("<u4")
    #: Which of its threads.
    thread: U32 = _column("<u4")
    #: The function's id; `client.function_name` has its name.
    function: U32 = _column("<u4")
    #: When the call began.
    start_ns: F64 = _column("<f8")
    #: When it returned.
    end_ns: F64 = _column("<f8")
    #: The other rank, or the root of a collective; `NONE` where there is none, or several.
    peer: U32 = _column("<u4", NONE)
    #: The tag of the message; `NO_TAG` where there is none.
    tag: I32 = _column("<i4", NO_TAG)
    #: Bytes that the call sent, or received where it sent nothing.
    bytes: F64 = _column("<f8")
    #: The communicator; `NONE` where there is none.
    communicator: U32 = _column("<u4", NONE)
    #: Polls folded into the row, else 1.
    polls: F64 = _column("<f8")
    #: The call site; `NONE` where it is not known.
    site: U32 = _column("<u4", NONE)
    #: Which of the collectives of its communicator; `NONE` for other calls.
    collective: U32 = _column("<u4", NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Messages(Columns):
    """Matched messages, ordered by when they were received. Times are nanoseconds of run time."""

    #: The rank that sent.
    source: U32 = _column("<u4")
    #: The rank that received.
    destination: U32 = _column("<u4")
    #: The tag.
    tag: I32 = _column("<i4")
    #: The communicator.
    communicator: U32 = _column("<u4")
    #: Bytes of the payload.
    bytes: F64 = _column("<f8")
    #: When the call that sends began.
    send_ns: F64 = _column("<f8")
    #: When the call that completed the receive returned.
    receive_ns: F64 = _column("<f8")
    #: The transfer time.
    transfer_ns: F64 = _column("<f8")
    #: How long the receiver waited for the send to begin.
    late_sender_ns: F64 = _column("<f8")
    #: The latency ratio L: transfer time divided by expected transfer time; not a number where that is not known.
    latency: F64 = _column("<f8", float("nan"))
    #: 1 where the message went between nodes.
    between_nodes: U32 = _column("<u4")
