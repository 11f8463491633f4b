import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { builtCommand } from "../support/spawned-server.js";
import { blocksOf } from "./pages.js";

const node = promisify(execFile);

/** Where the project is made, seen from the application: as `svc init` makes it, and as docs/start.md has it. */
const layouts = [".", "shop"];

test.each(layouts)(
  "the program of docs/guides/testing.md passes beside a project of `svc init %s`",
  async (project) => {
    const directory = mkdtempSync(join(tmpdir(), "svc-testing-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    await node(process.execPath, [builtCommand, "init", join(directory, project)]);
    mkdirSync(join(directory, "node_modules"));
    for (const name of ["svc-server", "svc-client"]) linkPackage(directory, name);
    const program = blocksOf("docs/guides/testing.md").find(({ language }) => language === "js");
    writeFileSync(join(directory, project, "rules.test.mjs"), program!.text);
    const { stdout } = await node(process.execPath, ["--test", "--test-reporter=tap"], {
      cwd: directory,
      env: { PATH: process.env.PATH },
    });
    expect(stdout).toMatch(/^# pass 2\n# fail 0$/m);
  },
);

test("the cases of docs/guides/testing.md pass beside a project of `svc init`, and its own notice every change", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-testing-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const svc = (...args: readonly string[]) => node(process.execPath, [builtCommand, ...args, "--dir", directory]);
  await node(process.execPath, [builtCommand, "init", directory]);
  const own = await svc("test", "--mutate", "--min", "100");
  expect(own.stdout).toMatch(/^16 of 16 cases passed, in \d+ ms\n21 of 21 changes of the rules noticed \(100 %\)/);
  const shown = blocksOf("docs/guides/testing.md").find(({ language }) => language === "yaml")!;
  writeFileSync(join(directory, "rules.test.yaml"), shown.text);
  expect((await svc("test")).stdout).toMatch(/^4 of 4 cases passed/);
});

/** Makes a package of the build, as `npm run pack` would, but for what the program does not use. */
function linkPackage(directory: string, name: string): void {
  const made = join(directory, "node_modules", name);
  mkdirSync(made);
  symlinkSync(resolve("dist"), join(made, "dist"));
  const exports = { ".": "./dist/client/index.js", "./package.json": "./package.json" };
  writeFileSync(join(made, "package.json"), JSON.stringify({ name, type: "module", exports }));
}
