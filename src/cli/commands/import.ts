import { existsSync, lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { databaseFile, filesOfDatabase } from "../../node/database-file.js";
import { closeOwnFolder, privateDirectory } from "../../node/private-files.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import type { Config } from "../../project/config.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import { parseSchema } from "../../project/parse-schema.js";
import { databaseEntry, readArchive, refuseUnsound, textEntries } from "../archive.js";
import { type Command, RefusedError } from "../command.js";
import { projectPaths } from "../project-paths.js";
import { leavingNothing } from "../unfinished.js";

/**
 * `svc import`: makes the project of an archive in a directory that has none. It imports all of it or, after a
 * failure, nothing.
 */
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
    refusePresent(textEntries.map((name) => join(directory, name)));
    const { project, placed } = await leavingNothing(async (made) => {
      made.directory(directory);
      const stage = made.temporary(directory);
      await readArchive(file, stage);
      const project = readProject(stage, directory);
      if (!invocation.flag("outside")) refuseOutside(project.config, directory);
      const database = databaseFile(project.config, directory);
      // SQLite would take a WAL or journal that lies there for one of the new file, and write its contents into it.
      if (database !== null) refusePresent(filesOfDatabase(database));
      const unpacked = join(stage, databaseEntry);
      let placed = "no database";
      if (existsSync(unpacked)) {
        if (database === null)
          throw new RefusedError(
            `database.url names a libSQL server, and ${databaseEntry} has no place there`,
          );
        await refuseUnsound(unpacked);
        made.directory(dirname(database), privateDirectory);
        made.place(unpacked, database);
        placed = `${database} (${statSync(database).size} bytes)`;
      }
      // svc.toml comes last, so that a directory with a svc.toml holds a complete project.
      for (const name of [schemaFile, configFile]) made.place(join(stage, name), join(directory, name));
      closeOwnFolder(directory);
      return { project, placed };
    });
    console.log(`imported ${directory}: ${textEntries.join(", ")}, ${placed}`);
    const lines = remaining(project, invocation.directory);
    if (lines.length > 0) console.log(["still to be done:", ...lines].join("\n  "));
    return 0;
  },
};

/**
 * Throws RefusedError where svc.toml names paths outside of the project: an archive from elsewhere must not make the
 * server write or read there.
 */
function refuseOutside(config: Config, directory: string): void {
  const problems = projectPaths(config, directory)
    .filter(({ path }) => !isWithin(directory, path))
    .map(({ key, path }) => `${key} leads out of ${directory}, to ${path}: see --outside`);
  if (problems.length > 0) throw new RefusedError(problems.join("\n"));
}

function refusePresent(paths: readonly string[]): void {
  const path = paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (path !== undefined)
    throw new RefusedError(`${path} exists, and an import overwrites nothing: --dir names another directory`);
}

/** What still has to be set up by hand, because archives do not contain it. */
function remaining({ config, schemaText }: ProjectDirectory, directory: string): readonly string[] {
  const { auth, mail, server } = config;
  const providers = parseSchema(schemaText).schema?.auth.providers ?? [];
  const secret = "the secret; with another one than before, links that were mailed and access tokens end";
  return [
    !auth.allow_insecure_dev_secret && `set ${auth.jwt_secret_env}: ${secret}`,
    mail.transport === "smtp" && `set ${mail.smtp_url_env}: where mail is sent`,
    mail.transport === "http" && `set ${mail.http_token_env}: for ${mail.http_url}`,
    providers.length > 0 && "set SVC_PLATFORM_SECRETS_KEY: seals credentials of sign-in providers",
    ...providers.map((name) => `svc auth provider set ${name} --credentials FILE --dir ${directory}`),
    ...[server.tls_cert, server.tls_key].map(
      (path) => path !== "" && `put ${path} in place: svc.toml's [server] names it`,
    ),
  ].filter((line) => line !== false);
}

/** `svc import`. */
export const commands: readonly Command[] = [importProject];
