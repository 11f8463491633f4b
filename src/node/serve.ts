import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type AppOptions, createApp } from "../app.js";
import { lastForwarded } from "../http/client-address.js";
import type { Database } from "../platform/database.js";
import type { Log } from "../platform/platform.js";
import { ProblemsError } from "../project/problem.js";
import { parseRules } from "../project/rules/rules.js";
import { schemaFile } from "../project/schema.js";
import { type ApplyOutcome, applySafe, createSystemTables } from "../schema/apply.js";
import { formatStep } from "../schema/format-plan.js";
import { loadSchemaInForce } from "../schema/in-force.js";
import { createArgon2 } from "./argon2.js";
import { openLibsql } from "./libsql.js";
import { databasePath, type ProjectDirectory, readSecret } from "./project-directory.js";
import { logMail } from "./log-mail.js";
import { deferTo, stderrLog, systemClock, systemRandom } from "./system.js";

export interface ServeOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly environment: NodeJS.ProcessEnv;
}

export interface RunningServer {
  readonly url: string;
  /** Stops accepting, finishes what is in flight (10 s at most), and closes the database. */
  stop(): Promise<void>;
}

/** Header lines hold a filter's thousand values. */
const headerBytesMax = 131_072;
const drainMs = 10_000;

/** Starts the server of a project. Throws ProblemsError before it listens. */
export async function serve(project: ProjectDirectory, options: ServeOptions): Promise<RunningServer> {
  const { config, directory } = project;
  const log = stderrLog;
  const secret = readSecret(config, options.host, options.environment);
  const tls = readTls(project);
  const database = openLibsql({ path: databasePath(project), synchronous: config.database.synchronous });
  const passwordHasher = createArgon2();
  try {
    await bringUpSchema(project, database, log);
    if (secret.insecure)
      log.warn("the development secret is in use: anyone who reads svc.toml can sign in as anyone");
    const platform = {
      database,
      passwordHasher,
      clock: systemClock,
      random: systemRandom,
      log,
      mail: logMail({ directory: resolve(directory, config.mail.log_dir), clock: systemClock }),
      defer: deferTo(log),
    };
    const app = await createApp({
      config,
      platform,
      secret: secret.bytes,
      loopbackOnly: secret.insecure,
      clientAddress: clientAddress(config.server.trust_proxy),
      readSchemaFile: () => readFile(join(directory, schemaFile), "utf8"),
    });
    const server = createAdaptorServer({
      fetch: app.fetch,
      ...(tls === null
        ? { serverOptions: { maxHeaderSize: headerBytesMax } }
        : { createServer, serverOptions: { ...tls, maxHeaderSize: headerBytesMax } }),
    });
    await new Promise<void>((listening, failed) => {
      server.once("error", failed);
      server.listen(options.port, options.host, listening);
    });
    const { port } = server.address() as AddressInfo;
    const host = options.host.includes(":") ? `[${options.host}]` : options.host;
    return {
      url: `${tls === null ? "http" : "https"}://${host}:${port}`,
      stop: async () => {
        await drained(server);
        await passwordHasher.close();
        await database.close();
      },
    };
  } catch (error) {
    await passwordHasher.close();
    await database.close();
    throw error;
  }

  function readTls({ config: { server } }: ProjectDirectory): { cert: Buffer; key: Buffer } | null {
    if (server.tls_cert === "") return null;
    const read = (key: "tls_cert" | "tls_key") => {
      try {
        return readFileSync(resolve(directory, server[key]));
      } catch (error) {
        const message = `cannot be read (${(error as NodeJS.ErrnoException).code})`;
        throw new ProblemsError([{ file: "svc.toml", path: `server.${key}`, message }]);
      }
    };
    return { cert: read("tls_cert"), key: read("tls_key") };
  }
}

/** The socket's address, or the last X-Forwarded-For entry where a proxy is trusted (interface, section 6). */
function clientAddress(trustProxy: boolean): AppOptions["clientAddress"] {
  return (c) => {
    const socket = getConnInfo(c).remote.address ?? "unknown";
    return trustProxy ? (lastForwarded(c.req.header("X-Forwarded-For") ?? null) ?? socket) : socket;
  };
}

type Server = ReturnType<typeof createAdaptorServer>;

async function drained(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  if ("closeIdleConnections" in server) server.closeIdleConnections();
  const deadline = setTimeout(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
  }, drainMs);
  await closed;
  clearTimeout(deadline);
}

/** Applies the safe steps of the file and makes sure that the rules fit what is then in force (interface, section 3). */
async function bringUpSchema(
  { config, schemaText }: ProjectDirectory,
  database: Database,
  log: Log,
): Promise<void> {
  await createSystemTables(database);
  if (config.schema.auto_apply) {
    const fits = (schema: Parameters<typeof parseRules>[1]) => parseRules(config.rules, schema).problems;
    const outcome = await applySafe(database, schemaText, { now: systemClock.now(), fits });
    reportOutcome(outcome, log);
  }
  const inForce = await loadSchemaInForce(database);
  if (inForce === null) {
    log.warn("no schema has been applied yet, so every request answers 503: see `svc schema apply`");
    return;
  }
  const { problems } = parseRules(config.rules, inForce.schema);
  if (problems.length > 0) throw new ProblemsError(problems);
}

function reportOutcome(outcome: ApplyOutcome, log: Log): void {
  if (outcome.outcome !== "refused") return;
  switch (outcome.reason) {
    case "invalid":
    case "rules_do_not_fit":
      throw new ProblemsError(outcome.problems);
    case "destructive":
    case "constraint": {
      const waiting = outcome.steps.filter(({ safe }) => !safe).map(formatStep);
      const reason = outcome.reason === "constraint" ? [outcome.message] : [];
      log.warn(
        ["svc.schema.yaml is not in force: steps wait for `svc schema apply`", ...reason, ...waiting].join(
          "\n",
        ),
      );
      return;
    }
    case "base_moved":
      log.warn("another process has applied a schema meanwhile, which is now in force");
  }
}
