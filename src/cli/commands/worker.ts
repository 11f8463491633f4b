import { createServiceKey, createUser } from "../../auth/accounts/administration.js";
import { setProjectId } from "../../auth/store/oauth.js";
import { openLibsql } from "../../node/database/libsql.js";
import { createArgon2 } from "../../node/passwords/argon2.js";
import { type ProjectDirectory, readProject, withConfigLines } from "../../node/project-directory.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Database, Statement } from "../../platform/database.js";
import { withLiterals } from "../../platform/statement-text.js";
import { ProblemsError } from "../../problems/problem.js";
import { readPort } from "../../project/environment.js";
import { configFile } from "../../project/file-names.js";
import { applySafe } from "../../schema/apply.js";
import { parseOnce } from "../../schema/in-force.js";
import { problemsWith } from "../../tables/plan/without-ways.js";
import { type Command, RefusedError, UsageError, unlessRefused } from "../command.js";
import { projectIdOf } from "../local-database.js";
import { readPortOption } from "../port-option.js";
import { readSecretLine } from "../standard-input.js";
import { serveWorker } from "../worker-dev.js";
import { writeWorker } from "../worker-files.js";

const workerBuild: Command = {
  name: "worker build",
  usage: "",
  summary: "Writes the Worker of the project to .svc/worker, ready for wrangler. wrangler.toml runs this.",
  options: {},
  help: [],
  positionals: [],
  run: async ({ directory }) => {
    const project = readForWorker(directory);
    if (project.config.console.listen !== "") throw new ProblemsError(withConfigLines(project, [oneAddress]));
    writeWorker(project);
    return 0;
  },
};

const workerDev: Command = {
  name: "worker dev",
  usage: "[--port N]",
  summary: "Serves the project's Worker on this machine, with a D1 database of its own. It needs wrangler.",
  options: { port: { type: "string" } },
  help: ["--port N     the port to listen on; 0 picks a free one (default: PORT, then server.port)"],
  positionals: [],
  run: async ({ directory, text, environment }) => {
    const project = readForWorker(directory);
    const port = readPortOption(text("port")) ?? readPort(environment) ?? project.config.server.port;
    return serveWorker(project, port);
  },
};

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

/** `svc worker build`, `svc worker dev` and `svc worker bootstrap` */
export const commands: readonly Command[] = [workerBuild, workerDev, workerBootstrap];
