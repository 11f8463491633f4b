import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey } from "../../support/server.js";
import { accountsSchema, centsOf, serveAccounts } from "./accounts.js";

const untouched = { a1: 100, a2: 100, b1: 100 };

describe("a transfer", () => {
  it("is done as a whole, and answers with its row", async () => {
    const accounts = await serveAccounts();
    const { ada, server } = accounts;
    const answer = await ada.post("/ops/transfer", { from: "a1", to: "b1", cents: 30 });
    expect(dataOf(answer)).toEqual({ id: "a1", cents: 70 });
    expect(answer.body).toMatchObject({ meta: { rows_read: null, rows_written: 2, rows_returned: 1 } });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(await centsOf(accounts)).toEqual({ a1: 70, a2: 100, b1: 130 });
    const entries = await rowsOf(
      server,
      "SELECT count(*) AS entries, count(DISTINCT tx) AS txs, min(t.principal_id) AS who FROM _changes c JOIN _transactions t ON t.id = c.tx WHERE t.principal_id IS NOT NULL",
    );
    expect(entries).toEqual([[2, 1, "ada"]]);
    await server.upkeep.collectUsage();
    const receipts = `SELECT method, table_name, action, status, rows_written, rows_returned FROM ${receiptRows}`;
    expect(await rowsOf(server, receipts)).toEqual([["POST", "ops/transfer", "operation", 200, 2, 1]]);
  });

  it("is not done where a step finds another number of rows, and answers with the step's code", async () => {
    const accounts = await serveAccounts();
    const { ada } = accounts;
    expectRefusal(await ada.post("/ops/transfer", { from: "a1", to: "b1", cents: 101 }), 409, "conflict");
    expectRefusal(await ada.post("/ops/transfer", { from: "a1", to: "none", cents: 1 }), 404, "not_found");
    expect(await centsOf(accounts)).toEqual(untouched);
    expect(await rowsOf(accounts.server, "SELECT count(*) AS n FROM _transactions WHERE principal_id = 'ada'")).toEqual(
      [[0]],
    );
  });

  it("is for those whom its rule lets", async () => {
    const accounts = await serveAccounts();
    const { ada, nobody } = accounts;
    expectRefusal(await ada.post("/ops/transfer", { from: "b1", to: "a1", cents: 1 }), 403, "forbidden");
    expectRefusal(await ada.post("/ops/transfer", { from: "none", to: "a1", cents: 1 }), 403, "forbidden");
    expectRefusal(await nobody.post("/ops/transfer", { from: "b1", to: "a1", cents: 1 }), 401, "unauthorized");
    expectRefusal(await ada.post("/ops/none", {}), 404, "not_found");
    expect(await centsOf(accounts)).toEqual(untouched);
  });

  it("takes its parameters, each of its type and as its check says, and nothing else", async () => {
    const accounts = await serveAccounts();
    const { ada } = accounts;
    const bodies = [
      { from: "a1", to: "b1" },
      { from: "a1", to: "b1", cents: null },
      { from: "a1", to: "b1", cents: "5" },
      { from: "a1", to: "b1", cents: 1.5 },
      { from: "a1", to: "b1", cents: 0 },
      { from: "a1", to: "b1", cents: -5 },
      { from: 1, to: "b1", cents: 5 },
      { from: "a1", to: "b1", cents: 5, more: 1 },
      { from: "a1", to: "b1", cents: 5, auth_id: "bob" },
      [],
    ];
    for (const body of bodies) expectRefusal(await ada.post("/ops/transfer", body), 400, "bad_request");
    expectRefusal(await ada.post("/ops/transfer?from=a1", { to: "b1", cents: 5 }), 400, "bad_request");
    const init = { body: "from=a1", headers: { "Content-Type": "text/plain" } };
    expectRefusal(await ada.send("POST", "/ops/transfer", init), 415, "unsupported_media_type");
    expect(await centsOf(accounts)).toEqual(untouched);
  });

  it("is called by POST alone, as it writes", async () => {
    const accounts = await serveAccounts();
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await accounts.ada.send(method, "/ops/transfer?from=a1&to=b1&cents=5", {});
      expectRefusal(answer, 405, "method_not_allowed");
      expect(answer.headers.get("Allow")).toBe("POST");
    }
    expect(await centsOf(accounts)).toEqual(untouched);
  });

  it("is done by a key with its scope, whose rule is the scope alone", async () => {
    const accounts = await serveAccounts();
    const { server } = accounts;
    const transfer = { from: "b1", to: "a1", cents: 1 };
    for (const scopes of [["operations:*"], ["*"], ["operation:other"], ["resource:accounts:write"]])
      expectRefusal(
        await client(server, await apiKey(server, ...scopes)).post("/ops/transfer", transfer),
        403,
        "forbidden",
      );
    for (const scope of ["operation:transfer", "project:backend"])
      expect(dataOf(await client(server, await apiKey(server, scope)).post("/ops/transfer", transfer))).toMatchObject({
        id: "b1",
      });
    expect(await centsOf(accounts)).toEqual({ a1: 102, a2: 100, b1: 98 });
  });

  it("never loses or makes a cent, with 16 callers at once", async () => {
    const accounts = await serveAccounts();
    const { server } = accounts;
    for (let i = 0; i < 7; i++)
      await run(server, `INSERT INTO accounts (id, owner_id, cents) VALUES ('c${i}', 'ada', 100)`);
    const ids = ["a1", "a2", "b1", ...Array.from({ length: 7 }, (_, i) => `c${i}`)];
    const key = client(server, await apiKey(server, "operation:transfer"));
    const statuses = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, i) => {
          const cents = 1 + ((i * 37 + round * 11) % 120);
          return key.post("/ops/transfer", {
            from: ids[(i * 3 + round) % 10],
            to: ids[(i * 7 + 1) % 10],
            cents,
          });
        }),
      );
      for (const { status } of answers) statuses.add(status);
      expect(await rowsOf(server, "SELECT sum(cents) AS cents, min(cents) >= 0 AS sound FROM accounts")).toEqual([
        [1000, 1],
      ]);
    }
    expect([...statuses].toSorted()).toEqual([200, 409]);
  });
});

