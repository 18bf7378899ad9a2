import { chromium } from "playwright-core";
const url = process.argv[2], name = process.argv[3];
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless=new","--no-sandbox","--disable-gpu","--disable-quic","--no-first-run","--disable-background-networking"] });
const c = await b.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "dark" });
const p = await c.newPage();
p.on("pageerror", (e) => console.log("ERR", e.stack));
await p.goto(url + "#tab=why");
await p.waitForTimeout(Number(process.argv[4] ?? 1500));
console.log(await p.locator(".verdict").innerText().catch(() => "no verdict"));
await p.screenshot({ path: `/tmp/try/${name}.png` });
if (process.argv[5]) {
  await p.setViewportSize({ width: 1024, height: 700 }); await p.emulateMedia({ colorScheme: "light" });
  await p.waitForTimeout(600);
  await p.screenshot({ path: `/tmp/try/${name}-small.png` });
}
await b.close();
