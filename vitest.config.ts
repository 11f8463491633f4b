import { defineConfig } from "vitest/config";

/** The conformance suite runs once on every target; the rest needs none. */
const targets = ["app", "socket"];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "parts",
          include: ["test/{unit,property,platform,cli,faults}/**/*.test.ts", "test/*.test.ts"],
        },
      },
      { extends: true, test: { name: "bench", include: ["test/bench/**/*.bench.ts"], testTimeout: 600_000 } },
      ...targets.map((target) => ({
        extends: true as const,
        test: { name: target, include: ["test/conformance/**/*.test.ts"], env: { SVC_TARGET: target } },
      })),
    ],
  },
});
