import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, openSignedIn, type Served, serveConsole, settled } from "../support.js";

/** Wide enough that not all columns are in view. */
const wide = Array.from({ length: 12 }, (_, i) => `    wide${i}: { type: text }\n`).join("");
const schema = `
things:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    amount: { type: integer }
    version: { type: integer, managed: version }
${wide}`;

async function filled(count: number): Promise<Served> {
  const served = await serveConsole(schema);
  await served.sql(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO things (id, name, amount) SELECT i, 'name ' || i, i FROM n`,
    count,
  );
  return served;
}

const all = async ({ server }: Served, condition = "true") =>
  (
    await server.database.query([
      { sql: `SELECT id, name, amount FROM things WHERE ${condition} ORDER BY id`, params: [] },
    ])
  )[0]!.rows;

/** Loads the rows anew, and leaves the focus where it is. */
async function reload(page: Page): Promise<void> {
  await page.evaluate("document.querySelector('[aria-label=Reload]').click()");
  await settled(page);
}

async function pasteText(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+V");
}

/** Scrolls the grid, and waits until other rows and columns are drawn. */
async function scrollTo(page: Page, left: number, top: number): Promise<void> {
  await page.getByRole("grid").evaluate((grid, to) => grid.scrollTo(...to), [left, top] as const);
  await settled(page);
}

const focused = (page: Page, selector: string) =>
  page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);

describeInChromium("the grid", (open) => {
  it("keeps its active row when rows are loaded anew: for pasting, selecting and typing", async () => {
    const served = await filled(4);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).click();
    await served.sql("INSERT INTO things (id, name) VALUES (-1, 'above')");
    await reload(page);
    await cell(page, 0, 1).filter({ hasText: "above" }).waitFor();
    await pasteText(page, "pasted\t20");
    await page.getByText("1 row was changed.").waitFor();
    await page.keyboard.press("Space");
    expect(await page.getByLabel("Select row 3", { exact: true }).isChecked()).toBe(true);
    await page.keyboard.type("typed");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await all(served, "id < 4")).toEqual([
      [-1, "above", null],
      [1, "name 1", 1],
      [2, "typed", 20],
      [3, "name 3", 3],
    ]);
  });

  it("goes on at the same place where its active row is gone", async () => {
    const served = await filled(4);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 3, 1).click();
    await served.sql("DELETE FROM things WHERE id = 4");
    await reload(page);
    await page.getByText("3 rows", { exact: true }).waitFor();
    await page.keyboard.type("last");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect((await all(served))[2]).toEqual([3, "last", 3]);
  });

  it("keeps what is typed, and the keyboard, while the cell is out of view", async () => {
    const served = await filled(150);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 5, 1).dblclick();
    await page.keyboard.type("mine");
    for (const [left, top] of [
      [0, 300],
      [0, 3000],
      [1500, 3000],
      [1500, 100],
      [1500, 2000],
    ] as const) {
      await scrollTo(page, left, top);
      expect(await focused(page, ".cell-input")).toBe(true);
    }
    await page.keyboard.type(" still");
    expect(await page.locator(".cell-input").inputValue()).toBe("mine still");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect((await all(served))[5]).toEqual([6, "mine still", 6]);
    expect(await focused(page, "[role=grid]")).toBe(true);
  });

  it("goes on in the open field where keys are pressed after a click on another cell", async () => {
    const served = await filled(4);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).dblclick();
    await page.keyboard.type("mine");
    await cell(page, 3, 2).click();
    await page.keyboard.type("!");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect((await all(served))[1]).toEqual([2, "mine!", 2]);
  });

  it("ends the editing of a row that a reload has taken away, also when the row comes back", async () => {
    const served = await filled(300);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 10, 1).waitFor();
    await scrollTo(page, 0, 160 * 32);
    await page.getByText(/^300 /).waitFor();
    await scrollTo(page, 0, 245 * 32);
    await cell(page, 249, 1).dblclick();
    await page.keyboard.type("mine");
    await reload(page);
    await scrollTo(page, 0, 245 * 32);
    await cell(page, 249, 1).waitFor();
    expect(await page.locator(".cell-input").count()).toBe(0);
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    expect(await focused(page, "[role=grid]")).toBe(true);
  });

  it("ends the editing of a column that is hidden", async () => {
    const served = await filled(4);
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).dblclick();
    await page.keyboard.type("mine");
    await page.getByRole("button", { name: "Columns" }).click();
    const shown = page.getByRole("checkbox", { name: "name", exact: true });
    await shown.uncheck();
    expect(await page.locator(".cell-input").count()).toBe(0);
    await shown.check();
    await cell(page, 1, 1).filter({ hasText: "name 2" }).waitFor();
    expect(await page.locator(".cell-input").count()).toBe(0);
    await page.getByRole("grid").focus();
    await page.keyboard.press("Enter");
    await page.locator(".cell-input").waitFor();
  });

  it("saves once, however often Enter is pressed, and a late answer leaves another cell alone", async () => {
    const served = await filled(4);
    const { context, page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).dblclick();
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let writes = 0;
    await context.route("**/admin/api/data/**", async (route) => {
      if (route.request().method() === "PATCH") {
        writes++;
        await asked;
      }
      await route.continue();
    });
    await page.keyboard.type("mine");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await cell(page, 2, 1).dblclick();
    await page.keyboard.type("other");
    answer();
    await page.getByText("Saved.").waitFor();
    expect(writes).toBe(1);
    expect(await cell(page, 2, 1).locator(".cell-input").inputValue()).toBe("other");
    await page.keyboard.press("Enter");
    await page.locator(".cell-input").waitFor({ state: "hidden" });
    expect((await all(served)).slice(1, 3)).toEqual([
      [2, "mine", 2],
      [3, "other", 3],
    ]);
    expect(await page.getByText("Somebody else has changed this row").count()).toBe(0);
  });

  it("copies a text with a tab as one cell, which is no paste of two", async () => {
    const served = await filled(2);
    await served.sql("UPDATE things SET name = 'a' || char(9) || '7' WHERE id = 1");
    const { context, page } = await openSignedIn(open, served, "#/data/things");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await cell(page, 0, 1).click();
    await page.keyboard.press("Control+c");
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe('"a\t7"');
    await cell(page, 1, 1).click();
    await page.keyboard.press("Control+V");
    await settled(page);
    expect((await all(served))[1]).toEqual([2, "name 2", 2]);
  });
});
