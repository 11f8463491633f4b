import type { Readable } from "node:stream";
import { Miniflare } from "miniflare";
import { onTestFinished } from "vitest";
import { bundled, workerModules } from "./modules.js";
import { keepNoIdleConnections } from "./no-idle-connections.js";

/** The database of wrangler.toml, as wrangler names it. */
const databaseId = "00000000-0000-0000-0000-000000000000";

/** The product's own Worker, as `npm run build:worker` has left it, with its database. */
export interface Product {
  readonly url: string;
  readonly miniflare: Miniflare;
}

/**
 * Runs the product's Worker until the test ends, on the database in a directory of wrangler's; null for one in memory. Its
 * request log goes nowhere. What is in `assets` is served as `[assets]` of wrangler.toml has it.
 */
export async function startProduct(d1Directory: string | null, assets?: string): Promise<Product> {
  await keepNoIdleConnections();
  const miniflare = new Miniflare({
    ...bundled(workerModules, "index.js"),
    d1Databases: { DB: databaseId },
    ...(d1Directory !== null && { d1Persist: d1Directory }),
    ...(assets !== undefined && {
      assets: {
        directory: assets,
        routerConfig: { has_user_worker: true },
        assetConfig: { html_handling: "drop-trailing-slash", not_found_handling: "none" },
      },
    }),
    handleRuntimeStdio: (...outputs: readonly Readable[]) => {
      for (const output of outputs) output.resume();
    },
    bindings: {
      SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more",
      SVC_GATEWAY_URL: "https://x.example",
    },
  });
  await miniflare.ready;
  onTestFinished(() => miniflare.dispose());
  return { url: (await miniflare.unsafeGetDirectURL()).origin, miniflare };
}
