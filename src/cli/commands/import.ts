import { existsSync, lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { databaseFile, filesOfDatabase } from "../../node/database/database-file.js";
import { closeOwnFolder } from "../../node/private-files.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { isWithin } from "../../node/within.js";
import { parseSchema } from "../../project/parse-schema.js";
import { databaseEntry, readArchive, textEntries } from "../archive.js";
import { type Command, RefusedError } from "../command.js";
import { leavingNothing, makeDirectory, nearestName, place } from "../unfinished.js";

/** Unpacks an archive into a directory that holds no project yet. It imports all of the archive or nothing. */
const importProject: Command = {
  name: "import",
  usage: "FILE.tar.gz [--outside]",
  summary: "Restores a project into a directory from an archive that svc export wrote.",
  options: { outside: { type: "boolean" } },
  help: [
    "FILE.tar.gz  the archive: svc.toml, svc.schema.yaml, and data.db, which is written where database.url says",
    "--outside    allows svc.toml to name paths outside the project's directory, for the database or anything else",
    "Import only archives that you trust: once served, their rules and database triggers do what the author wrote.",
    "Nothing is overwritten, and a failed import leaves nothing behind. At the end, it lists what no archive contains.",
  ],
  positionals: ["FILE.tar.gz"],
  run: async (invocation) => {
    const directory = resolve(invocation.directory);
    refusePresent(textEntries.map((name) => join(directory, name)));
    const { project, database } = await leavingNothing(nearestName(directory), async (stage, undo) => {
      await readArchive(invocation.positionals[0]!, stage);
      const project = readProject(stage, directory);
      if (!invocation.flag("outside")) refuseOutside(project, directory);
      const database = databaseFile(project.config, directory);
      const unpacked = join(stage, databaseEntry);
      makeDirectory(directory, undo);
      // SQLite would take the WAL or journal of an earlier database for one of the new file, and write its contents
      // into that file.
      if (database !== null) refusePresent(filesOfDatabase(database));
      else if (existsSync(unpacked)) throw new RefusedError("database.url names a server: data.db has no place there");
      if (database !== null && existsSync(unpacked)) place(unpacked, database, undo);
      // svc.toml is placed last, so that a directory with a svc.toml holds a complete project.
      for (const name of textEntries.toReversed()) place(join(stage, name), join(directory, name), undo);
      closeOwnFolder(directory);
      return { project, database: existsSync(unpacked) ? database : "no database" };
    });
    const lines = remaining(project, invocation.directory);
    console.log(`imported ${directory}: ${textEntries.join(", ")}, ${database}`);
    if (lines.length > 0) console.log(["still to be done:", ...lines].join("\n  "));
    return 0;
  },
};

/**
 * Throws RefusedError if the archive's svc.toml names places outside of the project's directory: an archive must not
 * make the server write or read there.
 */
function refuseOutside({ config }: ProjectDirectory, directory: string): void {
  const places = {
    "database.url": databaseFile(config, directory) ?? "",
    "usage.journal_dir": config.usage.journal_dir,
    "mail.log_dir": config.mail.log_dir,
    "server.tls_cert": config.server.tls_cert,
    "server.tls_key": config.server.tls_key,
  };
  const problems = Object.entries(places).flatMap(([key, value]) => {
    // An empty value means that no place is set. It resolves to the project's directory, and so is not refused.
    const path = resolve(directory, value);
    return isWithin(directory, path) ? [] : [`${key} leads out of ${directory}, to ${path}: see --outside`];
  });
  if (problems.length > 0) throw new RefusedError(problems.join("\n"));
}

function refusePresent(paths: readonly string[]): void {
  const present = paths.find((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (present) throw new RefusedError(`${present} exists, and nothing is overwritten: see --dir`);
}

/** What has to be done by hand after an import, because archives do not contain what it sets up. */
function remaining({ config: { auth, mail, server }, schemaText }: ProjectDirectory, directory: string) {
  const providers = parseSchema(schemaText).schema?.auth.providers ?? [];
  return [
    !auth.allow_insecure_dev_secret && `set ${auth.jwt_secret_env}: with the old one mailed links still work`,
    mail.transport === "smtp" && `set ${mail.smtp_url_env}: where mail is sent`,
    mail.transport === "http" && `set ${mail.http_token_env}: for ${mail.http_url}`,
    providers.length > 0 && "set SVC_PLATFORM_SECRETS_KEY: seals credentials of sign-in providers",
    ...providers.map((name) => `svc auth provider set ${name} --credentials FILE --dir ${directory}`),
    server.tls_cert !== "" && `put ${server.tls_cert} in place: svc.toml's [server] names it`,
    server.tls_key !== "" && `put ${server.tls_key} in place: svc.toml's [server] names it`,
  ].filter((line) => line !== false);
}

/** `svc import` */
export const commands: readonly Command[] = [importProject];
