// `npm run dev:worker`: the project of the repository's root in a local workerd with D1 (interface, section 1).
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { getPlatformProxy } from "wrangler";
import { readProject } from "../node/project-directory.js";
import { ProblemsError } from "../project/problem.js";
import { applySafe } from "../schema/apply.js";
import { formatStep } from "../schema/format-plan.js";
import { type D1Binding, openD1 } from "./d1.js";

const upkeepMs = 60_000;

try {
  await main();
} catch (error) {
  if (!(error instanceof ProblemsError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: "string" } } });
  const { config, schemaText } = readProject(".");
  const wanted = Number(values.port ?? process.env.PORT ?? config.server.port);
  const port = wanted === 0 ? await freePort() : wanted;
  const url = `http://127.0.0.1:${port}`;
  writeSecret(config.auth.jwt_secret_env);
  await applySchema(schemaText);
  const wrangler = spawn(
    "node_modules/.bin/wrangler",
    ["dev", "--ip", "127.0.0.1", "--port", String(port), "--var", `SVC_GATEWAY_URL:${url}`],
    {
      stdio: ["ignore", process.stderr, process.stderr],
      env: { ...process.env, WRANGLER_LOG: "log" },
    },
  );
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => wrangler.kill(signal));
  const ended = new Promise<void>((resolve) => wrangler.once("exit", () => resolve()));
  if (!(await answers(wrangler, `${url}/health`))) return;
  console.log(`listening on ${url}`);
  // What the cron of wrangler.toml does where it is deployed.
  const upkeep = setInterval(() => {
    fetch(`${url}/cdn-cgi/handler/scheduled`).catch(() => {});
  }, upkeepMs);
  await ended;
  clearInterval(upkeep);
}

/** Once: for this directory alone. */
function writeSecret(name: string): void {
  const file = ".dev.vars";
  if (existsSync(file) && new RegExp(`^${name}=`, "m").test(readFileSync(file, "utf8"))) return;
  appendFileSync(file, `${name}=${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
}

/** To the local D1, where wrangler keeps it. */
async function applySchema(schemaText: string): Promise<void> {
  // Standard output is for the line that says where the server listens.
  process.env.WRANGLER_LOG = "warn";
  const { env, dispose } = await getPlatformProxy<{ DB: D1Binding }>();
  try {
    const outcome = await applySafe(openD1(env.DB), schemaText, { now: Date.now() });
    if (outcome.outcome !== "refused") return;
    if (outcome.reason === "invalid") throw new ProblemsError(outcome.problems);
    const waiting = outcome.reason === "destructive" ? outcome.steps.filter(({ safe }) => !safe) : [];
    const lines = waiting.length > 0 ? waiting.map(formatStep) : [JSON.stringify(outcome)];
    console.error(["warning: svc.schema.yaml is not in force:", ...lines].join("\n"));
  } finally {
    await dispose();
  }
}

async function answers(server: ChildProcess, url: string): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null) {
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return true;
    await delay(100);
  }
  return false;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
