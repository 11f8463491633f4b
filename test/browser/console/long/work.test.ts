import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, goTo, openSignedIn, password, type Served, serveConsole } from "../support.js";
import { fill, rules, schema } from "./projects.js";

const one = async ({ server }: Served, sql: string) =>
  (await server.database.query([{ sql, params: [] }]))[0]!.rows[0]![0];

async function confirmDialog(page: Page, action: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: action, exact: true }).click();
  await dialog.waitFor({ state: "hidden" });
}

describeInChromium("an administrator at work", (open) => {
  it("filters, sorts, searches, follows references, and takes rows along", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served, "#/data/messages");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByLabel("Column", { exact: true }).selectOption("score");
    await page.getByLabel("Comparison").selectOption("gt");
    await page.getByLabel("Value").fill("99");
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByText("8 rows", { exact: true }).waitFor();
    await page.getByRole("columnheader", { name: /^score/ }).click();
    await page.getByRole("columnheader", { name: /^score/ }).click();
    await page.locator("[aria-sort=descending]").waitFor();
    await page.reload();
    await page.getByText("8 rows", { exact: true }).waitFor();
    expect(await page.locator("[aria-sort=descending]").count()).toBe(1);

    await page.getByRole("button", { name: "Download" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    const csv = readFileSync(await (await download).path(), "utf8");
    expect(csv.split("\r\n")).toHaveLength(10);
    expect(csv).toMatch(/^id,room_id,author_id,body,/);

    await page.getByRole("button", { name: "Remove the filter on score" }).click();
    await page.getByLabel("Search words").fill("Thursday");
    await page.keyboard.press("Enter");
    await page.getByText("200 rows", { exact: true }).waitFor();
    await page.locator('[data-row="0"]').getByRole("link", { name: "Open in rooms" }).click();
    await page.getByText("1 row", { exact: true }).waitFor();
    expect(page.url()).toContain("#/data/rooms?f=id.eq.room");
  });

  it("deletes several rows at once and takes that back, and writes an older version back", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served, "#/data/messages?f=id.lte.10");
    for (const row of [0, 1, 2]) await page.getByLabel(`Select row ${row + 1}`, { exact: true }).click();
    await page.getByText("3 rows selected").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await confirmDialog(page, "Delete");
    await page.getByText("7 rows", { exact: true }).waitFor();
    expect(await one(served, "SELECT count(*) FROM messages WHERE id <= 3")).toEqual(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("10 rows", { exact: true }).waitFor();
    expect(await one(served, "SELECT count(*) FROM messages WHERE id <= 3")).toEqual(3);

    const before = await cell(page, 0, 3).innerText();
    await cell(page, 0, 3).dblclick();
    await page.locator(".cell-input").fill("a mistake");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("button", { name: "History" }).click();
    await page.getByRole("button", { name: "Restore" }).first().click();
    await page.getByText("The version was written back.").waitFor();
    await cell(page, 0, 3).filter({ hasText: before }).waitFor();
  });

  it("sees what a user sees, and what refuses an anonymous caller", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served, "#/data/messages");
    await page.getByText("1,000 rows", { exact: false }).waitFor();
    await page.getByRole("button", { name: /past the rules/ }).click();
    await page.getByRole("dialog").getByLabel("Who").fill("bea");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /bea@example.com/ })
      .click();
    await page.getByText(/^250 rows/).waitFor();
    expect(await page.getByRole("columnheader", { name: /^score/ }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "New row" }).count()).toBe(0);
    await cell(page, 0, 3).dblclick();
    await page.getByRole("dialog").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
    await page.keyboard.press("Escape");
    await goTo(page, "#/data/messages?as=anonymous");
    await page.getByText("The rules refuse this to Anonymous").waitFor();
    expect(await page.locator(".shell").count()).toBe(1);
    await page.getByRole("button", { name: "Back to all rows" }).click();
    await page.getByText("1,000 rows", { exact: false }).waitFor();
  });

  it("changes the schema: problems while typing, what would be lost, and the password before it is", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served, "#/why?table=measurements&action=read&as=anonymous");
    await goTo(page, "#/schema/edit?index=measurements.sensor");
    await page.getByText("create index measurements(sensor)").waitFor();
    served.server.clock.advance(301_000);
    await page.getByRole("button", { name: "Apply" }).click();
    const asked = page.getByRole("dialog");
    await asked.getByLabel("Password", { exact: true }).fill(password);
    await asked.getByRole("button", { name: "Go on" }).click();
    await page.getByText("The schema is in force.").waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save this text" }).click();
    expect(readFileSync(await (await saved).path(), "utf8")).toMatch(/columns: \[sensor\]/);
    expect(await one(served, "SELECT count(*) FROM pragma_index_list('measurements')")).toEqual(1);

    await page.getByLabel("svc.schema.yaml").click();
    await page.keyboard.press("Control+End");
    const nonsense = "nonsense: { columns: { a: 1 } } # every letter, however quickly they are typed";
    await page.keyboard.type(nonsense);
    await page.getByText(nonsense).waitFor();
    await page.getByRole("list", { name: /problem/ }).waitFor();
    await page
      .getByText(/^Line \d+$/)
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: "Apply" }).count()).toBe(0);
    await page.getByRole("button", { name: "Undo all changes" }).click();
    await page.getByText("This is the schema in force.").waitFor();
    await page.getByLabel("svc.schema.yaml").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText("tags:\n  columns:\n    id: { type: integer, primary_key: true }\n");
    await page
      .getByText(/Lost: .*messages/)
      .first()
      .waitFor();
    expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
    await page.getByLabel(/^Lose [\d,]+ rows or values$/).waitFor();
  });

  it("reads the days of a chart as everywhere else", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served, "#/keys");
    await page.evaluate(`{
      const { fillText } = CanvasRenderingContext2D.prototype;
      window.drawn = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        drawn.push(text);
        return fillText.call(this, text, ...at);
      };
    }`);
    await goTo(page, "#/usage");
    for (const range of ["7", "30", "90"]) {
      await page.evaluate("drawn = []");
      await page.locator("select").first().selectOption(range);
      const drawn = async () =>
        ((await page.evaluate("drawn")) as readonly string[]).filter((text) => /[-/]/.test(text));
      await expect.poll(async () => (await drawn()).length).toBeGreaterThan(3);
      const days = await drawn();
      expect(days.filter((text) => !/^\d{4}-\d\d-\d\d$/.test(text))).toEqual([]);
      expect(days.filter((day, i) => day === days[i - 1])).toEqual([]);
    }
  });

  it("runs an operation, watches what changes, opens a mailed link, and ends a session", async () => {
    const served = await serveConsole(schema, rules);
    const { carl } = await fill(served);
    const { context, page } = await openSignedIn(open, served, "#/live/messages");
    await page.getByText("1,000 rows in sight").waitFor();
    await served.sql("UPDATE messages SET body = 'heard live' WHERE id = 7");
    await page.getByText("heard live").waitFor();

    await goTo(page, "#/operations/rename_room");
    await page.getByLabel("id", { exact: true }).fill("room0");
    await page.getByLabel("name", { exact: true }).fill("Hall");
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("heading", { name: "Answer" }).waitFor();
    expect(await one(served, "SELECT name FROM rooms WHERE id = 'room0'")).toBe("Hall");

    await goTo(page, "#/users");
    await page.getByRole("button", { name: "Add user" }).click();
    await page.getByLabel("Email", { exact: true }).fill("new@example.com");
    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByText(/is on its way/).waitFor();
    await goTo(page, "#/mail");
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "Open the link" }).click();
    await (await opened).getByRole("button").first().waitFor();

    await served.server.request("/auth/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "carl@example.com", password }),
    });
    await goTo(page, `#/users/${carl}`);
    await page.getByRole("button", { name: "End", exact: true }).click();
    await page.getByText("None.", { exact: true }).waitFor();
    await served.server.request("/auth/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "carl@example.com", password }),
    });
    await page.reload();
    await page.getByRole("button", { name: "End", exact: true }).waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("dialog").last().getByRole("button", { name: "Disable" }).click();
    await page.getByText("None.", { exact: true }).waitFor();
    await page.getByRole("dialog").getByText("disabled").waitFor();
    expect(await one(served, "SELECT disabled FROM _users WHERE email = 'carl@example.com'")).toEqual(1);
  });
});
