import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, goTo, openConsole, password, root, serveConsole } from "../support.js";
import { fill, rules, schema } from "./projects.js";

/** Presses Tab until what has the focus has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let i = 0; i < 80; i++) {
    const text = (await page.evaluate(
      "(() => { const e = document.activeElement; if (e.matches('body, main, section')) return ''; const label = e.getAttribute('aria-label'); return (label && (e.role === 'grid' ? 'grid ' : '') + label) || e.labels?.[0]?.textContent || e.textContent || '' })()",
    )) as string;
    if (name.test(text)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the keyboard does not reach ${name}`);
}

describeInChromium("the console by keyboard alone", (open) => {
  it("signs in, edits a cell, filters, makes a row and a key, and asks why", async () => {
    const served = await serveConsole(schema, rules);
    const { bea } = await fill(served);
    const { page } = await openConsole(open, served, "#/data/tags");
    await page.getByLabel("Email").waitFor();
    await page.keyboard.type(root);
    await page.keyboard.press("Tab");
    await page.keyboard.type(password);
    await page.keyboard.press("Enter");
    await cell(page, 0, 1).waitFor();

    await tabTo(page, /^grid tags$/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type("#0af");
    await page.keyboard.press("Enter");
    await page.getByText("Saved.").waitFor();
    expect(await cell(page, 1, 2).innerText()).toBe("#0af");

    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.locator("[role=columnheader][aria-sort=ascending]").waitFor();

    await goTo(page, "#/data/tags");
    await tabTo(page, /^Filter$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Value$/);
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.getByText("1 row", { exact: true }).waitFor();

    await goTo(page, "#/data/tags");
    await tabTo(page, /New row/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^label$/);
    await page.keyboard.type("typed");
    await page.keyboard.press("Enter");
    await page.getByText("The row was created.").waitFor();

    await tabTo(page, /^Keys$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    await tabTo(page, /New key/);
    await page.keyboard.press("Enter");
    await page.getByLabel("read tags").waitFor();
    await tabTo(page, /^Name$/);
    await page.keyboard.type("by keyboard");
    await tabTo(page, /^read tags$/);
    await page.keyboard.press("Space");
    await tabTo(page, /Create key/);
    await page.keyboard.press("Enter");
    await page.getByText(/^svc_sk_/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });

    await goTo(page, "#/why?table=messages&action=read");
    await tabTo(page, /Anonymous/);
    await page.keyboard.press("Enter");
    await page.keyboard.type("bea");
    await page.getByRole("dialog").getByText("bea@example.com").waitFor();
    await tabTo(page, /bea@example.com/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /Allowed/ }).waitFor();
    expect(page.url()).toContain(bea);
  });

  it("leaves the grid and the editor by Tab, and dialogs by Escape", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openConsole(open, served, "#/data/messages");
    await page.getByLabel("Email").waitFor();
    await page.keyboard.type(root);
    await page.keyboard.press("Tab");
    await page.keyboard.type(password);
    await page.keyboard.press("Enter");
    await cell(page, 0, 1).waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("grid");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).not.toBe("grid");
    await goTo(page, "#/schema/edit");
    await page.getByLabel("svc.schema.yaml").focus();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.className")).not.toContain("editor-host");
  });
});
