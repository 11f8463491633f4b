import { lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { databaseFile, filesOfDatabase } from "../../node/database-file.js";
import { closeOwnFolder, privateDirectory } from "../../node/private-files.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import type { Config } from "../../project/config.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import { parseSchema } from "../../project/parse-schema.js";
import { databaseEntry, readArchive, refuseUnsound } from "../archive.js";
import { type Command, RefusedError } from "../command.js";
import { projectPaths } from "../project-paths.js";
import { leavingNothing, type Made } from "../unfinished.js";

/** Interface, section 10. */
const importProject: Command = {
  name: "import",
  usage: "FILE.tar.gz [--outside]",
  summary: "Makes a directory the project of an archive that svc export wrote.",
  options: { outside: { type: "boolean" } },
  help: [
    "FILE.tar.gz  the archive: svc.toml, svc.schema.yaml and data.db, which goes where database.url says",
    "--outside    also where svc.toml names a place outside of the project's directory, for that or anything else",
    "Import only what you trust: rules, and triggers in the database, do what its author wrote once it is served.",
    "Nothing is overwritten: a project or a database that is there is refused, and after a failure nothing is left.",
    "What no archive holds, such as credentials and variables of the environment, is listed at the end.",
  ],
  positionals: ["FILE.tar.gz"],
  run: async (invocation) => {
    const file = resolve(invocation.positionals[0]!);
    const directory = resolve(invocation.directory);
    refusePresent([configFile, schemaFile].map((name) => join(directory, name)));
    const { project, database } = await leavingNothing(async (made) => {
      made.directory(directory);
      const stage = made.temporary(directory);
      const entries = await readArchive(file, stage);
      const project = readProject(stage, directory);
      if (!invocation.flag("outside")) refuseOutside(project, directory);
      const target = freePlace(project, directory);
      const database = entries.has(databaseEntry) ? await soundDatabase(stage, target) : null;
      place(stage, directory, database, made);
      closeOwnFolder(directory);
      return { project, database };
    });
    console.log(summary(directory, database));
    const lines = remaining(project, invocation.directory);
    if (lines.length > 0) console.log(["still to be done:", ...lines.map((line) => `  ${line}`)].join("\n"));
    return 0;
  },
};

/** An archive is no reason to write, or to read, anywhere else. */
function refuseOutside({ config }: ProjectDirectory, directory: string): void {
  const outside = projectPaths(config, directory).filter(({ path }) => !isWithin(directory, path));
  if (outside.length > 0)
    throw new RefusedError(
      outside
        .map(({ key, path }) => `${key} leads out of ${directory}, to ${path}: see --outside`)
        .join("\n"),
    );
}

/**
 * Where the project has its database, be it in the archive or yet to be made; null for a server. Throws RefusedError
 * unless the place is free.
 */
function freePlace({ config }: ProjectDirectory, directory: string): string | null {
  const target = databaseFile(config, directory);
  if (target === null) return null;
  // SQLite would take a log or a journal that lies there for the new file's own, and write it into it.
  refusePresent(filesOfDatabase(target));
  return target;
}

/** The place of the database that was unpacked. */
async function soundDatabase(stage: string, target: string | null): Promise<string> {
  if (target === null)
    throw new RefusedError(`database.url names a libSQL server, and ${databaseEntry} has no place there`);
  await refuseUnsound(join(stage, databaseEntry));
  return target;
}

function refusePresent(paths: readonly string[]): void {
  for (const path of paths)
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw new RefusedError(
        `${path} exists, and an import overwrites nothing: --dir names another directory`,
      );
}

/** svc.toml last: whoever sees it sees a whole project. */
function place(stage: string, directory: string, database: string | null, made: Made): void {
  if (database !== null) made.directory(dirname(database), privateDirectory);
  const places = [
    ...(database === null ? [] : [[databaseEntry, database] as const]),
    ...[schemaFile, configFile].map((name) => [name, join(directory, name)] as const),
  ];
  for (const [name, path] of places) made.place(join(stage, name), path);
}

function summary(directory: string, database: string | null): string {
  const head = `imported ${directory}: ${configFile}, ${schemaFile}`;
  return database === null
    ? `${head}, no database`
    : `${head}, ${database} (${statSync(database).size} bytes)`;
}

/** What no archive holds, by what the project's files ask for. */
function remaining({ config, schemaText }: ProjectDirectory, directory: string): readonly string[] {
  const providers = parseSchema(schemaText).schema?.auth.providers ?? [];
  return [
    ...variables(config),
    ...(providers.length > 0 ? ["set SVC_PLATFORM_SECRETS_KEY: seals credentials of sign-in providers"] : []),
    ...providers.map((name) => `svc auth provider set ${name} --credentials FILE --dir ${directory}`),
    ...[config.server.tls_cert, config.server.tls_key]
      .filter((path) => path !== "")
      .map((path) => `put ${path} in place: svc.toml's [server] names it`),
  ];
}

function variables({ auth, mail }: Config): readonly string[] {
  const lines = auth.allow_insecure_dev_secret
    ? []
    : [
        `set ${auth.jwt_secret_env}: the secret; with another one than before, links that were mailed and access tokens end`,
      ];
  if (mail.transport === "smtp") lines.push(`set ${mail.smtp_url_env}: where mail is sent`);
  if (mail.transport === "http") lines.push(`set ${mail.http_token_env}: for ${mail.http_url}`);
  return lines;
}

export const commands: readonly Command[] = [importProject];
