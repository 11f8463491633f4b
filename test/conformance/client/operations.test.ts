import { expect, it } from "vitest";
import type { OperationTypes } from "../../../src/client/index.js";
import { Browser } from "../../support/browser.js";
import { centsOf, serveAccounts } from "../operations/accounts.js";

interface Operations extends Record<string, OperationTypes> {
  transfer: { params: { from: string; to: string; cents: number }; result: { id: string; cents: number } };
  touch: { params: Record<never, never>; result: null };
}

it("the client runs an operation by its name, and throws what it is refused with", async () => {
  const accounts = await serveAccounts(`
  touch:
    allow: public
    steps: [{ sql: "update accounts set note = 'touched' where id = 'a1'" }]
`);
  const browser = new Browser(accounts.server);
  const { auth, ops } = browser.tab<Record<never, never>, Operations>();
  await expect(ops.transfer({ from: "a1", to: "b1", cents: 5 })).rejects.toMatchObject({
    code: "unauthorized",
  });
  expect(await ops.touch()).toBeNull();
  const { id } = (await auth.register({ email: "eve@example.com", password: "correct horse" })) as {
    id: string;
  };
  await accounts.server.database.batch([{ sql: "UPDATE accounts SET owner_id = ? WHERE id = 'a1'", params: [id] }]);
  expect(await ops.transfer({ from: "a1", to: "b1", cents: 5 })).toEqual({ id: "a1", cents: 95 });
  await expect(ops.transfer({ from: "a1", to: "b1", cents: 500 })).rejects.toMatchObject({
    code: "conflict",
  });
  expect(await centsOf(accounts)).toEqual({ a1: 95, a2: 100, b1: 105 });
});

it("client.ops can be awaited and serialized, which calls no operation", async () => {
  const { server } = await serveAccounts();
  const browser = new Browser(server);
  const { ops } = browser.tab<Record<never, never>, Operations>();
  const members = ops as unknown as Readonly<Record<string | symbol, unknown>>;
  for (const name of ["then", "catch", "finally", "toJSON", Symbol.iterator, Symbol.toPrimitive])
    expect(members[name], String(name)).toBeUndefined();
  expect(members.Then).toBeTypeOf("function");
  expect((await Promise.all([ops]))[0]).toBe(ops);
  expect(JSON.stringify({ ops })).toBe('{"ops":{}}');
  expect(browser.requests).toEqual([]);
});
