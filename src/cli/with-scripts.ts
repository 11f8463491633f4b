import { RefusedError } from "./command.js";

const scripts = { dev: "svc serve --watch", check: "svc check", test: "svc test" };
const workerScripts = { "dev:worker": "svc worker dev", deploy: "wrangler deploy" };
/** The release of wrangler that this release is tested with. */
const wranglerVersion = "^4.86.0";

/**
 * A package.json with the scripts of a project that it lacks, written with its own indentation. Without a file, null,
 * unless the project is a Worker, which needs wrangler: then a new one. Throws RefusedError if the text is no JSON object.
 */
export function withScripts(text: string | null, isWorker: boolean): string | null {
  if (text === null) return isWorker ? shown(newManifest(), 2) : null;
  const manifest = read(text);
  const more = isWorker ? { ...scripts, ...workerScripts } : scripts;
  const { test, ...others } = (manifest.scripts ?? {}) as Readonly<Record<string, string>>;
  // `npm init` writes a test that only fails.
  const own = test === undefined || test.includes("no test specified") ? others : { test, ...others };
  return shown({ ...manifest, scripts: { ...more, ...own } }, /^[ \t]+(?=")/m.exec(text)?.[0] ?? 2);
}

function newManifest() {
  return {
    private: true,
    type: "module",
    scripts: { ...scripts, ...workerScripts },
    devDependencies: { wrangler: wranglerVersion },
  };
}

function read(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {}
  throw new RefusedError("package.json is not a JSON object: mend it, or run this in another directory");
}

function shown(manifest: object, indentation: string | number): string {
  return `${JSON.stringify(manifest, null, indentation)}\n`;
}
