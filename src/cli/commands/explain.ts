import { existsSync } from "node:fs";
import { currentProject } from "../../assemble/current-project.js";
import { explain } from "../../explain/explain.js";
import { parseExplainRequest } from "../../explain/explain-request.js";
import { explanationText } from "../../explain/text.js";
import { isRefusal } from "../../http/refusal.js";
import { parseStrictJson } from "../../http/strict-json.js";
import { databaseFile } from "../../node/database/database-file.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { StderrLog } from "../../node/stderr-log.js";
import { systemClock, systemRandom } from "../../node/system.js";
import { createProjectSource } from "../../schema/project-source.js";
import type { Explanation } from "../../wire/explanation.js";
import { type Command, type Invocation, RefusedError, UsageError, unlessRefused } from "../command.js";
import { withDatabase } from "../local-database.js";
import { remoteServer } from "../remote-server.js";

/** Says why a caller may, or may not, do something. */
const explainCommand: Command = {
  name: "explain",
  usage:
    "--as WHO ACTION TABLE [KEY] [--values '{…}'] [--query '{…}'] [--sql | --json] [--url URL --email E --password-stdin]",
  summary: "Says why a caller may or may not read, create, update or delete something. It writes nothing.",
  options: {
    as: { type: "string" },
    values: { type: "string" },
    query: { type: "string" },
    sql: { type: "boolean" },
    url: { type: "string" },
    email: { type: "string" },
    "password-stdin": { type: "boolean" },
  },
  help: [
    "ACTION           read, create, update, delete or history",
    "KEY              the key of the row, as in a path: 7, or room_id=1&user_id=u2; without KEY, read is a list",
    "--as WHO         the email address of a user, user:ID, key:ID or anonymous",
    "--values '{…}'   the values that a create or an update sends, as a JSON object",
    "--query '{…}'    the query of a list, as the body of QUERY",
    "--sql            also prints the SQL statement of the call, and SQLite's plan for it",
    "--json           prints the response of POST /admin/api/explain",
    "--url URL        a running server instead of the local database",
    "--email E --password-stdin   with --url: an admin; a key is not accepted",
    "Marks of the terms of a rule: ✓ TRUE, ✗ FALSE, ? NULL, … not evaluated, • decided for each row of a list.",
    "The exit code is 0 if the rules allow the action, and 1 if they do not.",
  ],
  positionals: ["ACTION", "TABLE"],
  optional: "KEY",
  run: async (invocation) => {
    const body = bodyOf(invocation);
    const server = await remoteServer(invocation, ["--email E --password-stdin of an admin"]);
    const explanation =
      server === null
        ? await explainedLocally(readProject(invocation.directory), body)
        : ((await server.call("POST", "/admin/api/explain", { json: body })) as Explanation);
    const withSql = invocation.flag("sql");
    console.log(invocation.json ? JSON.stringify(explanation) : explanationText(explanation, { withSql }));
    return explanation.allowed === true ? 0 : 1;
  },
};

/** `svc explain` */
export const commands: readonly Command[] = [explainCommand];

type Body = Readonly<Record<string, unknown>>;

function bodyOf(invocation: Invocation): Body {
  const [action, table, key] = invocation.positionals;
  const who = invocation.text("as");
  if (who === undefined) throw new UsageError("expected --as, such as --as anonymous");
  const [values, query] = (["values", "query"] as const).map((option) => objectIn(invocation, option));
  return {
    as: callerOf(who),
    action,
    table,
    ...(key !== undefined && { key }),
    ...(values && { values }),
    ...(query && { query }),
  };
}

function callerOf(who: string): Body {
  if (who === "anonymous") return { anonymous: true };
  const [, kind, id] = /^(user|key):(.+)$/s.exec(who) ?? [];
  return kind === undefined ? { email: who } : { [kind]: id };
}

function objectIn(invocation: Invocation, option: "values" | "query"): Body | null {
  const text = invocation.text(option);
  if (text === undefined) return null;
  const parsed = parseStrictJson(text);
  if (isRefusal(parsed)) throw new UsageError(`--${option}: ${parsed.message}`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`--${option}: expected a JSON object`);
  return value as Body;
}

async function explainedLocally(project: ProjectDirectory, body: Body): Promise<Explanation> {
  const question = parseExplainRequest(body);
  if (isRefusal(question)) throw new UsageError(question.message);
  const { config, directory } = project;
  const file = databaseFile(config, directory);
  // Opening a missing database file would create an empty database.
  if (file !== null && !existsSync(file)) throw new RefusedError(`there is no database at ${file} yet`);
  return withDatabase(project, async (database) => {
    const log = new StderrLog(config.log, systemClock);
    const live = unlessRefused(await currentProject(createProjectSource(config, database, log), database));
    const platform = { clock: systemClock, random: systemRandom, log };
    // A statement of `svc explain` is stopped only after an hour.
    const longWork = () => ({ principal: "cli", isKey: false, withinMs: 3_600_000 });
    return unlessRefused(await explain(question, { database, platform, config, project: live, longWork }));
  });
}
