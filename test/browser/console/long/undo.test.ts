import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, openSignedIn, type Served, serveConsole } from "../support.js";

const schema = `
things:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    secret: { type: text }
versioned:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    version: { type: integer, managed: version }
`;
const rules = `
[rules.things]
read = "true"

[rules.things.columns.secret]
read = "false"
`;

async function filled(): Promise<Served> {
  const served = await serveConsole(schema, rules);
  for (const table of ["things", "versioned"])
    await served.sql(`INSERT INTO ${table} (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')`);
  return served;
}

async function names({ server }: Served, table = "things") {
  const sql = `SELECT name FROM ${table} ORDER BY id`;
  return (await server.database.query([{ sql, params: [] }]))[0]!.rows.map(([name]) => name);
}

async function paste(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+V");
}

/** Changes the name in the first row, and waits until it is saved. */
async function change(page: Page, name: string): Promise<void> {
  await cell(page, 0, 1).dblclick();
  await page.locator(".cell-input").fill(name);
  await page.keyboard.press("Enter");
  await cell(page, 0, 1).filter({ hasText: name }).waitFor();
}

const undo = (page: Page) => page.getByRole("button", { name: "Undo" });

/** A promise, and what resolves it. */
function opening() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Holds requests back, from the `first`th of this method and address on, until `release` is called. */
async function hold(page: Page, address: string, method: string, first = 1) {
  const [gate, reached] = [opening(), opening()];
  let count = 0;
  const handle = async (route: Route) => {
    if (route.request().method() === method && ++count >= first) {
      reached.open();
      await gate.opened;
    }
    await route.continue();
  };
  await page.context().route(address, handle);
  return { reached: reached.opened, release: gate.open };
}

describeInChromium("undo in the console", (open) => {
  it.each(["things", "versioned"])("of %s, the latest first, ends at the first value", async (table) => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, `#/data/${table}`);
    for (const name of ["second", "third"]) await change(page, name);
    await undo(page).last().click();
    await cell(page, 0, 1).filter({ hasText: "second" }).waitFor();
    await undo(page).click();
    await cell(page, 0, 1).filter({ hasText: /^a$/ }).waitFor();
    expect(await names(served, table)).toEqual(["a", "b", "c"]);
  });

  it("of a write that is not the last any more is refused, also where the values are the same", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    for (const name of ["second", "third"]) await change(page, name);
    await undo(page).first().click();
    await page.getByText("It was changed since.").waitFor();
    for (const name of ["theirs", "third"]) await served.sql("UPDATE things SET name = ? WHERE id = 1", name);
    await undo(page).click();
    await page.getByText("It was changed since.").nth(1).waitFor();
    expect((await names(served))[0]).toBe("third");
  });

  it("of several rows leaves those out that were changed since, and says which", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).click();
    await paste(page, "x\ny\nz");
    await page.getByRole("dialog").getByRole("button", { name: "Paste" }).click();
    await page.getByText("3 rows were changed.").waitFor();
    await served.sql("UPDATE things SET name = 'theirs' WHERE id = 1");
    await undo(page).click();
    await page.getByText("Not taken back: 1: It was changed since.").waitFor();
    expect(await names(served)).toEqual(["theirs", "b", "c"]);
    expect(await cell(page, 2, 1).innerText()).toBe("c");

    for (const row of [1, 2, 3]) await page.getByLabel(`Select row ${row}`, { exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("3 rows were deleted.").waitFor();
    await served.sql("INSERT INTO things (id, name) VALUES (1, 'again')");
    await undo(page).click();
    await page.getByText("Not taken back: 1: It was changed since.").nth(1).waitFor();
    await cell(page, 2, 1).filter({ hasText: "c" }).waitFor();
    expect(await names(served)).toEqual(["again", "b", "c"]);
  });

  it("shows nothing of the row to whom the rows are viewed as meanwhile", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await change(page, "second");
    await page.evaluate("location.hash = '#/data/things?as=anonymous'");
    await page.getByText("You see what the rules show to").waitFor();
    await cell(page, 0, 1).filter({ hasText: "second" }).waitFor();
    const restored = page.waitForResponse(/_svc\/restore/);
    const looked = page.waitForResponse(/_svc\/history.*limit=2/);
    await undo(page).click();
    await restored;
    await looked;
    await expect.poll(() => names(served)).toEqual(["a", "b", "c"]);
    expect(await page.getByRole("columnheader", { name: /secret/ }).count()).toBe(0);
    expect(await cell(page, 0, 1).innerText()).toBe("second");
  });

  it("leaves alone a form that was opened meanwhile", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).click();
    await page.keyboard.press("Shift+Enter");
    const drawer = page.getByRole("dialog");
    await drawer.getByLabel("name", { exact: true }).fill("second");
    await drawer.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const { reached, release } = await hold(page, "**/_svc/restore", "POST");
    await undo(page).click();
    await reached;
    await page.getByRole("button", { name: "New row" }).click();
    await drawer.getByLabel("name", { exact: true }).fill("mine");
    release();
    await cell(page, 0, 1).filter({ hasText: /^a$/ }).waitFor();
    expect(await drawer.getByLabel("name", { exact: true }).inputValue()).toBe("mine");
  });

  it("and other messages end with the session", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await change(page, "second");
    await undo(page).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Email").waitFor();
    expect(await page.locator(".toast").count()).toBe(0);
  });
});

describeInChromium("writes in the console", (open) => {
  it("no further row is pasted once the dialog is closed", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).click();
    await paste(page, "x\ny\nz");
    const { reached, release } = await hold(page, "**/admin/api/data/things/**", "PATCH", 2);
    const asked = page.getByRole("dialog");
    await asked.getByRole("button", { name: "Paste" }).click();
    await reached;
    await cell(page, 0, 1).filter({ hasText: "x" }).waitFor();
    await page.keyboard.press("Escape");
    await asked.waitFor({ state: "hidden" });
    release();
    await page.getByText("2 rows were changed.").waitFor();
    await page.getByText("Not written: 1 row, as you cancelled").waitFor();
    expect(await names(served)).toEqual(["x", "y", "c"]);
  });

  it("a form shows both values of a conflict, and overwrites only what was shown", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).click();
    await page.keyboard.press("Shift+Enter");
    const drawer = page.locator("dialog.side");
    const name = drawer.getByLabel("name", { exact: true });
    await name.fill("mine");
    await served.sql("UPDATE things SET name = 'theirs' WHERE id = 1");
    await drawer.getByRole("button", { name: "Save" }).click();
    const asked = page.getByRole("dialog").filter({ hasText: "Nothing of yours is written yet." });
    await asked.getByText("theirs", { exact: true }).waitFor();
    await asked.getByText("mine", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await asked.waitFor({ state: "hidden" });
    expect(await name.inputValue()).toBe("mine");

    await drawer.getByRole("button", { name: "Save" }).click();
    await asked.waitFor();
    await served.sql("UPDATE things SET name = 'third' WHERE id = 1");
    await asked.getByRole("button", { name: "Write mine" }).click();
    await asked.getByText("third", { exact: true }).waitFor();
    expect((await names(served))[0]).toBe("third");
    await asked.getByRole("button", { name: "Write mine" }).click();
    await page.getByText("Saved.").waitFor();
    await drawer.waitFor({ state: "hidden" });
    expect((await names(served))[0]).toBe("mine");
  });
});
