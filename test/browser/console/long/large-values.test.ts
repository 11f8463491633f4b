import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, goTo, openSignedIn, type Served, serveConsole, settled } from "../support.js";

const schema = `
books:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    body: { type: text }
    notes: { type: json }
    version: { type: integer, managed: version }
plain:
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    body: { type: text }
`;
const bytes = 2_000_000;

/** The test fails where the server's answers bring more than 100 kB at once to the page. */
function watchAnswers(page: Page): void {
  const sizes: Promise<readonly [string, number]>[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith("/admin/api/data/")) return;
    sizes.push(response.body().then((body) => [`${response.request().method()} ${pathname}`, body.length]));
  });
  onTestFinished(async () => {
    const all = await Promise.all(sizes);
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter(([, size]) => size > 100_000)).toEqual([]);
  });
}

async function filled(): Promise<Served> {
  const served = await serveConsole(schema);
  for (const table of ["books", "plain"])
    await served.sql(
      `INSERT INTO ${table} (id, title, body) VALUES (1, 'long', replace(hex(zeroblob(?)), '0', 'x')), (2, 'short', 'short')`,
      bytes / 2,
    );
  return served;
}

const stored = async ({ server }: Served, table: string) =>
  (
    await server.database.query([
      { sql: `SELECT title, length(body), body LIKE 'x%x' FROM ${table} WHERE id = 1`, params: [] },
    ])
  )[0]!.rows[0];

async function change(page: Page, text: string): Promise<void> {
  await cell(page, 0, 1).dblclick();
  await page.locator(".cell-input").fill(text);
  await page.keyboard.press("Enter");
  await cell(page, 0, 1).filter({ hasText: text }).waitFor();
}

describeInChromium("values of megabytes", (open) => {
  it("are edited beside, undone, looked at in the past and deleted without coming to the page", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/books");
    watchAnswers(page);
    await cell(page, 0, 2).filter({ hasText: "xxx…" }).waitFor();
    await change(page, "other");
    expect(await stored(served, "books")).toEqual(["other", bytes, 1]);
    await cell(page, 0, 2).filter({ hasText: "xxx…" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await cell(page, 0, 1).filter({ hasText: "long" }).waitFor();
    expect(await stored(served, "books")).toEqual(["long", bytes, 1]);

    await page.getByRole("grid").focus();
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("button", { name: "History" }).click();
    await page.locator(".versions li").nth(1).waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Select row 1", { exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("1 row", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("2 rows", { exact: true }).waitFor();
    expect(await stored(served, "books")).toEqual(["long", bytes, 1]);
  });

  it("nor where the table has no versions, or somebody else has changed the value meanwhile", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/plain");
    watchAnswers(page);
    await change(page, "other");
    expect(await stored(served, "plain")).toEqual(["other", bytes, 1]);
    await served.sql("UPDATE plain SET title = 'theirs' WHERE id = 1");
    await cell(page, 0, 1).dblclick();
    await page.locator(".cell-input").fill("mine");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Write mine" }).click();
    await cell(page, 0, 1).filter({ hasText: "mine" }).waitFor();
    expect(await stored(served, "plain")).toEqual(["mine", bytes, 1]);
    await goTo(page, "#/data/plain");
    await page.getByRole("button", { name: "New row" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("body", { exact: true }).fill("y".repeat(200_000));
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("3 rows", { exact: true }).waitFor();
  });

  it("cannot be what a grid of several pages is sorted by, which says so and offers another order", async () => {
    const served = await filled();
    await served.sql(
      "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO plain SELECT i, 'row ' || i, 'a' FROM n",
    );
    await served.sql("UPDATE plain SET body = hex(zeroblob(45000)) WHERE id > 20");
    const { page } = await openSignedIn(open, served, "#/data/plain?sort=title,-body");
    watchAnswers(page);
    await page.getByText("The values of body are too long to go through the rows in their order.").waitFor();
    await page.getByRole("button", { name: "Sort by the others alone" }).click();
    await cell(page, 0, 1).filter({ hasText: "long" }).waitFor();
    await page.getByRole("columnheader", { name: /^body/ }).click();
    await page.getByRole("button", { name: "Sort by the key" }).click();
    await settled(page);
    await cell(page, 0, 0).filter({ hasText: "1" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(page.url()).not.toContain("sort=");
  });
});
