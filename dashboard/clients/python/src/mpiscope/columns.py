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


@dataclass(frozen=True, slots=True, eq=False)
class ExpandedMessages(Messages):
    """Messages and what collectives carry, ordered by when both calls had returned: of `expand_collectives=True`.

    `bytes` and `transfer_ns` are not numbers where they are not known. A collective of more than 64 ranks in which all
    send to all has one row for each rank that sends, with `NONE` as its destination.
    """

    #: The function of the collective; `NONE` for messages.
    function: U32 = _column("<u4", NONE)
    #: When the calls of both ranks had returned.
    known_ns: F64 = _column("<f8")
    #: Which of the collectives of its communicator; `NONE` for messages.
    collective: U32 = _column("<u4", NONE)


@dataclass(frozen=True, slots=True, eq=False)
class OwnTimes(Columns):
    """When the rows of a batch were in the own time of recording b: entered and returned, sent and received, or a window."""

    from_ns: F64 = _column("<f8")
    to_ns: F64 = _column("<f8")


@dataclass(frozen=True, slots=True, eq=False)
class Windows(Columns):
    """Windows of regions, ordered by when they end. Seconds are sums over ranks; not a number where nothing was diagnosed."""

    from_ns: F64 = _column("<f8")
    to_ns: F64 = _column("<f8")
    #: The region; `NONE` for ranks that are in none.
    region: U32 = _column("<u4", NONE)
    #: The other region, where the row is about messages between two.
    other: U32 = _column("<u4", NONE)
    #: 1 where the row is about messages between two regions; one may be none.
    between: U32 = _column("<u4")
    #: Calls that returned in the window, polls folded into them, their bytes and the time in them.
    calls: F64 = _column("<f8")
    polls: F64 = _column("<f8")
    bytes: F64 = _column("<f8")
    mpi_ns: F64 = _column("<f8")
    #: Messages that were received, their bytes, those with an exact time, and of these the delayed ones.
    messages: F64 = _column("<f8")
    message_bytes: F64 = _column("<f8")
    exact: F64 = _column("<f8")
    delayed: F64 = _column("<f8")
    #: The mean latency ratio L of exact messages; not a number without any.
    latency: F64 = _column("<f8", float("nan"))
    #: Time in MPI, waiting of it, and the waiting by what kept those who were waited for.
    total_s: F64 = _column("<f8", float("nan"))
    waiting_s: F64 = _column("<f8", float("nan"))
    waiting_compute_s: F64 = _column("<f8", float("nan"))
    waiting_base_s: F64 = _column("<f8", float("nan"))
    waiting_distance_s: F64 = _column("<f8", float("nan"))
    waiting_excess_s: F64 = _column("<f8", float("nan"))
    waiting_operation_s: F64 = _column("<f8", float("nan"))
    waiting_other_s: F64 = _column("<f8", float("nan"))
    waiting_unknown_s: F64 = _column("<f8", float("nan"))
    #: What could be avoided, by cause: placement, load imbalance, network contention, CPU contention.
    mapping_s: F64 = _column("<f8", float("nan"))
    pattern_s: F64 = _column("<f8", float("nan"))
    background_s: F64 = _column("<f8", float("nan"))
    cpu_s: F64 = _column("<f8", float("nan"))
