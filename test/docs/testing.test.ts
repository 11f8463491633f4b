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

/** Makes a package of the build, as `npm run pack` would, but for what the program does not use. */
function linkPackage(directory: string, name: string): void {
  const made = join(directory, "node_modules", name);
  mkdirSync(made);
  symlinkSync(resolve("dist"), join(made, "dist"));
  const exports = { ".": "./dist/client/index.js", "./package.json": "./package.json" };
  writeFileSync(join(made, "package.json"), JSON.stringify({ name, type: "module", exports }));
}
