import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import { describeInChromium } from "../../chromium.js";
import { goTo, openConsole, openSignedIn, root, seriousFaults, serveConsole, settled } from "../support.js";
import { fill, rules, schema } from "./projects.js";

/** Every screen, and how it is opened; `bea` stands for the id of a user. */
const screens: readonly (readonly [name: string, fragment: string])[] = [
  ["data", "#/data/messages"],
  ["live", "#/live/messages"],
  ["why", '#/why?table=messages&action=update&as=user:BEA&key={"id":"2"}&values={"body":"hello"}'],
  ["schema", "#/schema"],
  ["drawing", "#/schema/drawing"],
  ["edit", "#/schema/edit?index=measurements.sensor"],
  ["operations", "#/operations"],
  ["users", "#/users"],
  ["keys", "#/keys"],
  ["mail", "#/mail"],
  ["requests", "#/requests"],
  ["usage", "#/usage"],
  ["settings", "#/settings"],
];

describeInChromium("every screen of the console", (open) => {
  it("of a project with many rows: nothing serious found by axe, light and dark", async () => {
    const served = await serveConsole(schema, rules);
    const { bea } = await fill(served);
    const { page } = await openConsole(open, served);
    mkdirSync("docs/console", { recursive: true });
    const keep = async (name: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await seriousFaults(page), `${name}, ${colorScheme}`).toEqual([]);
        if (process.env.UPDATE_SCREENSHOT)
          await page.screenshot({ path: `docs/console/${name}-${colorScheme}.png`, animations: "disabled" });
      }
    };
    await page.getByLabel("Email").waitFor();
    await keep("sign-in");
    await page.getByLabel("Email").fill(root);
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("grid").waitFor();
    await makeTraces(page);
    await served.server.upkeep.collectUsage();
    for (const [name, fragment] of screens) {
      await goTo(page, fragment.replace("BEA", bea));
      await settled(page);
      await keep(name);
    }
    await goTo(page, `#/users/${bea}`);
    await page.getByRole("dialog").waitFor();
    await settled(page);
    await keep("user");
  });

  it("of a project with nothing in it says so, and fails nowhere", async () => {
    const served = await serveConsole("notes: { columns: { id: { type: integer, primary_key: true } } }");
    const { page } = await openSignedIn(open, served);
    for (const [name, fragment] of screens) {
      await goTo(
        page,
        fragment
          .replace("messages", "notes")
          .replace("as=user:BEA", "as=anonymous")
          .replace(/&values=.*/, ""),
      );
      await settled(page);
      expect(await page.getByRole("alert").allTextContents(), name).toEqual([]);
      expect(await seriousFaults(page), name).toEqual([]);
    }
  });

  it("of a project without a table leads to the schema", async () => {
    const { page } = await openSignedIn(open, await serveConsole("{}"));
    await page.getByText("There are no tables yet").waitFor();
    for (const [name, fragment] of screens) {
      await goTo(page, fragment);
      await settled(page);
      expect(await seriousFaults(page), name).toEqual([]);
    }
    await goTo(page, "#/data");
    await page.getByRole("link", { name: "Edit the schema" }).click();
    await page.getByLabel("svc.schema.yaml").waitFor();
  });

  it("stays readable at 200 %, and in a narrow window", async () => {
    const served = await serveConsole(schema, rules);
    await fill(served);
    const { page } = await openSignedIn(open, served);
    // Half the window is what a page sees that is shown at twice its size.
    await page.setViewportSize({ width: 640, height: 400 });
    for (const [name, fragment] of screens) {
      await goTo(page, fragment);
      await settled(page);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, name).toBeLessThanOrEqual(0);
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor();
  });
});

/** A key, an invitation, and requests that are answered and refused. */
async function makeTraces(page: Awaited<ReturnType<typeof openConsole>>["page"]): Promise<void> {
  const ask = (path: string, body: object) =>
    page.evaluate(
      `fetch(${JSON.stringify(path)}, { method: "POST", headers: { "Content-Type": "application/json" }, body: ${JSON.stringify(JSON.stringify(body))} }).then((r) => r.ok || r.text().then((t) => { throw new Error(t) }))`,
    );
  await ask("/admin/api/service-keys", { name: "nightly report", scopes: ["resource:messages:read"] });
  await ask("/admin/api/service-keys", { name: "backend", scopes: ["project:backend"] });
  await ask("/admin/api/users/invite", { email: "new@example.com" });
  await page.evaluate("Promise.all(['/api/messages', '/api/rooms', '/api/measurements?limit=5'].map((p) => fetch(p)))");
}
