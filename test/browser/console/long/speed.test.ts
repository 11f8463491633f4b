import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, openConsole, serveConsole, settled, signIn } from "../support.js";

const columns = Array.from(
  { length: 19 },
  (_, i) => `    c${i}: { type: ${i % 2 ? "integer" : "text"} }`,
).join("\n");
const schema = `wide:\n  columns:\n    id: { type: integer, primary_key: true }\n${columns}\n`;

describeInChromium("the console's speed", (open) => {
  it("first paint within 1.5 s on 1.5 Mbit/s", async () => {
    const served = await serveConsole(schema);
    const { context, page } = await open("about:blank");
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 40,
      downloadThroughput: 1_500_000 / 8,
      uploadThroughput: 750_000 / 8,
    });
    await page.goto(`${served.url}/console`);
    await page.getByLabel("Email").waitFor();
    const paint = (await page.evaluate(`new Promise((done) => {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (entry.name === "first-contentful-paint") done(entry.startTime);
      }).observe({ type: "paint", buffered: true });
    })`)) as number;
    console.log(`first paint: ${Math.round(paint)} ms`);
    expect(paint).toBeLessThan(1500);
  });

  it("a change in a grid of 1,000 rows and 20 columns is shown within 50 ms", async () => {
    const served = await serveConsole(schema);
    await served.sql(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO wide (c0, c1, c2, c3) SELECT 'row ' || i, i, 'some text of row ' || i, i * 7 FROM n",
    );
    const { page } = await openConsole(open, served, "#/data/wide");
    await signIn(page);
    await cell(page, 0, 1).waitFor();
    await page.getByRole("grid").focus();
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press("Control+End");
      await settled(page);
    }
    await page.getByText("1,000 rows", { exact: true }).waitFor();
    await page.keyboard.press("Control+Home");
    await page.evaluate(`
      window.durations = [];
      window.longTasks = 0;
      new PerformanceObserver((list) => { for (const e of list.getEntries()) window.durations.push(e.duration); })
        .observe({ type: "event", durationThreshold: 16 });
      new PerformanceObserver((list) => { window.longTasks += list.getEntries().length; }).observe({ type: "longtask" });
    `);
    for (let i = 0; i < 20; i++) {
      await page.keyboard.press("ArrowRight");
      await page.keyboard.type("7");
      await page.keyboard.press("Escape");
      await page.keyboard.press(i % 5 === 4 ? "PageDown" : "ArrowDown");
    }
    const [durations, longTasks] = (await page.evaluate("[window.durations, window.longTasks]")) as [
      number[],
      number,
    ];
    const sorted = durations.toSorted((a, b) => a - b);
    const [median, most] = [0.5, 0.75].map((part) => sorted[Math.floor(sorted.length * part)] ?? 0);
    console.log(
      `interactions: median ${median} ms, slowest ${sorted.at(-1) ?? 0} ms, ${longTasks} tasks over 50 ms`,
    );
    // The browser counts from the key to the next frame that is shown, which on a blank page are 16 to 32 ms already. What
    // else the machine does makes a few slower.
    expect(median).toBeLessThanOrEqual(40);
    expect(most).toBeLessThanOrEqual(56);
  });
});
