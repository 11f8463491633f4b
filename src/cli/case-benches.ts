import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CaseFile, parseCaseFile } from "../cases/case-file.js";
import { caseServer } from "../cases/case-server.js";
import { type Unwritten, writeFixtures } from "../cases/fixtures.js";
import { type Bench, caseProblems } from "../cases/run-cases.js";
import { databaseJournal } from "../metering/database-journal.js";
import { nodeCipher } from "../node/cipher.js";
import { type EmbeddedDatabase, openLibsql } from "../node/database/libsql.js";
import { createArgon2 } from "../node/passwords/argon2.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import { StderrLog } from "../node/stderr-log.js";
import { systemClock, systemFetch, systemRandom } from "../node/system.js";
import type { Platform } from "../platform/platform.js";
import { type Problem, ProblemCollector, ProblemsError } from "../problems/problem.js";
import { parseSchema } from "../project/parse-schema.js";
import { applySafe } from "../schema/apply.js";
import { loadSchemaInForce } from "../schema/in-force.js";
import type { LiveProject } from "../schema/live-project.js";
import { createProjectSource } from "../schema/project-source.js";
import { schemaYaml } from "../schema/pull/schema-yaml.js";
import { unlessRefused } from "./command.js";

/** Reads files of tests or of seeds. Throws ProblemsError with the problems of all of them. */
export function readCaseFiles(paths: readonly string[]): readonly CaseFile[] {
  const collector = new ProblemCollector();
  const files = paths.flatMap((path) => {
    const read = collector.read(() => readCaseFile(path));
    return read === null ? [] : [read];
  });
  collector.end();
  return files;
}

function readCaseFile(path: string): CaseFile {
  const text = readText(path);
  const parsed = parseCaseFile(path, text);
  if ("problems" in parsed) throw new ProblemsError(parsed.problems);
  return parsed;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = code === "ENOENT" ? `there is no ${resolve(path)}` : `cannot be read (${code})`;
    throw new ProblemsError([{ file: path, path: "", message }]);
  }
}

/** The files of a directory whose names end so, in the order of their names. None where there is no such directory. */
export function filesEnding(directory: string, ending: string): readonly string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(ending));
    return names.sort().map((name) => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** A row or a user that was not written, as a problem of its file. */
export function problemOf({ at, message }: Unwritten): Problem {
  return { file: at.file, line: at.line, path: "", message };
}

/** Benches for files of tests, each with a database of its own in memory, and what they are served from. */
export interface Benches {
  readonly benches: readonly Bench[];
  readonly live: LiveProject;
  close(): Promise<void>;
}

/** Throws ProblemsError with what is wrong with the files, or with rows that the database refuses. */
export async function openBenches(project: ProjectDirectory, files: readonly CaseFile[]): Promise<Benches> {
  const opened: EmbeddedDatabase[] = [];
  const close = async () => {
    for (const database of opened) await database.close();
  };
  try {
    const worlds: { readonly bench: Bench; readonly live: LiveProject }[] = [];
    const problems: Problem[] = [];
    for (const file of files) {
      const database = await databaseOf(project.schemaText);
      opened.push(database);
      const { live, platform } = await servedFrom(database, project);
      const wrong = caseProblems(file, live);
      const unwritten =
        wrong.length > 0
          ? null
          : await writeFixtures(file, { database, project: live, platform, hash: async () => "", isForced: false });
      problems.push(...wrong, ...(unwritten === null ? [] : [problemOf(unwritten)]));
      const longWork = () => ({ principal: "test", isKey: false, withinMs: 3_600_000 });
      const explaining = { database, platform, config: project.config, project: live, longWork };
      const server = caseServer(live, file.users, platform, project.config);
      worlds.push({ bench: { file, server, explaining, trial: (work) => database.trial(work) }, live });
    }
    if (problems.length > 0) throw new ProblemsError(problems);
    return { benches: worlds.map(({ bench }) => bench), live: worlds[0]!.live, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function databaseOf(schemaText: string): Promise<EmbeddedDatabase> {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  const outcome = await applySafe(database, withoutVirtual(schemaText), { now: systemClock.now() });
  if (outcome.outcome !== "refused") return database;
  await database.close();
  throw new ProblemsError("problems" in outcome ? outcome.problems : []);
}

/**
 * The schema without its virtual tables, because the file does not say how to make them, and without all triggers then,
 * which may name one.
 */
function withoutVirtual(schemaText: string): string {
  const schema = parseSchema(schemaText).schema!;
  const all = [...schema.tables];
  if (all.every(([, { virtual }]) => !virtual)) return schemaText;
  const ordinary = all.filter(([, { virtual }]) => !virtual);
  return schemaYaml({
    ...schema,
    tables: new Map(ordinary.map(([name, table]) => [name, { ...table, triggers: new Map() }])),
  });
}

async function servedFrom(database: EmbeddedDatabase, { config }: ProjectDirectory) {
  const log = new StderrLog(config.log, systemClock);
  const version = (await loadSchemaInForce(database))!.version;
  const live = unlessRefused(await createProjectSource(config, database, log).current(version));
  const platform: Platform = {
    database,
    passwordHasher: createArgon2(),
    commits: database.commits,
    clock: systemClock,
    random: systemRandom,
    cipher: nodeCipher,
    log,
    mail: { send: async () => {} },
    journal: databaseJournal(database),
    fetch: systemFetch,
    providerCredentials: async () => null,
    defer: () => {},
    requestsVanish: false,
  };
  return { live, platform };
}
