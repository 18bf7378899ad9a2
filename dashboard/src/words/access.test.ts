import { describe, expect, it } from "vitest";
import { UNKNOWN_ACCESS } from "../feed/access";
import { linkAddress, rightsChip, rightsWords, tunnelLine } from "./access";

describe("access", () => {
  it("names rights", () => {
    expect(rightsWords({ canControl: false, canAnnotate: false })).toBe("read");
    expect(rightsWords({ canControl: true, canAnnotate: true })).toBe("read, control, annotate");
    expect(rightsChip({ ...UNKNOWN_ACCESS, isOwner: true })).toBe("");
    expect(rightsChip({ ...UNKNOWN_ACCESS, canControl: false, canAnnotate: false })).toBe("Read only");
    expect(rightsChip({ ...UNKNOWN_ACCESS, canControl: false })).toBe("May read, annotate");
  });

  it("says how a link works on another machine", () => {
    expect(linkAddress("http://localhost:81", "ab", "#tab=how")).toBe("http://localhost:81/?token=ab#tab=how");
    const host = { host: "node1", port: 4711 };
    expect(tunnelLine("127.0.0.1", "4711", host)).toBe("ssh -N -L 4711:localhost:4711 node1");
    // Behind a tunnel already: the other machine takes the same port as this one.
    expect(tunnelLine("localhost", "9000", host)).toBe("ssh -N -L 9000:localhost:4711 node1");
    expect(tunnelLine("10.1.2.3", "4711", host)).toBe("");
    expect(tunnelLine("localhost", "4711", { host: "", port: 0 })).toBe("");
  });
});
