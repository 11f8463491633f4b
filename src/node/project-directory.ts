import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Problem, ProblemsError } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import type { Environment } from "../project/environment.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { withLines } from "../project/lines/with-lines.js";
import { parseConfig } from "../project/parse-config.js";
import { parseRules } from "../project/parse-rules.js";
import { type ParsedSchema, unreadSchema } from "../project/parse-schema.js";
import { renameProblems } from "../project/rename-problems.js";
import { parseOnce } from "../schema/in-force.js";
import { placeProblems } from "./place-problems.js";

/** A project as read from its directory, to which paths in its files are relative. */
export interface ProjectDirectory {
  readonly directory: string;
  readonly config: Config;
  /** svc.toml */
  readonly configText: string;
  /** svc.schema.yaml */
  readonly schemaText: string;
}

/**
 * Reads and parses svc.toml and svc.schema.yaml. Throws ProblemsError with every problem of both files, with line
 * numbers. The paths in svc.toml are checked for `home`: another than `directory` if the files will be moved there
 * later, such as by an import. `environment` completes `${NAME}` in svc.toml.
 */
export function readProject(
  directory: string,
  home = directory,
  environment: Environment = process.env,
): ProjectDirectory {
  const root = resolve(directory);
  const problems: Problem[] = [];
  const texts = new Map<string, string>();
  const read = (file: string): string | null => {
    try {
      const text = readFileSync(join(root, file), "utf8");
      texts.set(file, text);
      return text;
    } catch (error) {
      problems.push({ file, path: "", message: unreadable(root, error as NodeJS.ErrnoException) });
      return null;
    }
  };
  const more = (config: Config) => placeProblems(config, resolve(home), [configFile, schemaFile]);
  const configText = read(configFile);
  const schemaText = read(schemaFile);
  const parsedConfig = configText === null ? null : parseConfig(configText, { environment, more });
  const parsedSchema: ParsedSchema =
    schemaText === null ? { schema: null, problems: [], draft: unreadSchema } : parseOnce(schemaText);
  problems.push(...(parsedConfig?.problems ?? []), ...parsedSchema.problems);
  const config = parsedConfig?.config;
  const known = parsedSchema.schema ?? parsedSchema.draft;
  if (known) problems.push(...renameProblems(known));
  if (parsedConfig?.rules && known)
    for (const problem of parseRules(parsedConfig.rules, known).problems) problems.push(problem);
  if (!config || configText === null || schemaText === null || problems.length > 0)
    throw new ProblemsError(withLines(problems, texts));
  return { directory: root, config, configText, schemaText };
}

function unreadable(directory: string, { code }: NodeJS.ErrnoException): string {
  return code === "ENOENT"
    ? `not found in ${directory}; --dir names a project's directory, svc init makes a new one`
    : `cannot be read in ${directory} (${code})`;
}

/** Adds line numbers to problems of svc.toml that are found after `readProject`, such as a secret that is not set. */
export function withConfigLines({ configText }: ProjectDirectory, problems: readonly Problem[]): readonly Problem[] {
  // Problems of svc.schema.yaml may be about the schema in force, which is another text.
  return withLines(problems, new Map([[configFile, configText]]));
}
