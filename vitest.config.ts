import { defineConfig } from "vitest/config";

/** The conformance suite runs once on every target; the rest needs none. */
const targets = ["app", "socket", "remote", "workerd", "workerd-libsql"];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // Half of the time is waiting for a thread that hashes passwords or for a disk: no core is kept free.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "parts",
          include: ["test/{unit,property,platform,cli,faults,docs}/**/*.test.ts", "test/*.test.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          globalSetup: "test/support/workerd/bundle.ts",
        },
      },
      { extends: true, test: { name: "browser", include: ["test/browser/**/*.test.ts"] } },
      { extends: true, test: { name: "bench", include: ["test/bench/**/*.bench.ts"], testTimeout: 600_000 } },
      ...targets.map((target) => ({
        extends: true as const,
        test: {
          name: target,
          include: ["test/conformance/**/*.test.ts"],
          isolate: false,
          env: { SVC_TARGET: target },
          ...(target.startsWith("workerd") && { globalSetup: "test/support/workerd/bundle.ts" }),
        },
      })),
    ],
  },
});
