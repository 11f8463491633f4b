import { describe, expect, test } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
tasks:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    title: { type: text }
    hidden: { type: boolean }
    created_at: { type: integer, managed: created_at }
    changed_at: { type: text, managed: updated_at }
    created_by: { type: text, managed: created_by }
    changed_by: { type: text, managed: updated_by }
    version: { type: integer, managed: version }
secrets:
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    version: { type: integer, managed: version }
plain: { columns: { id: { type: integer, primary_key: true }, title: { type: text } } }
`;
const config = `
[rules.tasks]
read = "row.hidden is null"
create = "authenticated"
update = "old.owner = auth.id"
delete = "row.owner = auth.id"
[rules.secrets]
read = "public"
create = "authenticated"
update = "authenticated"
[rules.secrets.columns.version]
read = "deny"
[rules.plain]
read = "public"
create = "authenticated"
update = "authenticated"
`;

async function world() {
  const server: TestServer = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const ben = client(server, (await member(server, "ben")).bearer);
  const key = client(server, await apiKey(server, "project:backend"));
  return { server, ann, ben, key };
}

interface Task {
  readonly id: number;
  readonly title: string;
  readonly created_at: number;
  readonly changed_at: string;
  readonly created_by: string | null;
  readonly changed_by: string | null;
  readonly version: number;
}

const created = async (by: Client, values: object = {}) => {
  const answer = await by.post("/api/tasks", { owner: "ann", title: "tea", ...values });
  return { row: dataOf<Task>(answer), etag: answer.headers.get("ETag")! };
};

describe("managed columns", () => {
  test("are set by the server: who and when", async () => {
    const { server, ann, key } = await world();
    const nowMs = server.clock.now();
    const { row } = await created(ann);
    const seconds = Math.floor(nowMs / 1000);
    const then = new Date(nowMs).toISOString();
    expect(row).toMatchObject({
      created_at: seconds,
      changed_at: then,
      created_by: "ann",
      changed_by: "ann",
    });
    expect(row.version).toBeGreaterThanOrEqual(0);
    expect(row.version).toBeLessThan(2 ** 40);
    server.clock.advance(5_000);
    const changed = dataOf<Task>(await key.patch(`/api/tasks/${row.id}`, { title: "milk" }));
    expect(changed).toEqual({
      ...row,
      title: "milk",
      changed_at: new Date(nowMs + 5_000).toISOString(),
      changed_by: null,
      version: row.version + 1,
    });
  });

  test("are set by nobody else", async () => {
    const { ann, key } = await world();
    const { row } = await created(ann);
    for (const column of ["created_at", "changed_at", "created_by", "changed_by", "version"] as const)
      for (const by of [ann, key]) {
        const message = expectRefusal(
          await by.post("/api/tasks", { owner: "ann", [column]: row[column] }),
          400,
          "bad_request",
          [column],
        );
        expect(message).toContain(column);
        expectRefusal(await by.patch(`/api/tasks/${row.id}`, { [column]: row[column] }), 400, "bad_request", [column]);
      }
    expect(dataOf<Task>(await ann.get(`/api/tasks/${row.id}`))).toEqual(row);
  });

  test("a version that is written back has its values but theirs", async () => {
    const { ann, key } = await world();
    const { row } = await created(ann);
    await ann.patch(`/api/tasks/${row.id}`, { title: "milk" });
    const versions = dataOf<{ seq: number; op: string }[]>(
      await key.get(`/api/tasks/_svc/history?where[id]=${row.id}`),
    );
    const first = versions.find(({ op }) => op === "insert")!;
    const restored = dataOf<Task>(await key.post("/api/tasks/_svc/restore", { key: { id: row.id }, seq: first.seq }));
    expect(restored).toMatchObject({
      title: "tea",
      version: row.version + 2,
      created_by: "ann",
      changed_by: null,
    });
    await key.delete(`/api/tasks/${row.id}`);
    const again = dataOf<Task>(await key.post("/api/tasks/_svc/restore", { key: { id: row.id }, seq: first.seq }));
    expect(again).toMatchObject({ title: "tea", created_by: "ann", changed_by: null });
    expect(again.version).not.toBe(row.version + 2);
  });
});

describe("ETag", () => {
  test("is the version of a row that is created, read or changed", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    expect(etag).toBe(`"${row.version}"`);
    expect((await ann.get(`/api/tasks/${row.id}`)).headers.get("ETag")).toBe(etag);
    const changed = await ann.patch(`/api/tasks/${row.id}`, { title: "milk" });
    expect(changed.headers.get("ETag")).toBe(`"${row.version + 1}"`);
    expect((await ann.get("/api/tasks")).headers.has("ETag")).toBe(false);
    expect((await ann.delete(`/api/tasks/${row.id}`)).headers.has("ETag")).toBe(false);
  });

  test("is not there where the version may not be read, or the table has none", async () => {
    const { ann } = await world();
    for (const [table, by] of [
      ["secrets", ann],
      ["plain", ann],
    ] as const) {
      const answer = await by.post(`/api/${table}`, { title: "x" });
      expect(answer.headers.has("ETag")).toBe(false);
      const { id } = dataOf<{ id: number }>(answer);
      expect((await by.get(`/api/${table}/${id}`)).headers.has("ETag")).toBe(false);
    }
    const hidden = await ann.post("/api/tasks", { owner: "ann", hidden: true });
    expect(Object.keys(dataOf<Task>(hidden))).toEqual(["id"]);
    expect(hidden.headers.has("ETag")).toBe(false);
  });

  test("spares the row to who knows it", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    const known = async (tags: string) => ann.get(`/api/tasks/${row.id}`, { "If-None-Match": tags });
    for (const tags of [etag, `W/${etag}`, `"1", ${etag}`, "*"]) {
      const answer = await known(tags);
      expect([answer.status, answer.text, answer.headers.get("ETag")]).toEqual([304, "", etag]);
    }
    expect((await known('"1"')).status).toBe(200);
    expectRefusal(await known("7"), 400, "bad_request");
  });
});

describe("If-Match", () => {
  test("lets a row be changed and deleted that is as the client knows it", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    const path = `/api/tasks/${row.id}`;
    const changed = await ann.patch(path, { title: "milk" }, { "If-Match": `"1", ${etag}` });
    expect(dataOf<Task>(changed)).toMatchObject({ title: "milk", version: row.version + 1 });
    for (const tags of [etag, `W/"${row.version + 1}"`, '""', '"x"']) {
      expectRefusal(await ann.patch(path, { title: "no" }, { "If-Match": tags }), 412, "precondition_failed");
      expectRefusal(await ann.delete(path, { "If-Match": tags }), 412, "precondition_failed");
    }
    expect(dataOf<Task>(await ann.get(path))).toEqual(dataOf<Task>(changed));
    const any = await ann.patch(path, { title: "any" }, { "If-Match": "*" });
    expect(dataOf<Task>(any).title).toBe("any");
    const now = any.headers.get("ETag")!;
    expect(dataOf(await ann.delete(path, { "If-Match": now }))).toEqual({ id: row.id });
  });

  test("comes after the rules", async () => {
    const { ann, ben, key } = await world();
    const { row, etag } = await created(ann);
    const path = `/api/tasks/${row.id}`;
    for (const tags of [etag, '"1"', "*"]) {
      expectRefusal(await ben.patch(path, { title: "no" }, { "If-Match": tags }), 403, "forbidden");
      expectRefusal(await ann.patch("/api/tasks/-1", { title: "no" }, { "If-Match": tags }), 404, "not_found");
    }
    const hidden = dataOf<Task>(await ann.post("/api/tasks", { owner: "ann", hidden: true }));
    const version = dataOf<Task>(await key.get(`/api/tasks/${hidden.id}`)).version;
    for (const tags of [`"${version}"`, '"1"', "*"]) {
      const at = `/api/tasks/${hidden.id}`;
      expectRefusal(await ann.patch(at, { title: "no" }, { "If-Match": tags }), 403, "forbidden");
      expectRefusal(await ann.delete(at, { "If-Match": tags }), 403, "forbidden");
    }
    expect(dataOf<Task>(await key.get(`/api/tasks/${hidden.id}`)).title).toBeNull();
  });

  test("is refused where there is nothing to compare with", async () => {
    const { ann } = await world();
    const { id } = dataOf<{ id: number }>(await ann.post("/api/plain", { title: "x" }));
    expectRefusal(await ann.patch(`/api/plain/${id}`, { title: "y" }, { "If-Match": '"1"' }), 400, "bad_request");
    const secret = dataOf<{ id: number }>(await ann.post("/api/secrets", { title: "x" }));
    for (const tags of ['"1"', "*"])
      expectRefusal(
        await ann.patch(`/api/secrets/${secret.id}`, { title: "y" }, { "If-Match": tags }),
        403,
        "forbidden",
      );
    expectRefusal(await ann.post("/api/tasks", { owner: "ann" }, { "If-Match": '"1"' }), 400, "bad_request");
    expectRefusal(await ann.patch("/api/tasks/1", { title: "y" }, { "If-Match": "7" }), 400, "bad_request");
  });

  test("is never left out of account: whoever cannot decide by it refuses it", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    const upsert = "/api/tasks?on_conflict=id&on_duplicate=update";
    const values = { owner: "ann", title: "no" };
    const operation = { op: "update", table: "tasks", key: { id: row.id }, set: { title: "no" } };
    const pushed = { client: "c", mutations: [{ id: 1, operations: [operation] }] };
    for (const headers of [{ "If-Match": etag }, { "If-Match": "*" }, { "If-Match": '"1"' }]) {
      expectRefusal(await ann.post(upsert, { ...values, id: row.id }, headers), 400, "bad_request");
      expectRefusal(await ann.post(upsert, [{ ...values, id: row.id }], headers), 400, "bad_request");
      expectRefusal(await ann.post("/api/tasks", [values], headers), 400, "bad_request");
      expectRefusal(await ann.post("/api/_svc/batch", { operations: [operation] }, headers), 400, "bad_request");
      expectRefusal(await ann.post("/api/_svc/push", pushed, headers), 400, "bad_request");
    }
    expect(dataOf<Task>(await ann.get(`/api/tasks/${row.id}`))).toEqual(row);
  });

  test("an upsert answers with the version, as other writes do", async () => {
    const { key } = await world();
    const upsert = (title: string) =>
      key.post("/api/tasks?on_conflict=id&on_duplicate=update", { id: 70, owner: "ann", title });
    for (const [title, status] of [
      ["new", 201],
      ["changed", 200],
    ] as const) {
      const answer = await upsert(title);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("ETag")).toBe(`"${dataOf<Task>(answer).version}"`);
    }
  });

  test("If-None-Match: * is for what is not there yet, which no write is about", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    const path = `/api/tasks/${row.id}`;
    const none = { "If-None-Match": "*" };
    expectRefusal(await ann.patch(path, { title: "no" }, none), 412, "precondition_failed");
    expectRefusal(await ann.delete(path, none), 412, "precondition_failed");
    expectRefusal(await ann.post("/api/tasks", { owner: "ann" }, none), 412, "precondition_failed");
    expectRefusal(await ann.patch(path, { title: "no" }, { "If-None-Match": etag }), 400, "bad_request");
    expect(dataOf<Task>(await ann.get(path))).toEqual(row);
  });

  test("of twenty at once, one wins", async () => {
    const { ann } = await world();
    const { row, etag } = await created(ann);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ann.patch(`/api/tasks/${row.id}`, { title: `by ${i}` }, { "If-Match": etag }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers) if (answer !== won[0]) expectRefusal(answer, 412, "precondition_failed");
    expect(dataOf<Task>(await ann.get(`/api/tasks/${row.id}`))).toEqual(dataOf<Task>(won[0]!));
  });
});
