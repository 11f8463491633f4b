import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DeadlineError, OutcomeUnknownError, statement, UnavailableError } from "../../src/platform/database.js";
import { type D1Binding, openD1 } from "../../src/worker/d1.js";
import { databaseContract } from "./database.contract.js";

const databases = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`DB${n}`, `db${n}`]));
let miniflare: Miniflare;
let used = 0;

beforeAll(async () => {
  miniflare = new Miniflare({
    modules: true,
    script: "export default { fetch: () => new Response() }",
    compatibilityDate: "2026-04-26",
    d1Databases: databases,
  });
  await miniflare.ready;
});
afterAll(() => miniflare.dispose());

databaseContract(
  "D1 in workerd",
  async () => ({ database: openD1((await miniflare.getD1Database(`DB${used++}`)) as unknown as D1Binding) }),
  {
    raiseRollback: "D1 reports an internal error",
    deferredKeys: "D1 reports an internal error for a commit that fails",
    foreignKeysOff: "foreign keys stay on, and a plan restores what their actions take",
  },
);

describe("a D1 that is in trouble, which is a double here", () => {
  const doing = (batch: D1Binding["batch"]) => {
    const prepared = { bind: () => prepared };
    return openD1({ prepare: () => prepared, batch });
  };
  const reported = (message: string) => doing(() => Promise.reject(new Error(message)));
  const write = [statement("DELETE FROM item")];

  it("a read that it does not answer ends at its deadline", async () => {
    const hanging = doing(() => new Promise(() => {}));
    const read = hanging.query([statement("SELECT 1 AS one")], {
      principal: "ada",
      isKey: false,
      withinMs: 20,
    });
    await expect(read).rejects.toThrow(DeadlineError);
  });

  it.each(["D1_ERROR: Network connection lost.", "D1_ERROR: internal error; reference = abc"])(
    "of a write that ended with %s nobody knows whether it was done",
    async (message) => {
      await expect(reported(message).batch(write)).rejects.toThrow(OutcomeUnknownError);
      // The first call of a migration counts what dangles: it has changed nothing.
      const first = reported(message).migrate(write);
      await expect(first).rejects.toThrow(UnavailableError);
      await expect(first).rejects.not.toThrow(OutcomeUnknownError);
      let calls = 0;
      const second = doing(async () => {
        if (calls++ === 0) return [{ results: [], meta: { changes: 0 } }];
        throw new Error(message);
      });
      await expect(second.migrate(write)).rejects.toThrow(OutcomeUnknownError);
    },
  );

  it.each([
    "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
    "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
    "D1_ERROR: no such table: _sessions: SQLITE_ERROR",
  ])("a write that ended with %s was not done", async (message) => {
    const outcome = expect(reported(message).batch(write)).rejects;
    await outcome.toThrow(UnavailableError);
    await expect(reported(message).batch(write)).rejects.not.toThrow(OutcomeUnknownError);
  });
});
