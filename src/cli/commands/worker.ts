import { writeFileSync } from "node:fs";
import { readProject } from "../../node/project-directory.js";
import type { Command } from "../command.js";

export const workerBuild: Command = {
  name: "worker build",
  usage: "",
  summary: "Puts the project beside the Worker's code, for wrangler to bundle: wrangler.toml runs it.",
  options: {},
  help: [],
  positionals: [],
  run: async ({ directory }) => {
    const { config, schemaText } = readProject(directory);
    const lines = Object.entries({ config, schemaText }).map(
      ([name, value]) => `export const ${name} = ${sourceOf(value)};\n`,
    );
    writeFileSync(new URL("../../worker/project.js", import.meta.url), lines.join(""));
    return 0;
  },
};

/** The expression of a value that consists of plain data and maps. */
function sourceOf(value: unknown): string {
  if (value instanceof Map) return `new Map(${sourceOf([...value])})`;
  if (Array.isArray(value)) return `[${value.map(sourceOf).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  return `{${Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${sourceOf(of)}`)}}`;
}
