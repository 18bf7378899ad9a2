import { describe, expect, it } from "vitest";
import { Panels, tabOf } from "./panels";

const TAB = { number: 3, title: "matrix", author: "own" };

describe("panels", () => {
  it("repeat the newest message to who opens one later", () => {
    const panels = new Panels();
    panels.heard({ kind: "panel_message", panel: 3, data: "before it was there" });
    panels.heard({ kind: "panels", panels: [TAB] });
    panels.heard({ kind: "panel_message", panel: 3, data: 1 });
    panels.heard({ kind: "panel_message", panel: 3, data: 2 });
    const heard: unknown[] = [];
    const end = panels.listen(3, (data) => heard.push(data));
    panels.heard({ kind: "panel_message", panel: 3, data: 3 });
    end();
    panels.heard({ kind: "panel_message", panel: 3, data: 4 });
    expect(heard).toEqual([2, 3]);
  });

  it("know whose panel is gone", () => {
    const panels = new Panels();
    panels.heard({ kind: "panels", panels: [TAB] });
    expect(panels.find(tabOf(TAB))).toEqual(TAB);
    panels.heard({ kind: "panels", panels: [] });
    expect(panels.find(tabOf(TAB))).toBeUndefined();
    expect(panels.lost(tabOf(TAB))).toEqual(TAB);
    expect(panels.lost("panel-9")).toBeUndefined();
  });
});
