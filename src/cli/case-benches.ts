import { currentProject } from "../assemble/current-project.js";
import type { CaseFile } from "../cases/case-file.js";
import { caseServer } from "../cases/case-server.js";
import { writeFixtures } from "../cases/fixtures.js";
import { type Bench, caseProblems } from "../cases/run-cases.js";
import { databaseJournal } from "../metering/database-journal.js";
import { nodeCipher } from "../node/cipher.js";
import { type EmbeddedDatabase, openLibsql } from "../node/database/libsql.js";
import { createArgon2 } from "../node/passwords/argon2.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import { StderrLog } from "../node/stderr-log.js";
import { systemClock, systemFetch, systemRandom } from "../node/system.js";
import type { Platform } from "../platform/platform.js";
import { type Problem, ProblemsError } from "../problems/problem.js";
import { parseSchema } from "../project/parse-schema.js";
import { applySafe } from "../schema/apply.js";
import type { LiveProject } from "../schema/live-project.js";
import { createProjectSource } from "../schema/project-source.js";
import { withoutVirtualTables } from "../schema/pull/without-virtual.js";
import { problemOf } from "./case-files.js";
import { unlessRefused } from "./command.js";

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
      const target = { database, project: live, platform, hash: async () => "", isForced: false };
      const written = wrong.length > 0 ? null : await writeFixtures(file, target);
      problems.push(...wrong, ...(written?.outcome === "refused" ? [problemOf(written)] : []));
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
  const schema = parseSchema(schemaText).schema!;
  const hasVirtual = [...schema.tables.values()].some(({ virtual }) => virtual);
  const text = hasVirtual ? withoutVirtualTables(schema) : schemaText;
  const outcome = await applySafe(database, text, { now: systemClock.now() });
  if (outcome.outcome !== "refused") return database;
  await database.close();
  throw new ProblemsError("problems" in outcome ? outcome.problems : []);
}

async function servedFrom(database: EmbeddedDatabase, { config }: ProjectDirectory) {
  const log = new StderrLog(config.log, systemClock);
  const live = unlessRefused(await currentProject(createProjectSource(config, database, log), database));
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
