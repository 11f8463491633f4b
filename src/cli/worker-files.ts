import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtDirectory } from "../node/built-directory.js";
import { makePrivateDirectory, privateFile } from "../node/private-files.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import { writeConsoleAssets } from "./worker-console.js";

/**
 * Writes what wrangler uploads for a project, as `wrangler.toml` of `svc init --worker` names it, to `.svc/worker` of its
 * directory: `modules`, the Worker's script, and `assets`, the console's page. The assets are beside the modules because
 * wrangler would take HTML below its main file for a module.
 */
export function writeWorker({ config, schemaText, directory }: ProjectDirectory): void {
  const target = join(directory, ".svc/worker");
  const modules = join(target, "modules");
  makePrivateDirectory(join(directory, ".svc"));
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  cpSync(join(builtDirectory, "worker/modules"), join(modules, "svc"), {
    recursive: true,
    // create-svc.js is for Workers that import the package themselves.
    filter: (path) => !/\.map$|[\\/]create-svc\.js$/.test(path),
  });
  writeFileSync(join(modules, "project.js"), `export default ${sourceOf({ config, schemaText })};\n`, {
    mode: privateFile,
  });
  writeFileSync(join(modules, "index.js"), mainModule);
  writeConsoleAssets(config.console.enabled, join(builtDirectory, "console"), join(target, "assets"));
}

const mainModule = `import project from "./project.js";
import { createWorker } from "./svc/worker.js";

export default createWorker(project);
`;

/** The JavaScript source of a value that consists of plain data and maps. */
function sourceOf(value: unknown): string {
  if (value instanceof Map) return `new Map(${sourceOf([...value])})`;
  if (Array.isArray(value)) return `[${value.map(sourceOf).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  return `{${Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${sourceOf(of)}`)}}`;
}
