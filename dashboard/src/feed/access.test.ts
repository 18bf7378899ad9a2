import { describe, expect, it } from "vitest";
import { accessMessage } from "./access";

const TOKEN = "0123456789abcdef0123456789abcdef";
const ACCESS = {
  is_owner: true, can_control: true, can_annotate: true, links_max: 64, host: "node1", port: 4711, made: null, refused: "",
  links: [{ number: 3, label: "Ana", can_control: false, can_annotate: true, connections: 2 }],
};

describe("access", () => {
  it("is read field by field", () => {
    expect(accessMessage({ ...ACCESS, made: { number: 3, token: TOKEN } })).toMatchObject({
      isOwner: true, host: "node1", port: 4711, made: { number: 3, token: TOKEN },
      links: [{ number: 3, label: "Ana", canControl: false, canAnnotate: true, connections: 2 }],
    });
    expect(accessMessage(ACCESS).made).toBeNull();
  });

  it("refuses what is not as agreed", () => {
    expect(() => accessMessage({ ...ACCESS, can_control: 1 })).toThrow("can_control");
    expect(() => accessMessage({ ...ACCESS, links: [{}] })).toThrow();
    expect(() => accessMessage({ ...ACCESS, made: { number: 3, token: `${TOKEN}&x=1` } })).toThrow("token");
  });
});
