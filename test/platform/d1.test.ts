import { Miniflare } from "miniflare";
import { afterAll, beforeAll } from "vitest";
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