describe("what operations are made of", () => {
  const operations = `
  reserve:
    params: { id: text, cents: integer }
    allow: public
    steps:
      - { sql: "select 1 from accounts where id = :id", expect: 1, else: not_found }
      - { sql: "update accounts set cents = cents - :cents where id = :id and cents >= :cents", expect: 1, message: not enough in stock }
  close:
    params: { id: text }
    allow: authenticated
    steps:
      - { sql: "select 1 from accounts where id = :id and owner_id = :auth_id", expect: 1, else: forbidden }
      - { sql: "delete from entries where account = :id" }
      - { sql: "delete from accounts where id = :id returning id, cents + 0 as cents", returns: one, as: { cents: integer } }
  book:
    params:
      account: text
      cents: { type: integer, default: 7 }
      big: { type: integer, nullable: true, default: null, check: "big > 0" }
      open: { type: boolean, nullable: true }
      more: { type: json, nullable: true, default: null }
      bytes: { type: blob, nullable: true, default: null }
      ratio: { type: real, nullable: true, default: null }
    allow: public
    steps:
      - sql: "insert into entries (account, cents, big, open, more, bytes, ratio) values (:account, :cents, :big, :open, :more, :bytes, :ratio) returning cents, big, open, more, bytes, ratio, :account || '!' as said"
        returns: many
        as: { said: text }
  entries_of:
    params: { account: { type: text, nullable: true, default: null }, least: { type: integer, default: 0 } }
    allow: "public"
    steps:
      - { sql: "select e.id, e.cents, big, a.owner_id as owner, count(*) over () as n from entries e join accounts a on a.id = e.account where e.account = ifnull(:account, e.account) and e.cents >= :least order by e.cents desc", returns: many, as: { n: integer, big: integer } }
  first_entry:
    allow: public
    steps:
      - { sql: "select cents from entries order by id", returns: one }
  bad:
    params: { on: integer }
    allow: public
    steps:
      - { sql: "update accounts set note = 'done'" }
      - { sql: "select 1 from accounts limit :on", expect: 0, else: bad_request }
  late:
    allow: authenticated
    steps:
      - { sql: "update accounts set note = 'late' where id = 'a1'" }
      - { sql: "update accounts set note = 'never' where id = 'none' returning id", returns: one }
  who:
    allow: "auth.role is not null or true"
    steps:
      - { sql: "select :auth_id as id, :auth_email as email, :auth_role as role, :now as now", returns: one, as: { id: text, email: text, role: text, now: integer } }
  say:
    params: { text: text, also: text }
    allow: "params.text != ''"
    steps:
      - { sql: "update accounts set note = :text where id = :also or :also = ''" }
      - { sql: "select note from accounts where note = :text or note = :also order by id", returns: many }
  several:
    params: { ids: json }
    allow: public
    steps:
      - { sql: "select id from accounts where id in (select value from json_each(:ids)) order by id", returns: many }
  keys_only:
    steps:
      - { sql: "delete from entries" }
`;

  it("a step's own message, which names the step to the caller and to the log", async () => {
    const { ada, server } = await serveAccounts(operations);
    const refused = await ada.post("/ops/reserve", { id: "a1", cents: 101 });
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual({ error: { code: "conflict", message: "not enough in stock", step: 1 } });
    expect((await ada.post("/ops/reserve", { id: "none", cents: 1 })).body).toMatchObject({
      error: { code: "not_found", step: 0 },
    });
    await server.settled();
    expect(server.log.requests.join("\n")).toContain("$operations.reserve step 1");
  });

  it("RETURNING, cascades, and a SELECT that has to find its row", async () => {
    const accounts = await serveAccounts(operations);
    const { ada, server } = accounts;
    await run(server, "INSERT INTO entries (account, cents) VALUES ('a1', 1), ('a1', 2), ('b1', 3)");
    expectRefusal(await ada.post("/ops/close", { id: "b1" }), 403, "forbidden");
    expect(await rowsOf(server, "SELECT count(*) AS n FROM entries")).toEqual([[3]]);
    const answer = await ada.post("/ops/close", { id: "a1" });
    expect(dataOf(answer)).toEqual({ id: "a1", cents: 100 });
    expect(answer.body).toMatchObject({ meta: { rows_written: 3, rows_returned: 1 } });
    expectRefusal(await ada.post("/ops/close", { id: "a1" }), 403, "forbidden");
    expect(await rowsOf(server, "SELECT account FROM entries")).toEqual([["b1"]]);
  });

  it("values of every type, defaults and NULL come back as they were sent", async () => {
    const { nobody, server } = await serveAccounts(operations);
    const given = {
      cents: -3,
      big: "9223372036854775807",
      open: true,
      more: { a: [1, "x", null] },
      bytes: "AAEC/w==",
      ratio: 0.1,
    };
    expect(dataOf(await nobody.post("/ops/book", { account: "a1", ...given }))).toEqual([{ ...given, said: "a1!" }]);
    expect(dataOf(await nobody.post("/ops/book", { account: "a1", open: null }))).toEqual([
      { cents: 7, big: null, open: null, more: null, bytes: null, ratio: null, said: "a1!" },
    ]);
    expectRefusal(await nobody.post("/ops/book", { account: "a1" }), 400, "bad_request");
    expectRefusal(await nobody.post("/ops/book", { account: "a1", open: null, big: -1 }), 400, "bad_request");
    expectRefusal(await nobody.post("/ops/book", { account: "none", open: null }), 409, "conflict");
    expect(await rowsOf(server, "SELECT count(*) AS n FROM entries")).toEqual([[2]]);
  });

  it("what only reads is called by GET, too, and is of one moment", async () => {
    const { nobody, server } = await serveAccounts(operations);
    await run(
      server,
      "INSERT INTO entries (account, cents, big) VALUES ('a1', 1, 9007199254740993), ('a1', 3, 4), ('b1', 2, NULL)",
    );
    const rows = [
      { id: 2, cents: 3, big: 4, owner: "ada", n: 2 },
      { id: 3, cents: 2, big: null, owner: "bob", n: 2 },
    ];
    const answer = await nobody.get("/ops/entries_of?least=2");
    expect(dataOf(answer)).toEqual(rows);
    expect(answer.body).toMatchObject({ meta: { rows_read: null, rows_written: 0, rows_returned: 2 } });
    expect(dataOf(await nobody.post("/ops/entries_of", { least: 2 }))).toEqual(rows);
    expect(dataOf(await nobody.get("/ops/entries_of?account=a1&least=0"))).toEqual([
      { id: 2, cents: 3, big: 4, owner: "ada", n: 2 },
      { id: 1, cents: 1, big: "9007199254740993", owner: "ada", n: 2 },
    ]);
    expect(dataOf(await nobody.get("/ops/entries_of?account=none"))).toEqual([]);
    expectRefusal(await nobody.get("/ops/entries_of?least=2x"), 400, "bad_request");
    expectRefusal(await nobody.get("/ops/entries_of?unknown=2"), 400, "bad_request");
    expectRefusal(await nobody.get("/ops/entries_of?least=2&least=3"), 400, "bad_request");
    const other = await nobody.send("PATCH", "/ops/entries_of", {});
    expectRefusal(other, 405, "method_not_allowed");
    expect(other.headers.get("Allow")).toBe("GET, POST");
    expect((await nobody.send("HEAD", "/ops/entries_of", {})).status).toBe(200);
  });

  it("one row that there is not is 404, and what was done before it is undone", async () => {
    const { ada, server } = await serveAccounts(operations);
    expectRefusal(await ada.get("/ops/first_entry"), 404, "not_found");
    await run(server, "INSERT INTO entries (account, cents) VALUES ('a1', 5), ('a1', 6)");
    expect(dataOf(await ada.get("/ops/first_entry"))).toEqual({ cents: 5 });
    expectRefusal(await ada.post("/ops/late", {}), 404, "not_found");
    expectRefusal(await ada.post("/ops/bad", { on: 1 }), 400, "bad_request");
    expect(await rowsOf(server, "SELECT count(*) AS n FROM accounts WHERE note IS NOT NULL")).toEqual([[0]]);
    expect(dataOf(await ada.post("/ops/bad", { on: 0 }))).toBeNull();
    expect(await rowsOf(server, "SELECT count(*) AS n FROM accounts WHERE note = 'done'")).toEqual([[3]]);
  });

  it("a list of any length is a JSON parameter", async () => {
    const { nobody } = await serveAccounts(operations);
    const ids = ["b1", "a1", ...Array.from({ length: 500 }, (_, i) => `none ${i}`)];
    expect(dataOf(await nobody.post("/ops/several", { ids }))).toEqual([{ id: "a1" }, { id: "b1" }]);
  });

  it("a step may use who calls and when", async () => {
    const { ada, nobody, server } = await serveAccounts(operations);
    const now = Math.floor(server.clock.now() / 1000);
    expect(dataOf(await ada.get("/ops/who"))).toEqual({
      id: "ada",
      email: "ada@example.com",
      role: "user",
      now,
    });
    expect(dataOf(await nobody.get("/ops/who"))).toEqual({ id: null, email: null, role: null, now });
    const key = client(server, await apiKey(server, "operation:who"));
    expect(dataOf(await key.get("/ops/who"))).toEqual({ id: null, email: null, role: null, now });
  });

  it("texts of callers stay texts, also those that look like a guard or like SQL", async () => {
    const { nobody, server } = await serveAccounts(operations);
    const texts = [
      "'; drop table accounts; --",
      "' or 1=1 --",
      ":text",
      "?1",
      "$.x",
      "!0:expect",
      "svc:00000000000000000000000000000000:allow",
      `json_extract('{}', 'svc:${"a".repeat(32)}:0:expect')`,
      '"_users"',
      "/*",
      "é𝄞",
    ];
    for (const text of texts) {
      expect(dataOf(await nobody.post("/ops/say", { text, also: "a1" }))).toEqual([{ note: text }]);
      expect(dataOf(await nobody.post("/ops/say", { text: "x", also: text }))).toEqual(
        (await rowsOf(server, "SELECT note FROM accounts WHERE note = ? OR note = 'x' ORDER BY id", text)).map(
          ([note]) => ({
            note,
          }),
        ),
      );
    }
    expectRefusal(await nobody.post("/ops/say", { text: "", also: "" }), 403, "forbidden");
    expect(await rowsOf(server, "SELECT count(*) AS n FROM accounts")).toEqual([[3]]);
  });

  it("nobody can pass a text off as a guard, neither a caller nor the owner", async () => {
    const nonce = "0".repeat(32);
    const { nobody, server } = await serveAccounts(`
  forge:
    params: { path: text }
    allow: public
    steps:
      - { sql: "update accounts set note = json_extract('{}', :path)" }
  forge_in_select:
    params: { path: text }
    allow: public
    steps:
      - { sql: "select '!allow' || ifnull(json_extract('{}', :path), '') as a", returns: one, as: { a: text } }
  owners:
    allow: public
    steps:
      - { sql: "update accounts set note = json_extract('{}', 'svc:${nonce}:allow')" }
`);
    for (const path of [`svc:${nonce}:allow`, `svc:${nonce}:0:expect`, "!allow"])
      for (const name of ["forge", "forge_in_select"])
        expectRefusal(await nobody.post(`/ops/${name}`, { path }), 400, "bad_request");
    expectRefusal(await nobody.post("/ops/owners", {}), 400, "bad_request");
    expect(dataOf(await nobody.post("/ops/forge_in_select", { path: "$.x" }))).toEqual({ a: "!allow" });
    expect(await rowsOf(server, "SELECT DISTINCT note FROM accounts")).toEqual([[null]]);
  });

  it("one without a rule is for keys alone", async () => {
    const { ada, nobody, server } = await serveAccounts(operations);
    await member(server, "root", "admin");
    expectRefusal(await ada.post("/ops/keys_only", {}), 403, "forbidden");
    expectRefusal(await nobody.post("/ops/keys_only", {}), 401, "unauthorized");
    const key = client(server, await apiKey(server, "operation:keys_only"));
    expect(dataOf(await key.post("/ops/keys_only", {}))).toBeNull();
  });

  it("what the owner's SQL cannot make of the values is 400, and undone", async () => {
    const { nobody, server } = await serveAccounts(`
  read:
    params: { json: text }
    allow: public
    steps:
      - { sql: "update accounts set note = :json" }
      - { sql: "select json_extract(:json, '$.a') as a", returns: one, as: { a: text } }
  owe:
    allow: public
    steps: [{ sql: "update accounts set cents = -1 where id = 'a1'" }]
`);
    expect(dataOf(await nobody.post("/ops/read", { json: '{"a":"b"}' }))).toEqual({ a: "b" });
    expectRefusal(await nobody.post("/ops/read", { json: "{" }), 400, "bad_request");
    expectRefusal(await nobody.post("/ops/owe", {}), 400, "bad_request");
    expect(await rowsOf(server, "SELECT DISTINCT note, cents FROM accounts")).toEqual([['{"a":"b"}', 100]]);
  });

  it("a trigger says why it refuses, and one that ignores a row leaves it uncounted", async () => {
    const schema = accountsSchema.replace(
      "accounts:\n",
      `accounts:
  triggers:
    no_dirt: "before update of note on accounts when new.note = 'dirt' begin select raise(abort, 'no dirt here'); end"
    not_that: "before update of note on accounts when new.note = 'that' begin select raise(ignore); end"
`,
    );
    const accounts = await serveAccounts(
      `
  say:
    params: { note: text }
    allow: public
    steps:
      - { sql: "update accounts set cents = cents + 1" }
      - { sql: "update accounts set note = :note where id = 'a1'", expect: 1 }
`,
      {},
      schema,
    );
    const { nobody } = accounts;
    const say = (note: string) => nobody.post("/ops/say", { note });
    expect(expectRefusal(await say("dirt"), 400, "bad_request")).toBe("no dirt here");
    expectRefusal(await say("that"), 409, "conflict");
    expect(await centsOf(accounts)).toEqual(untouched);
    const answer = await say("clean");
    expect(answer.body).toMatchObject({ data: null, meta: { rows_written: 4 } });
  });

  it("its rule may look into tables that are not STRICT, and compares texts as they are", async () => {
    const schema = `
numbers:
  strict: false
  columns: { code: { type: text, primary_key: true }, owner: { type: text } }
$operations:
`;
    const { nobody, server } = await serveAccounts(
      `
  see:
    params: { code: text }
    allow: "exists(numbers n where n.code = params.code)"
    steps: [{ sql: "select count(*) as n from numbers", returns: one, as: { n: integer } }]
`,
      { config: "" },
      accountsSchema.replace("$operations:\n", schema),
    );
    await run(server, "INSERT INTO numbers (code) VALUES ('07')");
    expect(dataOf(await nobody.get("/ops/see?code=07"))).toEqual({ n: 1 });
    expectRefusal(await nobody.get("/ops/see?code=7"), 403, "forbidden");
  });

  it("answers with at most 1,000 rows", async () => {
    const { nobody } = await serveAccounts(`
  count:
    params: { n: integer }
    allow: public
    steps:
      - { sql: "with recursive c(i) as (select 1 union all select i + 1 from c where i < :n) select i from c", returns: many, as: { i: integer } }
`);
    expect(dataOf<unknown[]>(await nobody.get("/ops/count?n=1000"))).toHaveLength(1000);
    expectRefusal(await nobody.get("/ops/count?n=1001"), 400, "bad_request");
  });

  it("is listed for administrators", async () => {
    const { server, ada } = await serveAccounts(operations);
    expectRefusal(await ada.get("/admin/api/operations"), 403, "forbidden");
    const root = client(server, (await member(server, "root", "admin")).bearer);
    const listed = dataOf<{ name: string }[]>(await root.get("/admin/api/operations"));
    expect(listed.map(({ name }) => name)).toContain("transfer");
    expect(listed.find(({ name }) => name === "transfer")).toEqual({
      name: "transfer",
      params: [
        { name: "from", type: "text", nullable: false, required: true, check: null },
        { name: "to", type: "text", nullable: false, required: true, check: null },
        { name: "cents", type: "integer", nullable: false, required: true, check: "cents > 0" },
      ],
      allow: "exists(accounts a where a.id = params.from and a.owner_id = auth.id)",
      reads_only: false,
      returns: "one",
      columns: [
        { name: "id", type: "text" },
        { name: "cents", type: "integer" },
      ],
      steps: expect.any(Array),
      problems: [],
    });
  });
});
