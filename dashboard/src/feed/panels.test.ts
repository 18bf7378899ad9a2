import { describe, expect, it } from "vitest";
import { panelMessage, panelsMessage } from "./panels";

describe("panels", () => {
  it("are read field by field", () => {
    expect(panelsMessage({ panels: [{ number: 3, title: "matrix", author: "own" }] }).panels).toEqual([{ number: 3, title: "matrix", author: "own" }]);
    expect(panelMessage({ panel: 3, data: '{"a":[1,null]}' }).data).toEqual({ a: [1, null] });
  });

  it("refuses what is not as agreed", () => {
    expect(() => panelsMessage({ panels: [{ number: -1, title: "a", author: "b" }] })).toThrow("number");
    expect(() => panelMessage({ panel: 3, data: "{" })).toThrow("JSON");
  });
});
