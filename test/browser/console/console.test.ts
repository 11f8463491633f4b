import { expect, it } from "vitest";
import { describeInChromium } from "../chromium.js";
import { cell, goTo, openConsole, openSignedIn, seriousFaults, serveConsole, settled, signIn } from "./support.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, references: { table: $users, on_delete: cascade } }
    body: { type: text }
    stars: { type: integer }
`;
const rules = `
[rules.notes]
read = "row.owner_id = auth.id and row.stars > 2"
`;

describeInChromium("the console", (open) => {
  it("shows rows to an administrator who has signed in, as text, and takes changes of them", async () => {
    const served = await serveConsole(schema, rules);
    const hostile = `<img src=x onerror="document.title='gone'"> \u202e`;
    await served.sql("INSERT INTO notes (body, stars) VALUES (?, 1), ('two', 2)", hostile);
    const { page } = await openConsole(open, served);
    await page.getByLabel("Email").fill("root@example.com");
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await signIn(page);
    await page.getByRole("grid", { name: "notes" }).waitFor();
    expect(await cell(page, 0, 2).innerText()).toContain("<img src=x onerror=");
    expect(await cell(page, 0, 2).innerText()).toContain("U+202E");
    await cell(page, 1, 3).dblclick();
    await page.keyboard.type("many");
    await page.keyboard.press("Enter");
    await page.getByText("Not an integer.").waitFor();
    await page.getByLabel("stars", { exact: true }).fill("5");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    const [found] = await served.server.database.query([{ sql: "SELECT stars FROM notes WHERE id = 2", params: [] }]);
    expect(Number(found!.rows[0]![0])).toBe(5);
    expect(await seriousFaults(page)).toEqual([]);
    expect(await page.evaluate("document.cookie")).toBe("");
    expect(await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).toBe("[{},{}]");
  });

  it("says why somebody may not read a row: the terms of the rule light up", async () => {
    const served = await serveConsole(schema, rules);
    const bea = await served.user("bea@example.com");
    await served.sql("INSERT INTO notes (owner_id, body, stars) VALUES (?, 'hers', 1)", bea);
    const { page } = await openSignedIn(open, served);
    await goTo(page, `#/why?table=notes&action=read&as=user:${bea}&key={"id":"1"}`);
    await page.getByRole("heading", { name: /Denied/ }).waitFor();
    const lit = await page.evaluate(
      "[...document.querySelectorAll('.rule .term')].map((mark) => [mark.className, mark.textContent])",
    );
    expect(lit).toEqual([
      ["term true", "row.owner_id = auth.id"],
      ["term false", "row.stars > 2"],
    ]);
    await settled(page);
    expect(await seriousFaults(page)).toEqual([]);
  });
});
