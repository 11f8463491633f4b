import { join, resolve } from "node:path";
import { databaseFile } from "./database/database-file.js";
import { isWithin } from "./within.js";

/** The keys of svc.toml for the places to which the server writes. */
export interface NamedPlaces {
  readonly database: { readonly url: string };
  readonly usage: { readonly journal_dir: string };
  readonly mail: { readonly log_dir: string };
}

/** A place named in svc.toml that the server must not write to. */
export interface PlaceProblem {
  /** The wrong key of svc.toml. `others` are the keys that the problem also depends on. */
  readonly path: string;
  readonly others: readonly string[];
  readonly message: string;
}

/**
 * Finds places named in svc.toml that hold something else already, such as the project itself: the server would write
 * its files there and delete old ones. Compares paths only. The project is in `directory`, and `files` are the names of
 * its own files.
 */
export function placeProblems(
  config: NamedPlaces,
  directory: string,
  files: readonly string[],
): readonly PlaceProblem[] {
  const database = databaseFile(config, directory);
  const projectFileAt = (path: string) => files.find((name) => isWithin(join(directory, name), path));
  const directoryProblem = (path: string): string | null => {
    const file = projectFileAt(path);
    if (file !== undefined) return `${file} is a file of the project itself`;
    if (isWithin(path, directory)) return `the project is in ${path}`;
    if (path === join(directory, ".svc")) return "everything that the server keeps is in .svc";
    return database !== null && isWithin(path, database) ? `the database is in ${path}` : null;
  };
  const written = [
    ["usage.journal_dir", config.usage.journal_dir, ".svc/usage"],
    ["mail.log_dir", config.mail.log_dir, ".svc/mail"],
  ] as const;
  const problems = written.flatMap(([path, value, standard]): PlaceProblem[] => {
    const problem = directoryProblem(resolve(directory, value));
    const message = `${problem}: name a directory for this alone, such as ${standard}`;
    return problem === null ? [] : [{ path, others: ["database.url"], message }];
  });
  const file = database === null ? undefined : projectFileAt(database);
  if (file === undefined) return problems;
  const message = `${file} is a file of the project itself: name another, such as file:.svc/data.db`;
  return [{ path: "database.url", others: [], message }, ...problems];
}
