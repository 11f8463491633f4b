import { join } from "node:path";
import { currentProject } from "../../assemble/current-project.js";
import { hashPassword, ownAddressProblem, passwordProblem } from "../../auth/passwords/passwords.js";
import type { CaseFile } from "../../cases/case-file.js";
import { type WrittenFixtures, writeFixtures } from "../../cases/fixtures.js";
import { createArgon2 } from "../../node/passwords/argon2.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { bringUpSchema } from "../../node/server/bring-up-schema.js";
import { StderrLog } from "../../node/stderr-log.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Database } from "../../platform/database.js";
import { formatProblem, ProblemsError, shown } from "../../problems/problem.js";
import { createProjectSource } from "../../schema/project-source.js";
import { filesEnding, problemOf, readCaseFiles } from "../case-files.js";
import { type Command, RefusedError, UsageError, unlessRefused } from "../command.js";
import { withDatabase } from "../local-database.js";

/** Writes users and rows of the project's seeds into its database. */
const seed: Command = {
  name: "seed",
  usage: "[FILE…] [--force]",
  summary: "Writes the users and rows of seeds/*.yaml into the database, as one transaction.",
  options: { force: { type: "boolean" } },
  help: [
    "FILE      a file of seeds (default: every seeds/*.yaml of the project, in the order of their names)",
    "--force   also where tables of the seeds have rows already. A row with the same primary key is changed, one without",
    "          a key is added again; a user who is there is left as they are.",
    "The rules are not asked. The schema is applied first, as a start of the server does it.",
  ],
  positionals: [],
  others: "FILE…",
  run: async ({ directory, positionals, flag }) => {
    const project = readProject(directory);
    const folder = join(directory, "seeds");
    const paths = positionals.length > 0 ? positionals : filesEnding(folder, ".yaml");
    if (paths.length === 0) throw new UsageError(`there is no *.yaml in ${folder}`);
    const files = readCaseFiles(paths);
    for (const { file, cases } of files)
      if (cases.length > 0) throw new ProblemsError([{ file, line: cases[0]!.at.line, path: "", message: noCases }]);
    const users = files.flatMap((each) => each.users);
    const rows = files.flatMap((each) => each.rows);
    const written = await withDatabase(project, (database) =>
      seeded({ users, rows }, project, database, flag("force")),
    );
    if (written.outcome === "refused")
      throw new RefusedError(`nothing was written\n${formatProblem(problemOf(written))}`);
    console.log(`wrote ${written.users} users and ${written.rows} rows of ${paths.join(", ")}`);
    return 0;
  },
};

const noCases = "cases are for svc test: seeds have users and rows";

/** `svc seed` */
export const commands: readonly Command[] = [seed];

async function seeded(
  { users, rows }: Pick<CaseFile, "users" | "rows">,
  project: ProjectDirectory,
  database: Database,
  isForced: boolean,
): Promise<WrittenFixtures> {
  const { config } = project;
  const log = new StderrLog(config.log, systemClock);
  await bringUpSchema(project, database, log);
  const live = unlessRefused(await currentProject(createProjectSource(config, database, log), database));
  const wrong = users.flatMap(({ at, name, email, password }) => {
    if (password === null) return [];
    const problem = passwordProblem(password, config.auth.password_min_length) ?? ownAddressProblem(password, email);
    return problem === null ? [] : [problemOf({ at, message: `${name}: password: ${problem.message}` })];
  });
  const unknown = rows.filter(({ table }) => !live.schema.tables.has(table));
  const problems = [
    ...wrong,
    ...unknown.map(({ at, table }) => problemOf({ at, message: `there is no table ${shown(table)}` })),
  ];
  if (problems.length > 0) throw new ProblemsError(problems);
  const hasher = createArgon2();
  try {
    const hash = (password: string) => hashPassword(hasher, password);
    const platform = { clock: systemClock, random: systemRandom };
    return await writeFixtures({ users, rows }, { database, project: live, platform, hash, isForced });
  } finally {
    await hasher.close();
  }
}
