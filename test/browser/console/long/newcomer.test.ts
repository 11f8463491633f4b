import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../../../support/free-port.js";
import { patiently } from "../../../support/patience.js";
import { projectDirectory } from "../../../support/project-directory.js";
import { builtCommand, servePatiently } from "../../../support/spawned-server.js";
import { describeInChromium } from "../../chromium.js";
import { goTo, openConsole, password, settled } from "../support.js";

const schema =
  "notes:\n  columns:\n    id: { type: integer, primary_key: true }\n    body: { type: text, not_null: true }\n";

interface Started {
  /** Null where it has said none by now. */
  link(): string | null;
  end(): Promise<void>;
}

/** `svc serve` of the built server, once it listens. */
async function start(directory: string, port: number): Promise<Started> {
  const server = spawn(process.execPath, [
    ...servePatiently,
    builtCommand,
    "serve",
    "--dir",
    directory,
    "--port",
    String(port),
  ]);
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
  onTestFinished(() => void server.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface(server.stderr).on("line", (line) => lines.push(line));
  for await (const _ of createInterface(server.stdout)) break;
  return {
    link: () => lines.find((line) => line.includes("#/setup/"))?.trim() ?? null,
    end: () => {
      server.kill("SIGTERM");
      return ended;
    },
  };
}

describeInChromium("somebody new", (open) => {
  it("comes from the start's link to rows, a rule that denies, why it does, a mended one, a key, and a request", async () => {
    const directory = projectDirectory(schema);
    const port = await freePort("127.0.0.1");
    const url = `http://127.0.0.1:${port}`;
    const server = await start(directory, port);
    const link = await vi.waitUntil(() => server.link(), patiently);
    expect(link).toContain(`${url}/console#/setup/`);
    const { page } = await openConsole(open, { url }, link.slice(`${url}/console`.length));
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Create and sign in" }).click();

    await page.getByText("No rows yet").waitFor();
    expect(page.url()).not.toContain("setup");
    await page.getByRole("button", { name: "New row" }).click();
    await page.getByLabel("body", { exact: true }).fill("my first row");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("gridcell", { name: "my first row" }).waitFor();

    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("button", { name: "Add user" }).click();
    await page.getByRole("button", { name: "With a password" }).click();
    await page.getByLabel("Email", { exact: true }).fill("bea@example.com");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Create user" }).click();
    await page.getByRole("link", { name: "bea@example.com" }).waitFor();
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const signedIn = await (await post("/auth/login", { email: "bea@example.com", password })).json();
    const bearer = {
      Authorization: `Bearer ${(signedIn as { data: { access_token: string } }).data.access_token}`,
    };
    expect((await fetch(`${url}/api/notes`, { headers: bearer })).status).toBe(403);

    await page.getByRole("link", { name: "Requests" }).click();
    await page.getByRole("link", { name: "Why?" }).first().click();
    await page.getByRole("heading", { name: /Denied/ }).waitFor();
    await page.getByText("deny", { exact: true }).first().waitFor();

    const config = join(directory, "svc.toml");
    writeFileSync(config, `${readFileSync(config, "utf8")}\n[rules.notes]\nread = "authenticated"\n`);
    await server.end();
    const again = await start(directory, port);
    await page.reload();
    await page.getByRole("heading", { name: /Allowed/ }).waitFor();
    expect((await fetch(`${url}/api/notes`, { headers: bearer })).status).toBe(200);

    await goTo(page, "#/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("my server");
    await page.getByLabel("read notes").check();
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByText(/^svc_sk_/).innerText();
    const answer = await fetch(`${url}/api/notes`, { headers: { "X-API-Key": key } });
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: [{ id: 1, body: "my first row" }] }]);
    await page.getByRole("button", { name: "I have copied it" }).click();
    await settled(page);
    expect(await page.content()).not.toContain(key);
    await again.end();
    expect(again.link()).toBeNull();
  });
});
