// `npm run quick -- SUBJECT…`: the compiler, the linter on changed files, and the tests of the subjects. Runs them side by side,
// and prints what each has to say once it ends.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { subjects } from "./subjects.js";

const asked = process.argv.slice(2);
const unknown = asked.filter((subject) => !Object.hasOwn(subjects, subject));
if (asked.length === 0 || unknown.length > 0) {
  const known = Object.keys(subjects).join(", ");
  process.stderr.write(`usage: npm run quick -- SUBJECT…\nsubjects: ${known}\n`);
  process.exit(2);
}

const git = (...words) => execFileSync("git", words, { encoding: "utf8" }).split("\n").filter(Boolean);
const changed = [
  ...git("diff", "--name-only", "--diff-filter=d", "HEAD"),
  ...git("ls-files", "--others", "--exclude-standard"),
];
const isOf = (folder) => changed.some((file) => file.startsWith(folder));
if (!existsSync("dist/app.d.ts")) {
  process.stdout.write("building first, because some tests read dist/\n");
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
}
const files = asked.flatMap((subject) => subjects[subject]).map((path) => `test/${path}`);

const began = performance.now();
const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;

/** Runs a program of node_modules/.bin. Resolves to whether it succeeded, after its output was printed. */
function run(name, program, ...words) {
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${program}`, words, { env: { ...process.env, NO_COLOR: "1" } });
    let output = "";
    const add = (text) => {
      output += text;
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.on("close", (status) => {
      const isRight = status === 0;
      process.stdout.write(`${isRight ? "ok    " : "FAILED"} ${name}, after ${seconds()}\n`);
      if (!isRight) process.stdout.write(`${output}\n`);
      resolve(isRight);
    });
  });
}

const compiled = (project) => [
  "-p",
  project,
  "--incremental",
  "--tsBuildInfoFile",
  `dist/quick/${project.replaceAll("/", "-")}.tsbuildinfo`,
];
const checks = [
  run("compiler", "tsc", ...compiled(".")),
  ...(isOf("src/console/") || isOf("src/wire/") || isOf("src/client/")
    ? [
        run("compiler, console", "tsc", ...compiled("src/console")),
        run("compiler, client", "tsc", ...compiled("src/client")),
      ]
    : []),
  ...(changed.length > 0 ? [run("linter", "biome", "check", "--no-errors-on-unmatched", ...changed)] : []),
  run(
    `tests of ${asked.join(", ")}`,
    "vitest",
    "run",
    "--reporter=dot",
    "--project",
    "parts",
    "--project",
    "app",
    "test/architecture.test.ts",
    ...files,
  ),
];
const results = await Promise.all(checks);
process.exitCode = results.every(Boolean) ? 0 : 1;
