import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join, resolve } from "node:path";
import type { HttpBindings } from "@hono/node-server";
import { announceConsole } from "../admin/console/announce.js";
import { createApp } from "../app.js";
import type { AppOptions } from "../assemble/app-options.js";
import { openForProject } from "../auth/oauth/project-credentials.js";
import { isPrivateAddress, lastForwarded } from "../http/client-address.js";
import { isLoopbackHost } from "../http/loopback.js";
import { Refusal } from "../http/refusal.js";
import type { Fetch } from "../http/router.js";
import { noJournal } from "../metering/attempt.js";
import { storeEntries } from "../metering/database-journal.js";
import { entryBytes } from "../metering/store.js";
import type { Database } from "../platform/database.js";
import type { Journal, JournalEntry } from "../platform/journal.js";
import type { Log } from "../platform/platform.js";
import { providerCredentials } from "../platform/provider-credentials.js";
import { ask } from "../platform/query.js";
import { formatProblem, ProblemsError } from "../problems/problem.js";
import { comparisonWarnings } from "../project/comparison-warnings.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { isMetered } from "../project/is-metered.js";
import { type ListenAddress, parseListenAddress } from "../project/listen-address.js";
import { listenUrl, namedHost } from "../project/listen-url.js";
import type { Schema } from "../project/model.js";
import { parseConfig } from "../project/parse-config.js";
import { type ApplyOutcome, applySafe } from "../schema/apply.js";
import { fitRules } from "../schema/fit-rules.js";
import { loadSchemaInForce, parseOnce } from "../schema/in-force.js";
import { formatStep } from "../schema/plan/format-plan.js";
import { proveOperations } from "../schema/prove-operations.js";
import { relaxOwnTables } from "../schema/system/relaxed-tables.js";
import { unservedExists } from "../tables/plan/unserved-exists.js";
import { problemsWith, withoutWays } from "../tables/plan/without-ways.js";
import { nodeCipher } from "./cipher.js";
import { consoleFiles } from "./console-files.js";
import { databaseFile } from "./database/database-file.js";
import { createHttpServer } from "./http-server.js";
import { FileJournal } from "./journal/journal.js";
import { recoverJournals } from "./journal/recover.js";
import { drained, drainMs, listenAt } from "./listening.js";
import { createArgon2 } from "./passwords/argon2.js";
import { SchemaPlans } from "./plans/schema-plans.js";
import { bringUpProjectDatabase, openServerDatabase } from "./project-database.js";
import { type ProjectDirectory, withConfigLines } from "./project-directory.js";
import { credentialFiles } from "./provider-credentials.js";
import { StderrLog } from "./stderr-log.js";
import { readSurroundings, type SurroundingsOptions } from "./surroundings.js";
import { deferTo, systemClock, systemFetch, systemRandom } from "./system.js";
import { startUpkeep } from "./upkeep.js";

/** What a server needs besides its project. */
export interface ServeOptions extends SurroundingsOptions {
  /** In which the build has left the console's page. */
  readonly consoleDirectory: string;
}

/** A server that accepts requests at `url`. */
export interface RunningServer {
  readonly url: string;
  /** Prints where the console is, and how to make the first administrator. Prints nothing while the console is off. */
  announce(): Promise<void>;
  /** Stops accepting requests, finishes those in flight (8 s at most), and closes the database, all within 10 s. */
  stop(): Promise<void>;
}

/** How long the query may run that adds up the bytes of the stored receipts. It runs in a thread. */
const sumWithinMs = 30_000;
const starting = new Refusal("unavailable", "the server is starting");

/**
 * Starts the server of a project, and resolves once it listens. Throws ProblemsError if the project's files or the
 * environment do not allow a start.
 */
