import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { cell, goTo, openConsole, openSignedIn, password, serveConsole, settled, signIn } from "../support.js";
import { fill, rules, schema } from "./projects.js";

describeInChromium("the console in trouble", (open) => {
  it("two administrators who edit one row: the second is told, and decides", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const first = await openSignedIn(open, served, "#/data/messages");
    const second = await openSignedIn(open, served, "#/data/messages");
    const change = async ({ page }: typeof first, text: string) => {
      await cell(page, 0, 3).dblclick();
      await page.locator(".cell-input").fill(text);
      await page.keyboard.press("Enter");
    };
    await cell(second.page, 0, 3).waitFor();
    await change(first, "the first says this");
    await first.page.getByText("Saved.").waitFor();
    await change(second, "the second says that");
    await second.page.getByText("Somebody else has changed this row").waitFor();
    await second.page.getByRole("dialog").getByText("the first says this").waitFor();
    await second.page.getByRole("button", { name: "Keep theirs" }).click();
    expect(await cell(second.page, 0, 3).innerText()).toBe("the first says this");
    // Without versions the values are compared.
    for (const { page } of [first, second]) await goTo(page, "#/data/tags");
    for (const { page } of [first, second]) await cell(page, 0, 2).waitFor();
    const colour = async ({ page }: typeof first, text: string) => {
      await cell(page, 0, 2).dblclick();
      await page.locator(".cell-input").fill(text);
      await page.keyboard.press("Enter");
    };
    await colour(first, "#111");
    await first.page.getByText("Saved.").last().waitFor();
    await colour(second, "#222");
    await second.page.getByRole("button", { name: "Write mine" }).click();
    await second.page.getByText("Saved.").waitFor();
    expect(await cell(second.page, 0, 2).innerText()).toBe("#222");
  });

  it("a session that ends: the page asks to sign in, and goes on where it was", async () => {
    const served = await serveConsole(schema, rules);
    const { page } = await openSignedIn(open, served, "#/users");
    await page.getByRole("link", { name: "root@example.com" }).waitFor();
    await served.sql("UPDATE _sessions SET revoked_at = 1");
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByLabel("Email").waitFor();
    await signIn(page);
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
    // What was asked before is not asked of whoever signs in next.
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("late");
    await page.getByLabel("read messages").check();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByRole("button", { name: "I have copied it" }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await served.sql("UPDATE _sessions SET revoked_at = 1");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByLabel("Email").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("a server that goes away: what is shown stays, and the page goes on when it is back", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { context, page } = await openSignedIn(open, served, "#/data/tags");
    await cell(page, 0, 1).waitFor();
    await context.setOffline(true);
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("The server cannot be reached.").first().waitFor();
    await context.setOffline(false);
    await page.getByText("The server cannot be reached.").first().waitFor({ state: "hidden" });
    await cell(page, 0, 1).waitFor();
    expect(await cell(page, 0, 1).innerText()).toBe("bug");
  });

  it("a proxy that answers for a server which is down: nobody is signed out, and it does not count as back", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { context, page } = await openSignedIn(open, served, "#/data/tags");
    await cell(page, 0, 1).waitFor();
    const proxied = "**/admin/api/**";
    await context.setOffline(true);
    await page.getByRole("button", { name: "Reload" }).click();
    const bar = page.locator(".away-bar");
    await bar.waitFor();
    await context.route(proxied, (route) => route.fulfill({ status: 502, body: "bad gateway" }));
    await context.setOffline(false);
    const answered = page.waitForResponse(/admin\/api\/data/);
    await page.getByRole("button", { name: "Reload" }).click();
    await answered;
    await settled(page);
    expect(await bar.count()).toBe(1);
    await page.reload();
    await page.getByText(/^an answer of status 502/).waitFor();
    expect(await page.getByLabel("Email").count()).toBe(0);
    await context.unroute(proxied);
    await page.getByRole("button", { name: "Try again" }).click();
    await cell(page, 0, 1).waitFor();
  });

  it("what needs the password again asks for it, and is done after it", async () => {
    const served = await serveConsole(schema, rules);
    const { page } = await openSignedIn(open, served, "#/keys");
    served.server.clock.advance(301_000);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("late");
    await page.getByLabel("read messages").check();
    await page.getByRole("button", { name: "Create key" }).click();
    const asked = page.getByRole("dialog").filter({ hasText: "Your password, please" });
    await asked.getByLabel("Password", { exact: true }).fill("wrong");
    await asked.getByRole("button", { name: "Go on" }).click();
    await asked.getByRole("alert").waitFor();
    await asked.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await asked.getByRole("button", { name: "Go on" }).click();
    await page.getByText(/^svc_sk_/).waitFor();
  });

  it("a dialog over a dialog takes what is typed as soon as it is seen, however slowly the browser draws", async () => {
    const served = await serveConsole(schema, rules);
    const { page } = await openSignedIn(open, served, "#/keys");
    served.server.clock.advance(301_000);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("late");
    await page.getByLabel("read messages").check();
    await page.evaluate(`{
      const [frame, timer] = [requestAnimationFrame, setTimeout];
      window.requestAnimationFrame = (act) => timer(() => frame(act), 500);
      window.setTimeout = (act, ms = 0) => timer(act, ms + 500);
    }`);
    await page.getByRole("button", { name: "Create key" }).click();
    const asked = page.getByRole("dialog").filter({ hasText: "Your password, please" });
    await asked.getByLabel("Password", { exact: true }).fill(password);
    await asked.getByRole("button", { name: "Go on" }).click();
    await page.getByText(/^svc_sk_/).waitFor();
  });

  it("hostile rows: markup, marks that turn text around, 2 MB of text, 100 columns", async () => {
    const columns = Array.from({ length: 99 }, (_, i) => `    c${i}: { type: text }`).join("\n");
    const served = await serveConsole(`wide:\n  columns:\n    id: { type: integer, primary_key: true }\n${columns}\n`);
    const bodies = ["</td><script>document.title='gone'</script>", "a\u202egpj.exe\u2066", "javascript:alert(1)"];
    for (const body of bodies) await served.sql("INSERT INTO wide (c0, c1) VALUES (?, ?)", body, "x".repeat(2_000_000));
    await served.sql(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO wide (c98) SELECT 'end' FROM n",
    );
    const { context, page } = await openConsole(open, served, "#/data/wide");
    let largest = 0;
    context.on("response", async (response) => {
      if (!response.url().includes("/admin/api/data/")) return;
      largest = Math.max(largest, (await response.body().catch(() => Buffer.alloc(0))).length);
    });
    await signIn(page);
    for (const [i, body] of bodies.entries()) {
      await cell(page, i, 1).waitFor();
      expect((await cell(page, i, 1).innerText()).startsWith(body.slice(0, 1))).toBe(true);
    }
    expect(await cell(page, 1, 1).innerText()).toContain("U+202E");
    await settled(page);
    expect(largest).toBeLessThan(1_000_000);
    await page.getByRole("grid").focus();
    await page.keyboard.press("Control+End");
    await page.getByText("end", { exact: true }).first().waitFor();
    expect(await page.locator("[role=gridcell]").count()).toBeLessThan(1500);
    expect(await page.title()).not.toBe("gone");
    // The whole of a long value is sent when it is asked for.
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Shift+Enter");
    await page.getByRole("button", { name: /^Load all/ }).click();
    await settled(page);
    expect(await page.locator("dialog textarea").inputValue()).toHaveLength(2_000_000);
  });
});
