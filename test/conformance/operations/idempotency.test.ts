import { expect, test } from "vitest";
import { dataOf, expectRefusal } from "../../support/client.js";
import { centsOf, serveAccounts } from "./accounts.js";

const operations = `
  returning:
    params: { to: text, ratio: { type: real, nullable: true, default: null } }
    allow: authenticated
    steps:
      - { sql: "insert into entries (account, cents, ratio) values (:to, 1, :ratio) returning id, account, ratio", returns: many }
  silent:
    params: { to: text }
    allow: authenticated
    steps: [{ sql: "update accounts set cents = cents + 1 where id = :to", expect: 1, else: not_found }]
`;
const key = { "Idempotency-Key": "k" };

test("an operation with a key is done once, and answered as before", async () => {
  const accounts = await serveAccounts(operations);
  const { ada } = accounts;
  const transfer = { from: "a1", to: "b1", cents: 60 };
  const cases: readonly [string, object, unknown][] = [
    ["transfer", transfer, { id: "a1", cents: 40 }],
    ["returning", { to: "a1", ratio: 0.1 }, [{ id: 1, account: "a1", ratio: 0.1 }]],
    ["silent", { to: "b1" }, null],
  ];
  for (const [name, params, data] of cases) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ada.post(`/ops/${name}`, params, key)));
    const first = answers.filter(({ headers }) => !headers.has("Idempotency-Replayed"));
    expect(first.filter(({ status }) => status === 200)).toHaveLength(1);
    // What RETURNING gives is kept only after the transaction. Whoever comes in between has to ask again.
    for (const answer of answers)
      if (answer.status === 503) expect([name, answer.headers.get("Retry-After")]).toEqual(["returning", "1"]);
      else expect(dataOf(answer)).toEqual(data);
    const again = await ada.post(`/ops/${name}`, params, key);
    expect([again.status, again.headers.get("Idempotency-Replayed"), dataOf(again)]).toEqual([200, "true", data]);
    expect((again.body as { meta: object }).meta).toMatchObject({ rows_written: 0 });
    expectRefusal(await ada.post(`/ops/${name}`, { ...params, to: "a2" }, key), 422, "idempotency_mismatch");
  }
  expect(await centsOf(accounts)).toEqual({ a1: 40, a2: 100, b1: 161 });
});

test("what was refused is not kept", async () => {
  const accounts = await serveAccounts();
  const { ada, nobody } = accounts;
  const params = { from: "a1", to: "b1", cents: 150 };
  expectRefusal(await ada.post("/ops/transfer", params, key), 409, "conflict");
  expect((await ada.post("/ops/transfer", { ...params, cents: 50 }, key)).status).toBe(200);
  expectRefusal(await nobody.post("/ops/transfer", params, key), 401, "unauthorized");
  expect(await centsOf(accounts)).toEqual({ a1: 50, a2: 100, b1: 150 });
});
