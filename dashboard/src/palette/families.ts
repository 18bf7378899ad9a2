// The hues of families of MPI functions, and which member has which lightness. The first one is the most common.
// Numbers come from a search for the greatest least distance under usual and dichromatic vision; the tests hold them.

export interface Shades {
  hueDegrees: number;
  chroma: number;
  lightness: readonly number[];
}

export interface Family {
  dark: Shades;
  light: Shades;
  /** Names without MPI_ and the lightness they have; others are given one by a hash. */
  members: Readonly<Record<string, number>>;
}

const shades = (hueDegrees: number, chroma: number, ...lightness: number[]): Shades => ({ hueDegrees, chroma, lightness });

/** Collectives among all and among neighbours differ in whom they are among, not in what they do. */
const ALL = { dark: shades(26, 0.17, 0.586, 0.858, 0.652), light: shades(21, 0.239, 0.51, 0.625, 0.437) };

export const FAMILIES: Readonly<Record<string, Family>> = {
  send: {
    dark: shades(252, 0.117, 0.62, 0.77, 0.543, 0.854),
    light: shades(267, 0.238, 0.477, 0.562, 0.384, 0.66),
    members: {
      Send: 0, Isend: 1, Sendrecv: 2, Bsend: 3, Ssend: 3, Rsend: 3, Ibsend: 1, Issend: 1, Irsend: 1,
      Sendrecv_replace: 2, Send_init: 3, Bsend_init: 3, Ssend_init: 3, Rsend_init: 3, Start: 3, Startall: 3, Psend_init: 3,
    },
  },
  receive: {
    dark: shades(181, 0.09, 0.834, 0.738, 0.504),
    light: shades(184, 0.113, 0.64, 0.523, 0.353),
    members: { Recv: 0, Irecv: 1, Mrecv: 2, Imrecv: 2, Recv_init: 2, Precv_init: 2 },
  },
  complete: {
    dark: shades(290, 0.195, 0.641, 0.55, 0.701, 0.92),
    light: shades(302, 0.163, 0.38, 0.479, 0.63, 0.3),
    members: { Wait: 1, Waitall: 0, Waitany: 3, Waitsome: 3, Test: 2, Testall: 2, Testany: 2, Testsome: 2, Cancel: 3, Request_free: 3 },
  },
  probe: {
    dark: shades(294, 0.058, 0.779),
    light: shades(288, 0.058, 0.579),
    members: {},
  },
  rooted: {
    dark: shades(61, 0.149, 0.8, 0.536, 0.92),
    light: shades(58, 0.167, 0.58, 0.677, 0.403),
    members: { Bcast: 0, Reduce: 1, Gather: 2, Gatherv: 2, Scatter: 2, Scatterv: 2 },
  },
  all: {
    ...ALL,
    members: {
      Allreduce: 0, Allgather: 1, Allgatherv: 1, Alltoall: 2, Alltoallv: 2,
      Alltoallw: 2, Reduce_scatter: 1, Reduce_scatter_block: 1, Scan: 2, Exscan: 2,
    },
  },
  neighbor: {
    ...ALL,
    members: {
      Neighbor_allgather: 1, Neighbor_allgatherv: 1, Neighbor_alltoall: 2, Neighbor_alltoallv: 2, Neighbor_alltoallw: 2,
    },
  },
  barrier: {
    dark: shades(260, 0.004, 0.58),
    light: shades(260, 0.004, 0.461),
    members: {},
  },
  communicator: {
    dark: shades(55, 0.074, 0.7, 0.792),
    light: shades(59, 0.08, 0.34, 0.579),
    members: {
      Comm_split: 0, Comm_split_type: 0, Comm_create: 0, Comm_dup: 1, Comm_dup_with_info: 1, Comm_free: 1,
      Comm_disconnect: 1, Comm_idup: 1, Comm_create_group: 0, Cart_create: 0, Cart_sub: 0, Graph_create: 0,
      Dist_graph_create: 0, Dist_graph_create_adjacent: 0, Intercomm_create: 0, Intercomm_merge: 0,
    },
  },
  "one-sided": {
    dark: shades(331, 0.17, 0.55, 0.737),
    light: shades(333, 0.184, 0.505, 0.399),
    members: {
      Put: 0, Get: 0, Accumulate: 0, Get_accumulate: 0, Fetch_and_op: 0, Compare_and_swap: 0, Rput: 0, Rget: 0,
      Raccumulate: 0, Rget_accumulate: 0, Win_fence: 1, Win_start: 1, Win_complete: 1, Win_post: 1, Win_wait: 1,
      Win_test: 1, Win_lock: 1, Win_lock_all: 1, Win_unlock: 1, Win_unlock_all: 1, Win_flush: 1, Win_flush_all: 1,
      Win_flush_local: 1, Win_flush_local_all: 1, Win_sync: 1,
    },
  },
  io: {
    dark: shades(109, 0.143, 0.649),
    light: shades(115, 0.081, 0.65),
    members: {},
  },
  setup: {
    dark: shades(233, 0.051, 0.693, 0.63),
    light: shades(246, 0.046, 0.3, 0.2),
    members: { Init: 0, Init_thread: 0, Finalize: 1 },
  },
};

/** For a family that this page does not know yet: the quiet one. */
export const UNKNOWN_FAMILY = "setup";
