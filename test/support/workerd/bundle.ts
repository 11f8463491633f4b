import { execFileSync } from "node:child_process";

/** Where the bundle is. */
export const bundleDirectory = "dist/test-worker";

/** For vitest, once: bundles the Worker of the tests as the product's is, which needs `npm run build` before. */
export default function setup(): void {
  const args = ["dist/worker/bundle.js", bundleDirectory, "test/support/workerd/entry.ts"];
  execFileSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
}
