import { describe, expect, it } from "vitest";
import { csv } from "./tables";

describe("tables for other programs", () => {
  it("quotes what has commas, quotes or line ends, and leaves out what is not known", () => {
    const text = csv({ columns: ["place", "time_s", "is_exact"], rows: [["a, \"b\"", 1.5, true], ["two\nlines", Number.NaN, false], ["", null, true]] });
    expect(text).toBe('place,time_s,is_exact\r\n"a, ""b""",1.5,true\r\n"two\nlines",,false\r\n,,true\r\n');
  });

  it("makes no formulas of names", () => {
    expect(csv({ columns: ["name"], rows: [["=1+1"], ["-x"], ["MPI_Send"]] })).toBe("name\r\n'=1+1\r\n'-x\r\nMPI_Send\r\n");
  });
});
