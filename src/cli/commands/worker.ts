import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServiceKey, createUser } from "../../auth/accounts/administration.js";
import { setProjectId } from "../../auth/store/oauth.js";
import { openLibsql } from "../../node/database/libsql.js";
import { createArgon2 } from "../../node/passwords/argon2.js";
import { type ProjectDirectory, readProject, withConfigLines } from "../../node/project-directory.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Database, Statement } from "../../platform/database.js";
import { withLiterals } from "../../platform/statement-text.js";
import { ProblemsError } from "../../problems/problem.js";
import { configFile } from "../../project/file-names.js";
import { applySafe } from "../../schema/apply.js";
import { parseOnce } from "../../schema/in-force.js";
import { problemsWith } from "../../tables/plan/without-ways.js";
import { builtDirectory } from "../built-directory.js";
import { type Command, RefusedError, UsageError, unlessRefused } from "../command.js";
import { projectIdOf } from "../local-database.js";
import { readSecretLine } from "../standard-input.js";
import { writeConsoleAssets } from "../worker-console.js";

const workerBuild: Command = {
  name: "worker build",
  usage: "",
  summary:
    "Puts the project and the console's page beside the Worker's code, for wrangler to bundle. wrangler.toml runs this.",
  options: {},
  help: [],
  positionals: [],
  run: async ({ directory }) => {
    const project = readForWorker(directory);
    const { config, schemaText } = project;
    if (config.console.listen !== "") throw new ProblemsError(withConfigLines(project, [oneAddress]));
    const lines = Object.entries({ config, schemaText }).map(
      ([name, value]) => `export const ${name} = ${sourceOf(value)};\n`,
    );
    writeFileSync(join(builtDirectory, "worker/project.js"), lines.join(""));
    writeConsoleAssets(config.console.enabled, join(builtDirectory, "console"), workerAssets);
    return 0;
  },
};

/**
 * What `[assets]` of wrangler.toml names: the files of the console which Cloudflare serves itself. It is outside of the
 * directory of the Worker's main file, where wrangler would take HTML for a module.
 */
const workerAssets = join(builtDirectory, "worker/assets");

const oneAddress = {
  file: configFile,
  path: "console.listen",
  message: "a Worker has one address: remove this, or switch the console off by enabled = false",
};

/** Reads a project, and throws ProblemsError if its tables lack ways that `api.require_ways` asks for. */
function readForWorker(directory: string): ProjectDirectory {
  const project = readProject(directory);
  const problems = problemsWith(project.config, parseOnce(project.schemaText).schema!);
  if (problems.length > 0) throw new ProblemsError(withConfigLines(project, problems));
  return project;
}

const workerBootstrap: Command = {
  name: "worker bootstrap",
  usage: "[--admin-email E --password-stdin]",
  summary: "Prints SQL that sets up an empty D1 database for this project, with a first API key and administrator.",
  options: { "admin-email": { type: "string" }, "password-stdin": { type: "boolean" } },
  help: [
    "--admin-email E   also creates an administrator with this address",
    "--password-stdin  reads the password of the administrator from standard input",
    "Run the SQL with `wrangler d1 execute DB --remote --file FILE`. The key has the scope project:backend.",
    "Its secret is printed once, on standard error, and is not in the SQL.",
  ],
  positionals: [],
  run: async (invocation) => {
    const email = invocation.text("admin-email");
    if ((email !== undefined) !== invocation.flag("password-stdin"))
      throw new UsageError("--admin-email and --password-stdin belong together");
    const { config, ...project } = readForWorker(invocation.directory);
    if (!config.database.url.startsWith("file:"))
      throw new RefusedError("database.url is a libSQL server: `svc schema apply` reaches it directly");
    const password = email === undefined ? null : await readSecretLine();
    const projectId = await projectIdOf({ config, ...project });
    const scratch = openLibsql({ path: ":memory:", synchronous: "normal", commandLine: true });
    const passwordHasher = createArgon2();
    try {
      const { database, statements } = recording(scratch);
      const platform = { database, passwordHasher, clock: systemClock, random: systemRandom };
      const applied = await applySafe(database, project.schemaText, { now: systemClock.now() });
      if (applied.outcome === "refused") {
        if ("problems" in applied) throw new ProblemsError(applied.problems);
        throw new RefusedError("message" in applied ? applied.message : "the schema cannot be applied");
      }
      await database.batch([setProjectId(projectId)]);
      const key = unlessRefused(
        await createServiceKey(platform, {
          name: "bootstrap",
          scopes: ["project:backend"],
          expiresAt: null,
          createdBy: "cli",
        }),
      );
      if (email !== undefined && password !== null) {
        const passwordLengthMin = config.auth.password_min_length;
        const user = { email, password, role: "admin", passwordLengthMin, createdBy: "cli" };
        unlessRefused(await createUser(platform, user));
      }
      for (const statement of statements) console.log(`${withLiterals(statement)};`);
      console.error(`key ${key.id}, shown once:\n${key.secret}`);
      return 0;
    } finally {
      await passwordHasher.close();
      await scratch.close();
    }
  },
};

/** Also adds all statements that are written through a database to `statements`. */
function recording(scratch: Database): { readonly database: Database; readonly statements: Statement[] } {
  const statements: Statement[] = [];
  const database: Database = {
    foreignKeysStayOn: scratch.foreignKeysStayOn,
    answerBytesMax: scratch.answerBytesMax,
    imageBytesMax: scratch.imageBytesMax,
    statementsMax: scratch.statementsMax,
    query: (some) => scratch.query(some),
    batch: (some) => {
      statements.push(...some);
      return scratch.batch(some);
    },
    migrate: (some) => {
      statements.push(...some);
      return scratch.migrate(some);
    },
    close: () => scratch.close(),
  };
  return { database, statements };
}

/** The JavaScript source of a value that consists of plain data and maps. */
function sourceOf(value: unknown): string {
  if (value instanceof Map) return `new Map(${sourceOf([...value])})`;
  if (Array.isArray(value)) return `[${value.map(sourceOf).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  return `{${Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${sourceOf(of)}`)}}`;
}

/** `svc worker build` and `svc worker bootstrap` */
export const commands: readonly Command[] = [workerBuild, workerBootstrap];
