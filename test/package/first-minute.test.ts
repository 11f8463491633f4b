import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { describeInChromium } from "../browser/chromium.js";
import { blocksOf } from "../docs/pages.js";
import { servedBy } from "./installed.js";
import { executable, tarballs } from "./released.js";

const run = promisify(execFile);

/** The two commands of the README that begin in an empty folder. */
const [first, second] = blocksOf("README.md")
  .find(({ text }) => text.includes("svc init --demo"))!
  .text.trimEnd()
  .split("\n");

describeInChromium("the README's two commands", (open) => {
  it.each([
    { from: "tarball", command: first!.replace(/\S+\.tgz/, tarballs.server), served: second! },
    ...(process.env.BINARY === undefined
      ? []
      : [{ from: "binary", command: first!.replace(/^npm i \S+ && /, ""), served: second! }]),
  ])("take an empty folder to a page with rows, from the $from", async ({ from, command, served }) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-first-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const bin = join(folder, "home/bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(executable, join(bin, "svc"));
    const env = {
      PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(folder, "home"),
    };
    const withoutNpx = (line: string) => (from === "binary" ? line.replaceAll("npx svc", "svc") : line);
    const project = join(folder, "project");
    mkdirSync(project);
    const fromMs = performance.now();
    await run("bash", ["-euo", "pipefail", "-c", withoutNpx(command)], { cwd: project, env });
    const { url, stop } = await servedBy("bash", ["-c", `exec ${withoutNpx(served).replace(/ *#.*/, "")} --port 0`], {
      cwd: project,
      env,
    });
    const { page } = await open(url);
    await page.getByText("Tea, 4.50").waitFor();
    await page.getByRole("button", { name: "Show my orders" }).click();
    await page.getByText("2 × Tea").waitFor();
    process.stdout.write(`from the ${from}: ${((performance.now() - fromMs) / 1000).toFixed(1)} s\n`);
    expect(await page.locator("#message").textContent()).toBe("");
    await stop();
    // `npx` may end before the server does.
    await expect.poll(() => fetch(`${url}/health`).catch(() => "ended")).toBe("ended");
  });
});
