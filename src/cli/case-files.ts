import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CaseFile, parseCaseFile } from "../cases/case-file.js";
import type { Unwritten } from "../cases/fixtures.js";
import { type Problem, ProblemCollector, ProblemsError } from "../problems/problem.js";

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
export function problemOf({ at, message }: Pick<Unwritten, "at" | "message">): Problem {
  return { file: at.file, line: at.line, path: "", message };
}
