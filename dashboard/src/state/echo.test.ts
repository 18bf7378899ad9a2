import { describe, expect, it } from "vitest";
import { Echo } from "./echo";

describe("echo", () => {
  it("takes what others do, and what answers the newest command", () => {
    const echo = new Echo<string>();
    expect(echo.heard("other", 4, 0)).toBe(true);
    echo.sent(10);
    echo.sent(20);
    expect(echo.heard("before both", 4, 25)).toBe(false);
    expect(echo.heard("first", 5, 30)).toBe(false);
    expect(echo.heard("second", 6, 40)).toBe(true);
    expect(echo.overdue(9000)).toBeNull();
  });

  it("believes the server when it does not answer", () => {
    const echo = new Echo<string>();
    echo.heard("a", 4, 0);
    echo.sent(10);
    expect(echo.heard("b", 4, 20)).toBe(false);
    expect(echo.overdue(1000)).toBeNull();
    expect(echo.overdue(3000)).toBe("b");
    expect(echo.heard("c", 4, 3100)).toBe(true);
  });

  it("starts anew with a new connection", () => {
    const echo = new Echo<string>();
    echo.heard("a", 400, 0);
    echo.sent(10);
    echo.reset();
    expect(echo.heard("b", 1, 20)).toBe(true);
  });
});
