import { describe, expect, it } from "vitest";
import { contrast } from "./colour";
import { FAMILIES } from "./families";
import { colourOf, themeColours } from "./index";
import { distance, VISIONS } from "./vision";

const NAMES: Record<string, string[]> = {
  send: ["Send", "Isend", "Sendrecv", "Bsend"],
  receive: ["Recv", "Irecv", "Mrecv"],
  complete: ["Waitall", "Wait", "Test", "Waitany"],
  probe: ["Iprobe"],
  rooted: ["Bcast", "Reduce", "Gather"],
  all: ["Allreduce", "Allgather", "Alltoall"],
  barrier: ["Barrier"],
  communicator: ["Comm_split", "Comm_dup"],
  "one-sided": ["Put", "Win_fence"],
  io: ["File_read"],
  setup: ["Init", "Finalize"],
};
const GROUND = { dark: "#14171b", light: "#ffffff" };
/** Functions that many programs call: each two of them differ, within a family too. */
const FREQUENT = ["Send", "Isend", "Sendrecv", "Recv", "Irecv", "Waitall", "Wait", "Test", "Iprobe", "Bcast", "Reduce", "Allreduce", "Allgather", "Alltoall", "Barrier", "Init", "Finalize"];
const LEAST_FREQUENT = 0.055;
/** OKLab distances; 0.02 is just noticeable. The most used members of families, then any members of two families. */
const LEAST = { usual: { main: 0.095, any: 0.058 }, dichromatic: { main: 0.068, any: 0.035 }, withinFamily: 0.054 };

describe.each(["dark", "light"] as const)("the %s palette", (theme) => {
  const colours = Object.entries(NAMES).flatMap(([family, names]) =>
    names.map((name, member) => ({ family, name, member, hex: colourOf(`MPI_${name}`, family)[theme] })),
  );

  it("has at most 25 hues, and all colours differ", () => {
    expect(Object.keys(FAMILIES).length).toBeLessThanOrEqual(25);
    expect(new Set(colours.map(({ hex }) => hex)).size).toBe(colours.length);
  });

  it("stands out from the canvas", () => {
    for (const { name, hex } of colours) expect(contrast(hex, GROUND[theme]), name).toBeGreaterThanOrEqual(3);
  });

  it.each(VISIONS)("keeps families apart under %s vision", (vision) => {
    const least = vision === "usual" ? LEAST.usual : LEAST.dichromatic;
    for (const one of colours) {
      for (const other of colours) {
        if (one.family === other.family) continue;
        const wanted = one.member === 0 && other.member === 0 ? least.main : least.any;
        expect(distance(one.hex, other.hex, vision), `${one.name} and ${other.name}`).toBeGreaterThanOrEqual(wanted);
      }
    }
  });

  it.each(["usual", "deuteranopia"] as const)("keeps all functions in frequent use apart under %s vision", (vision) => {
    const frequent = colours.filter(({ name }) => FREQUENT.includes(name));
    expect(frequent).toHaveLength(FREQUENT.length);
    const near = frequent.flatMap((one, at) => frequent.slice(at + 1).map((other) => ({ pair: `${one.name} and ${other.name}`, apart: distance(one.hex, other.hex, vision) })));
    expect(near.filter(({ apart }) => apart < LEAST_FREQUENT)).toEqual([]);
  });

  it("tells members of a family apart by lightness", () => {
    for (const one of colours) {
      for (const other of colours) {
        if (one.family !== other.family || one.name === other.name) continue;
        expect(distance(one.hex, other.hex, "usual"), `${one.name} and ${other.name}`).toBeGreaterThan(LEAST.withinFamily);
      }
    }
  });
});

describe("colours of functions", () => {
  it("depend on nothing but name and family", () => {
    const before = colourOf("MPI_Send", "send");
    colourOf("MPI_Something_new", "send");
    expect(colourOf("MPI_Send", "send")).toEqual(before);
    expect(colourOf("MPI_Something_new", "send")).toEqual(colourOf("MPI_Something_new", "send"));
  });

  it("are the same for the large-count variant", () => {
    expect(colourOf("MPI_Send_c", "send")).toEqual(colourOf("MPI_Send", "send"));
  });

  it("are those of the blocking form for nonblocking collectives", () => {
    for (const name of ["Bcast", "Gatherv", "Alltoallw", "Reduce_scatter"]) {
      const family = ["Bcast", "Gatherv"].includes(name) ? "rooted" : "all";
      expect(colourOf(`MPI_I${name.toLowerCase()}`, family)).toEqual(colourOf(`MPI_${name}`, family));
    }
    expect(colourOf("MPI_Allreduce_init", "all")).toEqual(colourOf("MPI_Allreduce", "all"));
    expect(colourOf("MPI_Ineighbor_alltoall", "neighbor")).toEqual(colourOf("MPI_Neighbor_alltoall", "neighbor"));
    expect(colourOf("MPI_Isend", "send")).not.toEqual(colourOf("MPI_Send", "send"));
  });

  it("exist for functions and families that are new", () => {
    const hexes = FAMILIES["send"]!.dark.lightness.length;
    const met = new Set(Array.from({ length: 200 }, (_, at) => colourOf(`MPI_New_${at}`, "send").dark));
    expect(met.size).toBe(hexes);
    expect(colourOf("MPI_X", "nothing known").dark).toMatch(/^#[0-9a-f]{6}$/);
  });

  it("come as channels by id", () => {
    const colours = themeColours(new Map([[14, { name: "MPI_Isend", family: "send" }]]), "dark");
    for (const channel of colours.get(14)!) expect(channel >= 0 && channel <= 1).toBe(true);
  });
});