export async function serve(project: ProjectDirectory, options: ServeOptions): Promise<RunningServer> {
  const { config, directory } = project;
  const log = new StderrLog(config.log, systemClock);
  const { secret, previousSecret, secretsKey, baseUrl, mail, tls } = readSurroundings(project, options);
  const opened = await openServerDatabase(project, options.environment, log);
  const { database } = opened;
  const passwordHasher = createArgon2();
  const plans = new SchemaPlans(config.api.key_deadline_ms);
  let journal: Journal | undefined;
  const servers: Server[] = [];
  try {
    const schema = await bringUpSchema(project, database, log);
    if (secret.insecure) log.warn("the development secret is in use: anyone who reads svc.toml can sign in as anyone");
    const openedJournal = await openJournal(project, database, log);
    journal = openedJournal;
    const platform = {
      database,
      journal: openedJournal,
      passwordHasher,
      commits: opened.commits,
      clock: systemClock,
      random: systemRandom,
      cipher: nodeCipher,
      log,
      mail,
      fetch: systemFetch,
      providerCredentials: providerCredentials(
        credentialFiles(directory).read,
        secretsKey && openForProject(database, secretsKey),
      ),
      defer: deferTo(log, systemClock),
      requestsVanish: false,
    };
    // The app needs the servers' URLs, which for port 0 are not known before they listen.
    let app: Awaited<ReturnType<typeof createApp>> | undefined;
    const answerAt = async ({ host, port }: ListenAddress, fetchOf: () => Fetch | null | undefined) => {
      const make = () =>
        createHttpServer({
          fetch: (request, env) => fetchOf()?.(request, env) ?? starting.toResponse(),
          tls,
          connectionsMax: config.server.max_connections,
          log,
        });
      const { name, addresses } = namedHost(host, config.auth.cookie_mode);
      const listening = await listenAt(make, addresses, port);
      servers.push(...listening.servers);
      return listenUrl(name, listening.port, tls !== null);
    };
    const consoleAddress = parseListenAddress(config.console.listen);
    const url = await answerAt(options, () => app?.fetch);
    const consoleUrl = consoleAddress && (await answerAt(consoleAddress, () => app?.consoleFetch));
    app = await createApp({
      // The host and port may come from the command line or the environment instead of svc.toml.
      config: { ...config, server: { ...config.server, host: options.host, port: options.port } },
      platform,
      secrets: { current: secret.bytes, previous: previousSecret },
      loopbackOnly: secret.insecure,
      clientAddress: clientAddress(config.server.trust_proxy, log),
      planner: plans.plan,
      readRules: async () => {
        const text = await readFile(join(directory, configFile), "utf8").catch(() => null);
        return text === null ? null : (parseConfig(text).config ?? null);
      },
      readSchemaFile: () => readFile(join(directory, schemaFile), "utf8"),
      publicBaseUrl: baseUrl ?? url,
      surroundings: { runtime: "node", isSet: (variable) => Boolean(options.environment[variable]) },
      consoleFiles: consoleFiles(options.consoleDirectory),
      consoleUrl,
      addHeader: (_, [name, value], env) => (env as HttpBindings).outgoing.setHeader(name, value),
    });
    const declared = schema?.auth.providers ?? [];
    await app.providers.warnOfMissing(declared);
    if (declared.length > 0) warnOfSignInAddress(baseUrl ?? options.host, log);
    const upkeep = startUpkeep(app.upkeep, log);
    const mayShowLink = process.stderr.isTTY || isLoopbackHost((consoleAddress ?? options).host);
    return {
      url,
      announce: async () => {
        const at = `${consoleUrl ?? baseUrl ?? url}/console`;
        if (config.console.enabled)
          await announceConsole(platform, { url: at, mayShowLink, note: (text) => log.note(text) });
      },
      stop: async () => {
        const endsAtMs = performance.now() + drainMs;
        app?.endStreams();
        await drained(servers, async () => {
          plans.close();
          await opened.endLongWork();
        });
        await upkeep.stop(endsAtMs - performance.now());
        await openedJournal.close();
        await passwordHasher.close();
        await opened.close();
      },
    };
  } catch (error) {
    for (const server of servers) server.close();
    // Even after a failed start: otherwise the next start would take the sequence numbers that were reserved and never
    // used for lost receipts.
    await journal?.close();
    await passwordHasher.close();
    await opened.close();
    throw error;
  }
}

/**
 * A request's client address: the socket's, or the last entry of X-Forwarded-For if a proxy is trusted, because only
 * that entry is the proxy's own (`docs/reference/backends.md#where-runtimes-differ`). It warns once if a proxy seems to
 * stand in front of a server that does not trust it.
 */
function clientAddress(trustProxy: boolean, log: Log): AppOptions["clientAddress"] {
  let hasWarned = false;
  return ({ headers }, env) => {
    const socket = (env as HttpBindings).incoming.socket.remoteAddress ?? "unknown";
    const forwarded = headers.get("X-Forwarded-For");
    if (trustProxy) return lastForwarded(forwarded) ?? socket;
    if (!hasWarned && forwarded !== null && isPrivateAddress(socket)) {
      hasWarned = true;
      log.warn(
        `X-Forwarded-For comes from ${socket}, and server.trust_proxy is false: if a proxy of yours sends it, set that to true, or all clients count as one address`,
      );
    }
    return socket;
  };
}

/**
 * Opens the journal, and stores what earlier processes left in it. A journal that cannot be written does not prevent
 * the start: a warning is logged, and receipts wait in memory (`docs/reference/metering.md#receipts`).
 */
