// The benchmarks: `node test/bench/run.js [--pocketbase PATH] [FILE...]`. A path is a peer's binary; without files all run.
// `BASE=DIR node test/bench/run.js paired` compares this checkout with another one, which has been built.
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

function fail(message) {
  console.error(message);
  process.exit(1);
}

function parsed() {
  try {
    return parseArgs({ options: { pocketbase: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    return fail(`bench: ${error.message.split(". ")[0]}`);
  }
}

/** In the environment of the benchmarks, which skip a peer that is not there. */
function peers({ pocketbase }) {
  if (pocketbase === undefined) return {};
  const path = resolve(pocketbase);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) fail(`bench: there is no file ${path}`);
  return { POCKETBASE: path };
}

/** The other checkout of `paired`, which is skipped where none is named. */
function base(files) {
  const { BASE } = process.env;
  if (!BASE) return files.includes("paired") ? fail("bench: BASE=DIR names the checkout to compare with") : {};
  const path = resolve(BASE);
  if (!statSync(join(path, "dist/svc/main.js"), { throwIfNoEntry: false })?.isFile())
    fail(`bench: ${path} has not been built: npm run build`);
  return { BASE: path };
}

const { values, positionals } = parsed();
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const args = [vitest, "run", "--project", "bench", "--fileParallelism=false", ...positionals];
const done = spawnSync(process.execPath, args, {
  stdio: "inherit",
  env: { ...process.env, ...peers(values), ...base(positionals) },
});
process.exitCode = done.status ?? 1;
