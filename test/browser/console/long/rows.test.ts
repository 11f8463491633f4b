import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, openSignedIn, type Served, serveConsole, settled } from "../support.js";

const schema = `
things:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true, check: "length(name) < 20" }
    amount: { type: integer }
    isOpen: { type: boolean, default: true }
    version: { type: integer, managed: version }
plain:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    body: { type: text }
`;

async function filled(): Promise<Served> {
  const served = await serveConsole(schema);
  for (const [id, name] of [...["a", "b", "c", "d"].entries()])
    await served.sql("INSERT INTO things (id, name, amount, isOpen) VALUES (?, ?, ?, 1)", id + 1, name, id);
  await served.sql("INSERT INTO plain VALUES (1, 'one', 'short'), (2, 'two', ?)", "x".repeat(1000));
  return served;
}

const all = async ({ server }: Served, table: string, columns: string) =>
  (await server.database.query([{ sql: `SELECT ${columns} FROM ${table} ORDER BY id`, params: [] }]))[0]!.rows;

async function paste(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+V");
}

describeInChromium("rows in the console", (open) => {
  it("several cells are pasted from the one with the focus on, after a question, and taken back", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).click();
    await paste(page, 'B\t20\tfalse\r\n"C ""c"""\tx\ttrue\r\nmuch too long for this\t40\ttrue\r\nE\t50\ttrue\r\n');
    const asked = page.getByRole("dialog").filter({ hasText: "Change 3 rows?" });
    await asked.getByText(/1 row below the last one that is loaded; amount of 3: Not an integer\.$/).waitFor();
    await asked.getByRole("button", { name: "Paste" }).click();
    await page.getByText("2 rows were changed.").waitFor();
    await page.getByText(/^Not written: 4: /).waitFor();
    expect(await all(served, "things", "name, amount, isOpen")).toEqual([
      ["a", 0, 1],
      ["B", 20, 0],
      ['C "c"', 2, 1],
      ["d", 3, 1],
    ]);
    expect(await cell(page, 2, 1).innerText()).toBe('C "c"');
    await page.getByRole("button", { name: "Undo" }).click();
    await cell(page, 2, 1).filter({ hasText: /^c$/ }).waitFor();
    expect(await all(served, "things", "name")).toEqual([["a"], ["b"], ["c"], ["d"]]);
  });

  it("pasted cells of one row are written at once, but not columns that cannot be, and one cell as before", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 2).click();
    await paste(page, "\tfalse\t9\t10");
    await page.getByText("1 row was changed.").waitFor();
    await page.getByText("Not written: 1 column right of the last one; version, which cannot").waitFor();
    expect((await all(served, "things", "amount, isOpen"))[0]).toEqual([null, 0]);
    await paste(page, "7\n");
    await paste(page, "8\n9\n");
    await page.getByRole("dialog").getByRole("button", { name: "Paste" }).click();
    await page.getByText("2 rows were changed.").waitFor();
    expect(await all(served, "things", "amount")).toEqual([[8], [9], [2], [3]]);
  });

  it("what is selected or edited stays the same row when the rows are loaded anew", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await page.getByLabel("Select row 2", { exact: true }).click();
    await page.getByText("1 row selected").waitFor();
    await cell(page, 2, 1).dblclick();
    await page.locator(".cell-input").fill("mine");
    await served.sql("INSERT INTO things (id, name) VALUES (-1, 'new')");
    // A click on the button would take the focus from the cell, which the keyboard's owner has not done.
    await page.evaluate("document.querySelector('[aria-label=Reload]').click()");
    await cell(page, 0, 1).filter({ hasText: "new" }).waitFor();
    await cell(page, 3, 1).locator(".cell-input").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await page.getByLabel("Select row 3", { exact: true }).isChecked()).toBe(true);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("1 row was deleted.").waitFor();
    expect(await all(served, "things", "name")).toEqual([["new"], ["a"], ["mine"], ["d"]]);
  });

  it("a short value that somebody made long, and a long one that only its end tells apart, are not overwritten", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/plain");
    await cell(page, 0, 2).waitFor();
    await served.sql("UPDATE plain SET body = ? WHERE id = 1", "theirs".repeat(100));
    await cell(page, 0, 2).dblclick();
    await page.locator(".cell-input").fill("mine");
    await page.keyboard.press("Enter");
    await page.getByText("Somebody else has changed this row").waitFor();
    await page.getByRole("button", { name: "Keep theirs" }).click();

    await cell(page, 1, 2).click();
    await page.keyboard.press("Shift+Enter");
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("button", { name: /^Load all/ }).click();
    await drawer.getByLabel("body", { exact: true }).fill("mine");
    const theirs = `${"x".repeat(999)}y`;
    await served.sql("UPDATE plain SET body = ? WHERE id = 2", theirs);
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.getByText("Somebody else has changed this row").waitFor();
    expect((await all(served, "plain", "body"))[1]).toEqual([theirs]);
    await drawer.getByRole("button", { name: "Write mine" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await all(served, "plain", "body"))[1]).toEqual(["mine"]);
  });

  it("an undo does not take back what somebody else has written since", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).dblclick();
    await page.locator(".cell-input").fill("mine");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    await served.sql("UPDATE things SET name = 'theirs' WHERE id = 1");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("It was changed since.").waitFor();
    expect((await all(served, "things", "name"))[0]).toEqual(["theirs"]);
  });

  it("the rows of one caller are not shown as those of another, however long these take", async () => {
    const served = await filled();
    const { context, page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).waitFor();
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await context.route("**/admin/api/data/**", async (route) => {
      await asked;
      await route.continue();
    });
    await page.evaluate("location.hash = '#/data/things?as=anonymous'");
    await page.getByText("You see what the rules show to").waitFor();
    expect(await page.locator("[data-row]").count()).toBe(0);
    answer();
    await page.getByText("The rules refuse this to Anonymous").waitFor();
  });

  it("an address cannot give one caller the name of another", async () => {
    const served = await filled();
    const eve = await served.user("eve@example.com");
    const { page } = await openSignedIn(open, served, `#/data/things?as=user:${eve}&name=bea@example.com`);
    await page.getByRole("status").filter({ hasText: "rules show to eve@example.com." }).waitFor();
    expect(await page.getByText("bea@example.com").count()).toBe(0);
  });

  it("what is edited ends where its row is gone, and the keyboard goes on", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 1, 1).dblclick();
    await page.locator(".cell-input").fill("mine");
    await served.sql("DELETE FROM things WHERE id = 2");
    await page.evaluate("document.querySelector('[aria-label=Reload]').click()");
    await page.getByText("3 rows", { exact: true }).waitFor();
    expect(await page.locator(".cell-input").count()).toBe(0);
    await page.getByRole("grid").focus();
    await page.keyboard.press("Enter");
    await page.locator(".cell-input").waitFor();
  });

  it("a new row: a boolean gets its default, or NULL where that is chosen", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    for (const [name, choices] of [
      ["e", ["false", ""]],
      ["f", ["null"]],
    ] as const) {
      await page.getByRole("button", { name: "New row" }).click();
      const drawer = page.getByRole("dialog");
      await drawer.getByLabel("name", { exact: true }).fill(name);
      for (const choice of choices) await drawer.getByLabel("isOpen").selectOption(choice);
      await drawer.getByRole("button", { name: "Create" }).click();
      await drawer.waitFor({ state: "hidden" });
    }
    expect((await all(served, "things", "name, isOpen")).slice(4)).toEqual([
      ["e", 1],
      ["f", null],
    ]);
  });

  it("Escape in a form that was filled in asks first, also pressed again and again", async () => {
    const served = await filled();
    const { page } = await openSignedIn(open, served, "#/data/things");
    await cell(page, 0, 1).waitFor();
    await page.getByRole("button", { name: "New row" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "New row" }).click();
    const name = page.getByLabel("name", { exact: true });
    await name.fill("mine");
    const question = page.getByRole("dialog").filter({ hasText: "Drop what you have filled in?" });
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("Escape");
      await question.waitFor();
      await page.keyboard.press("Escape");
      await question.waitFor({ state: "hidden" });
      expect(await name.inputValue()).toBe("mine");
    }
    await page.keyboard.press("Escape");
    await question.getByRole("button", { name: "Drop it" }).click();
    await page.getByRole("dialog").first().waitFor({ state: "hidden" });
    await cell(page, 0, 1).click();
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("dialog").getByLabel("name", { exact: true }).fill("other");
    await page.getByRole("button", { name: "History" }).click();
    await settled(page);
    await page.getByRole("button", { name: "Columns" }).last().click();
    expect(await name.inputValue()).toBe("other");
  });
});