async function openJournal({ config, directory }: ProjectDirectory, database: Database, log: Log): Promise<Journal> {
  if (!isMetered(config)) return noJournal;
  const options = {
    directory: resolve(directory, config.usage.journal_dir),
    store: (entry: JournalEntry) => storeEntries(database, [entry]),
    clock: systemClock,
    random: systemRandom,
    bound: { bytesMax: config.usage.journal_max_bytes, storedBytes: () => storedBytes(database) },
  };
  const journal = new FileJournal(options);
  try {
    const { gaps } = await recoverJournals(options);
    for (const { attemptsMax } of gaps)
      log.warn(`a server ended without a word: up to ${attemptsMax} receipts of it may be missing`);
  } catch (error) {
    log.error("what earlier servers left in usage.journal_dir cannot be read back yet", error);
  }
  try {
    journal.open();
  } catch (error) {
    log.warn(`usage.journal_dir: receipts are not recorded until it can be written (${(error as Error).message})`);
  }
  return journal;
}

function storedBytes(database: Database): Promise<number> {
  return ask(database, entryBytes(), { principal: "server", isKey: false, withinMs: sumWithinMs });
}

/**
 * Applies svc.schema.yaml, unless `schema.auto_apply` is false, if every step of the change is safe and none passes
 * over too many rows (`schema.auto_apply_max_rows`), and else not at all (`docs/reference/schema.md#changing-the-schema`). Throws ProblemsError if the rules do not fit the schema that is
 * then in force. Returns that schema; null if none has been applied yet.
 */
async function bringUpSchema(project: ProjectDirectory, database: Database, log: Log): Promise<Schema | null> {
  const { config, schemaText } = project;
  const fits = (schema: Schema) => problemsWith(config, schema);
  const outcome = config.schema.auto_apply
    ? await applySafe(database, schemaText, {
        now: systemClock.now(),
        fits,
        rowsMax: config.schema.auto_apply_max_rows,
      })
    : null;
  if (outcome !== null) reportOutcome(outcome, project, log);
  // Applying a schema has brought up the server's own tables already.
  if (outcome === null || outcome.outcome === "refused") await bringUpProjectDatabase(project, database);
  if (databaseFile(config, project.directory) !== null) await relaxOwnTables(database);
  const inForce = await loadSchemaInForce(database);
  if (inForce === null) {
    log.warn("no schema has been applied yet, so every request answers 503: see `svc schema apply`");
    return null;
  }
  const { rules, problems } = fitRules(config, inForce);
  const proofs = await proveOperations(database, inForce.schema);
  const unproved = [...proofs.values()].flatMap((proof) => proof.problems);
  const scanned = withoutWays(config, rules, inForce.schema, inForce.catalog);
  if (problems.length + unproved.length + scanned.length > 0)
    throw new ProblemsError(withConfigLines(project, [...problems, ...unproved, ...scanned]));
  const warnings = [...comparisonWarnings(rules), ...unservedExists(rules, inForce.catalog)];
  for (const warning of withConfigLines(project, warnings)) log.warn(formatProblem(warning));
  const staying = columnsToGo(inForce.schema, parseOnce(schemaText).schema);
  if (staying.length > 0)
    log.warn(
      `in force until \`svc schema apply\` drops them, and open to whoever may read and write their tables, as svc.toml has no rules for them any more: ${staying.join(", ")}`,
    );
  return inForce.schema;
}

/** The columns, as `table.column`, that svc.schema.yaml no longer has, in tables that it still has. */
function columnsToGo(inForce: Schema, proposed: Schema | null): readonly string[] {
  return [...inForce.tables.values()].flatMap(({ name, columns }) => {
    const kept = proposed?.tables.get(name)?.columns;
    return [...columns.keys()].filter((column) => kept?.has(column) === false).map((c) => `${name}.${c}`);
  });
}

/**
 * Warns if no base URL is configured and the server listens on more than this machine: browsers could not reach the
 * callback URL of a sign-in provider then. `reachedAt` is the configured base URL, or else the host that the server
 * listens on.
 */
function warnOfSignInAddress(reachedAt: string, log: Log): void {
  if (!/^https?:/.test(reachedAt) && !isLoopbackHost(reachedAt))
    log.warn("social sign-in needs auth.public_base_url, the address that browsers reach the server at");
}

function reportOutcome(outcome: ApplyOutcome, project: ProjectDirectory, log: Log): void {
  if (outcome.outcome !== "refused") return;
  switch (outcome.reason) {
    case "invalid":
    case "rules_do_not_fit":
      throw new ProblemsError(withConfigLines(project, outcome.problems));
    case "destructive":
    case "constraint": {
      const isConstraint = outcome.reason === "constraint";
      const waiting = outcome.steps.filter(({ safe }) => !isConstraint || !safe).map(formatStep);
      const reason = isConstraint ? [outcome.message] : [];
      log.warn(
        ["svc.schema.yaml is not in force: steps wait for `svc schema apply`", ...reason, ...waiting].join("\n"),
      );
      return;
    }
    case "base_moved":
      log.warn("another process has applied a schema meanwhile, which is now in force");
  }
}
