import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Config, parseConfig } from "../project/config.js";
import { type Problem, ProblemsError } from "../project/problem.js";
import { parseRules } from "../project/rules/rules.js";
import { parseSchema, schemaFile } from "../project/schema.js";

/** A project as it lies in its directory. Relative paths in its files are relative to `directory`. */
export interface ProjectDirectory {
  readonly directory: string;
  readonly config: Config;
  /** svc.schema.yaml as it is written. */
  readonly schemaText: string;
}

/** Reads both files. Throws ProblemsError with every problem of both of them. */
export function readProject(directory: string): ProjectDirectory {
  const root = resolve(directory);
  const problems: Problem[] = [];
  const read = (file: string): string | null => {
    try {
      return readFileSync(join(root, file), "utf8");
    } catch (error) {
      problems.push({
        file,
        path: "",
        message: `cannot be read in ${root} (${(error as NodeJS.ErrnoException).code})`,
      });
      return null;
    }
  };
  const configText = read("svc.toml");
  const schemaText = read(schemaFile);
  const parsedConfig = configText === null ? null : parseConfig(configText);
  const parsedSchema = schemaText === null ? null : parseSchema(schemaText);
  problems.push(...(parsedConfig?.problems ?? []), ...(parsedSchema?.problems ?? []));
  const config = parsedConfig?.config;
  if (config && parsedSchema?.schema)
    problems.push(...parseRules(config.rules, parsedSchema.schema).problems);
  if (!config || schemaText === null || problems.length > 0) throw new ProblemsError(problems);
  return { directory: root, config, schemaText };
}
