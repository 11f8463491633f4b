import { expect, test } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
people:
  columns:
    id: { type: integer, primary_key: true }
    email: { type: text, not_null: true, unique: true }
    note: { type: text }
    hidden: { type: boolean }
inbox:
  columns: { id: { type: integer, primary_key: true }, text: { type: text } }
  triggers:
    inbox_is_taken: "after insert on inbox begin insert into done (text) values (new.text); delete from inbox where id = new.id; end"
done:
  columns: { id: { type: integer, primary_key: true }, text: { type: text } }
echoes:
  columns: { id: { type: integer, primary_key: true }, text: { type: text } }
  triggers:
    echo: "after insert on echoes when new.text <> 'echo' begin insert into echoes (text) values ('echo'); end"
numbers:
  columns: { id: { type: integer, primary_key: true }, n: { type: integer } }
picky:
  columns: { id: { type: integer, primary_key: true }, text: { type: text } }
  triggers:
    no_dirt: "before insert on picky when new.text = 'dirt' begin select raise(ignore); end"
`;
const config = `
[rules.people]
read = "row.hidden is null"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.inbox]
read = "public"
create = "authenticated"
[rules.echoes]
read = "public"
create = "authenticated"
[rules.picky]
read = "public"
create = "authenticated"
`;

async function world() {
  const server = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  return { server, ann };
}

const once = (key: string) => ({ "Idempotency-Key": key });
const push = (by: Client, id: number, operations: readonly unknown[], name = "c") =>
  by.post("/api/_svc/push", { client: name, mutations: [{ id, operations }] });

test("a repetition does not show the key of a row that was there and may not be read", async () => {
  const { server, ann } = await world();
  await run(server, "INSERT INTO people (id, email, note, hidden) VALUES (4711, 'x', 'secret', 1)");
  const path = "/api/people?on_conflict=email&on_duplicate=ignore";
  for (const [i, body] of [{ email: "x" }, [{ email: "x" }, { email: "y" }]].entries()) {
    const first = await ann.post(path, body, once(`k${i}`));
    const again = await ann.post(path, body, once(`k${i}`));
    expect(again.headers.get("Idempotency-Replayed"), again.text).toBe("true");
    expect(dataOf(again)).toEqual(dataOf(first));
    expect(again.text).not.toContain("4711");
  }
  const blind = client(server, await apiKey(server, "resource:people:write"));
  const row = { email: "x", note: "mine" };
  expect(dataOf(await blind.post(path, row, once("b")))).toBe(null);
  const again = await blind.post(path, row, once("b"));
  expect(dataOf(again), again.text).toBe(null);
});

test("a request with a key whose row a trigger takes away is not done twice", async () => {
  const { server, ann } = await world();
  for (const body of [{ text: "a" }, [{ text: "b" }, { text: "c" }]]) {
    const before = await countOf(server, "done");
    const first = await ann.post("/api/inbox", body, once("k"));
    expectRefusal(first, 400, "bad_request");
    expect(first.text).toContain("Idempotency-Key");
    expectRefusal(await ann.post("/api/inbox", body, once("k")), 400, "bad_request");
    expect(await countOf(server, "done")).toBe(before);
    expect((await ann.post("/api/inbox", body)).status).toBe(201);
  }
  expect(await rowsOf(server, "SELECT count(*) FROM _staged")).toEqual([[0]]);
});

test("a repetition answers with the rows of the request, not with those that triggers add", async () => {
  const { ann } = await world();
  const body = [{ text: "a" }, { text: "b" }];
  const first = await ann.post("/api/echoes", body, once("k"));
  const again = await ann.post("/api/echoes", body, once("k"));
  expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  expect(dataOf(again)).toEqual(dataOf(first));
});

test("the row that a trigger ignores is named", async () => {
  const { server, ann } = await world();
  const answer = await ann.post("/api/picky", [{ text: "a" }, { text: "b" }, { text: "dirt" }]);
  expectRefusal(answer, 400, "bad_request");
  expect(answer.text).toContain("row 2: ");
  expect(await countOf(server, "picky")).toBe(0);
});

test("what is recorded of a mutation that is refused is short", async () => {
  const { server, ann } = await world();
  const long = "x".repeat(50_000);
  const key = { id: 1 };
  const operations = [{ op: "update", table: "people", key, set: { note: "a" }, [long]: 1 }];
  const answer = await push(ann, 1, operations);
  expect(answer.text).toContain("rejected");
  await push(ann, 2, [{ op: "create", table: "people", values: { [long]: 1 } }]);
  await push(ann, 3, [{ op: "delete", table: "people", key, base: { [long]: 1 } }]);
  const [[bytes]] = (await rowsOf(server, "SELECT max(length(result)) FROM _push_results")) as [[number]];
  expect(bytes).toBeLessThan(2_000);
  const { results } = dataOf<{ results: unknown }>(answer);
  expect(dataOf(await push(ann, 1, operations))).toMatchObject({ results });
});

test("a mutation that comes while the one before it is carried out is not told that there are too many clients", async () => {
  const { ann } = await world();
  const operations = [{ op: "create", table: "done", values: {} }];
  for (let id = 1; id < 20; id += 2) {
    const [first, second] = await Promise.all([push(ann, id, operations), push(ann, id + 1, operations)]);
    expect(first.status, first.text).toBe(200);
    expect([200, 409], second.text).toContain(second.status);
    const last = await push(ann, id + 1, operations);
    expect(dataOf(last)).toMatchObject({ last_id: id + 1 });
  }
});

test("a reference gives no number to a row that could not be sent", async () => {
  const { server } = await world();
  const key = client(server, await apiKey(server, "project:backend"));
  const big = "9223372036854775807";
  const values = { n: big };
  const direct = await key.post("/api/numbers", { id: big });
  expect([direct.status, direct.text]).toEqual([400, expect.stringContaining("expected an integer within")]);
  const answer = await key.post("/api/_svc/batch", {
    operations: [
      { op: "create", table: "numbers", values },
      { op: "create", table: "numbers", values: { id: { $ref: "0.n" } } },
    ],
  });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain("operation 1: id: expected an integer within");
  expect(await countOf(server, "numbers")).toBe(0);
  const operations = [
    { op: "create", table: "numbers", values: { n: 41 } },
    { op: "create", table: "numbers", values: { id: { $ref: "0.n" } } },
  ];
  expect(dataOf(await key.post("/api/_svc/batch", { operations }))).toMatchObject([{ n: 41 }, { id: 41 }]);
});
