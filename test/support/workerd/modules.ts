import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Where `npm run build:worker` has left the Worker of the example project. */
export const workerModules = ".svc/worker/modules";

/** For miniflare: the modules in a directory, as wrangler.toml would run it. */
export function bundled(directory: string, main: string) {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(js|wasm)$/.test(name),
  );
  const modules = [main, ...names.filter((name) => name !== main)].map((name) => ({
    type: name.endsWith(".wasm") ? ("CompiledWasm" as const) : ("ESModule" as const),
    path: join(directory, name),
  }));
  return {
    modules,
    modulesRoot: directory,
    compatibilityDate: "2026-04-26",
    compatibilityFlags: ["enable_request_signal"],
    unsafeDirectSockets: [{ port: 0 }],
  };
}
