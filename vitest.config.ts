import { defineConfig } from "vitest/config";

/**
 * The conformance suite runs once on every target, but for what says the same there; the rest needs none. `npm test` runs it
 * on `app` alone, `npm run test:targets` on the others.
 */
const targets = ["app", "socket", "remote", "workerd", "workerd-libsql"];

/** They serve nothing: each opens a database of its own in the test's process, the same on every target. */
const serveNothing = ["schema/{catalog,changes,managed,pull,refusals,search,zoo}"];

/** In workerd they would say nothing more. */
const notInWorkerd = [
  // The client library's own logic, which runs in the test's process; the requests that it makes are those of other files.
  "client/calls",
  // Every test of them watches or breaks the database, or brings its file, which has to be of the test's process.
  "errors/{logs,unavailable}",
  "lists/brief-tries",
  "pulled/chinook",
  "rules/pulled-tables",
];

/**
 * They replace modules of Node, change a module for all who use it, or look at the threads and at the code cache of the
 * process that they run in: each has a process of its own. The other files share some processes, which spares them most
 * of the imports.
 */
const alone = [
  "cli/{code-cache,unfinished}",
  "platform/{journal-disk,password-hasher,threads-of-libsql}",
  "property/rxdb-suite",
].map((files) => `test/${files}.test.ts`);

function leftOut(target: string): string[] {
  const files = [...(target === "app" ? [] : serveNothing), ...(target.startsWith("workerd") ? notInWorkerd : [])];
  return files.map((file) => `test/conformance/${file}.test.ts`);
}

export default defineConfig({
  test: {
    // They end what hangs. Nothing else hangs on them, so a machine ten times slower is well within them.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    teardownTimeout: 300_000,
    expect: { poll: { timeout: 600_000 } },
    // Half of the time is waiting for a thread that hashes passwords or for a disk: no core is kept free.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "parts",
          include: ["test/{unit,property,platform,cli,faults,docs}/**/*.test.ts", "test/*.test.ts"],
          exclude: alone,
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          globalSetup: "test/support/workerd/bundle.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          // `npm run test:browser`
          exclude: process.env.SCREENS ? [] : ["test/browser/console/long/**"],
        },
      },
      { extends: true, test: { name: "package", include: ["test/package/**/*.test.ts"] } },
      { extends: true, test: { name: "generators", include: ["test/generators/**/*.test.ts"] } },
      { extends: true, test: { name: "bench", include: ["test/bench/**/*.bench.ts"], testTimeout: 600_000 } },
      ...targets.map((target) => ({
        extends: true as const,
        test: {
          name: target,
          include: ["test/conformance/**/*.test.ts"],
          exclude: leftOut(target),
          isolate: false,
          env: { SVC_TARGET: target },
          ...(target.startsWith("workerd") && { globalSetup: "test/support/workerd/bundle.ts" }),
        },
      })),
    ],
  },
});
