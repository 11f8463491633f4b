// `node test/house/run.js`: print.ts, on a Node that does not run TypeScript itself.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

await runnerImport(fileURLToPath(new URL("print.ts", import.meta.url)), { configFile: false });
