import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { isSea } from "node:sea";
import { setTimeout as delay } from "node:timers/promises";
import { consoleLines } from "../admin/console/announce.js";
import { makeSetupLink } from "../auth/links/setup-link.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import { systemClock, systemRandom } from "../node/system.js";
import type { Database } from "../platform/database.js";
import { ProblemsError } from "../problems/problem.js";
import { listenUrl, namedHost } from "../project/listen-url.js";
import { applySafe } from "../schema/apply.js";
import { formatStep } from "../schema/plan/format-plan.js";
import { type D1Binding, openD1 } from "../worker/d1.js";
import { type ExitCode, RefusedError, UsageError } from "./command.js";
import { writeWorker } from "./worker-files.js";

const upkeepMs = 60_000;

/**
 * Serves a project's Worker in a local workerd with D1 until a signal ends it (`docs/deploy.md#cloudflare-workers`).
 * wrangler is the project's own. Throws RefusedError if it is not installed, or if the project is on a libSQL server.
 * @param wantedPort 0 picks a free one
 */
export async function serveWorker(project: ProjectDirectory, wantedPort: number): Promise<ExitCode> {
  const { config, schemaText, directory } = project;
  if (isSea()) throw new RefusedError("wrangler runs under Node: install the package svc-server here, and use npx svc");
  if (!config.database.url.startsWith("file:"))
    throw new RefusedError("database.url: a Worker on a libSQL server needs no local D1: `svc serve` serves it");
  // wrangler looks for its configuration, its state and .dev.vars in the current directory.
  process.chdir(directory);
  const wrangler = await loadWrangler(directory);
  const port = await freePort(wantedPort);
  const url = listenUrl(namedHost("127.0.0.1", config.auth.cookie_mode).name, port, false);
  writeSecret(config.auth.jwt_secret_env);
  writeWorker(project);
  const setupLink = await prepareDatabase(wrangler, schemaText);
  const options = ["--ip", "127.0.0.1", "--port", String(port), "--var", `SVC_GATEWAY_URL:${url}`];
  const serving = spawn(process.execPath, [wrangler.program, "dev", ...options], {
    stdio: ["ignore", process.stderr, process.stderr],
    env: { ...process.env, WRANGLER_LOG: "log" },
  });
  const ended = new Promise<number>((resolve) => serving.once("exit", (code) => resolve(code ?? 0)));
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // wrangler as a library has installed listeners that would end this process at once, without stopping the server in
    // order.
    process.removeAllListeners(signal);
    process.once(signal, () => {
      stopping = true;
      serving.kill(signal);
    });
  }
  const isReady = await Promise.race([answers(`${url}/health`), ended.then(() => false)]);
  if (!isReady) {
    serving.kill("SIGTERM");
    const code = await ended;
    return stopping && code === 0 ? 0 : 1;
  }
  console.log(`listening on ${url}`);
  if (config.console.enabled) for (const line of consoleLines(`${url}/console`, setupLink)) console.error(line);
  // In a deployment the cron trigger of wrangler.toml starts the background work.
  const upkeep = setInterval(() => {
    fetch(`${url}/cdn-cgi/handler/scheduled`).catch(() => {});
  }, upkeepMs);
  const code = await ended;
  clearInterval(upkeep);
  return stopping || code === 0 ? 0 : 1;
}

type Wrangler = Awaited<ReturnType<typeof loadWrangler>>;

/** The wrangler that the project has installed. Throws RefusedError if there is none. */
async function loadWrangler(directory: string) {
  const own = createRequire(join(directory, "package.json"));
  try {
    const manifest = own.resolve("wrangler/package.json");
    const { getPlatformProxy } = own("wrangler") as typeof import("wrangler");
    return { getPlatformProxy, program: join(dirname(manifest), "bin/wrangler.js") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new RefusedError("wrangler is not installed here: `npm i -D wrangler`");
  }
}

/** Appends a random secret `name` to .dev.vars, wrangler's file of secrets, if it is missing. */
function writeSecret(name: string): void {
  const file = ".dev.vars";
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (new RegExp(`^${name}=`, "m").test(text)) return;
  const newline = text === "" || text.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${newline}${name}=${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
}

/**
 * Applies the project's schema to the local D1 database if all steps are safe; else it applies nothing and prints a
 * warning. Throws ProblemsError for an invalid schema. Returns what follows the console's URL in the link for the first
 * administrator. Null if there is an administrator already.
 */
async function prepareDatabase({ getPlatformProxy }: Wrangler, schemaText: string): Promise<string | null> {
  // Standard output is only for the line that says where the server listens.
  process.env.WRANGLER_LOG = "warn";
  const { env, dispose } = await getPlatformProxy<{ DB: D1Binding }>();
  try {
    const database = openD1(env.DB);
    await applySchema(database, schemaText);
    return await makeSetupLink({ database, clock: systemClock, random: systemRandom });
  } finally {
    await dispose();
  }
}

async function applySchema(database: Database, schemaText: string): Promise<void> {
  const outcome = await applySafe(database, schemaText, { now: systemClock.now() });
  if (outcome.outcome !== "refused") return;
  if (outcome.reason === "invalid") throw new ProblemsError(outcome.problems);
  const waiting = outcome.reason === "destructive" ? outcome.steps : [];
  const lines = waiting.length > 0 ? waiting.map(formatStep) : [JSON.stringify(outcome)];
  const how = "steps wait for `svc schema apply --allow-destructive --url URL --key-stdin`";
  console.error([`warning: svc.schema.yaml is not in force: ${how}`, ...lines].join("\n"));
}

/**
 * Waits until the Worker answers with success. False if it answers that it is not configured: its log says what is
 * wrong.
 */
async function answers(url: string): Promise<boolean> {
  for (;;) {
    const response = await fetch(url).catch(() => null);
    if (response?.ok) return true;
    if ((await response?.text())?.includes("not configured")) return false;
    await delay(250);
  }
}

/** The wanted port, or if 0 is wanted, a free one. Rejects with UsageError if nothing can listen on it. */
function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      const hint = "--port chooses another, 0 a free one";
      reject(new UsageError(`127.0.0.1:${wanted} cannot be listened on (${error.message}); ${hint}`));
    });
    server.listen(wanted, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
