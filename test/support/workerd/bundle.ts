import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

/** Where the bundle is; wrangler's own output is of no interest unless it fails. */
export const bundleDirectory = "dist/test-worker";

/** For vitest, once: bundles the Worker of the tests, which needs `npm run build:worker` before. */
export default function setup(): void {
  const args = ["deploy", "--dry-run", "--config", "test/support/workerd/wrangler.toml"];
  execFileSync("node_modules/.bin/wrangler", [...args, "--outdir", resolve(bundleDirectory)], {
    stdio: "pipe",
  });
}
