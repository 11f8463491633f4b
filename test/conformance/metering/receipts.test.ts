import { describe, expect, it } from "vitest";
import { storeEntries } from "../../../src/metering/database-journal.js";
import type { Journal, Receipt } from "../../../src/platform/journal.js";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { switchboard } from "../../support/faulty-database.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { receipt, receiptRows } from "../../support/receipts.js";
import { apiKey, serve } from "../../support/server.js";
import { SwitchableJournal } from "../../support/switchable-journal.js";

/** docs/reference/metering.md: receipts. */
const schema = `
owners: { columns: { id: { type: integer, primary_key: true }, user: { type: text } }, indexes: [{ columns: [user] }] }
things:
  columns:
    id: { type: integer, primary_key: true }
    user: { type: text }
    owner: { type: integer, references: { table: owners } }
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
pairs:
  primary_key: [a, b]
  columns: { a: { type: integer }, b: { type: integer } }
$operations:
  notes_of:
    params: { owner: text }
    steps: [{ sql: "select id from notes where owner = :owner", returns: many }]
`;
const config = `
[rules.notes]
read = "row.owner = auth.id"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id"
[rules.notes.columns.id]
write = "public"
[rules.things]
create = "authenticated"
read = "exists(owners o where o.user = row.user)"
`;

/** Of which nobody knows what it read before the foreign key refused it. */
const orphan = { user: "ada", owner: 9 };

async function people(more = "", journal?: Journal) {
  const server = await serve({ schema, config: more + config, ...(journal && { journal }) });
  const [ada, bob, root] = await Promise.all([
    member(server, "ada"),
    member(server, "bob"),
    member(server, "root", "admin"),
  ]);
  const key = client(server, await apiKey(server, "project:backend"));
  const [[keyId]] = (await rowsOf(server, "SELECT id FROM _service_keys")) as [[string]];
  return {
    server,
    ada: client(server, ada.bearer),
    bob: client(server, bob.bearer),
    root: client(server, root.bearer),
    key,
    keyId,
    anyone: client(server),
  };
}

type People = Awaited<ReturnType<typeof people>>;

const dayMs = 86_400_000;

const receipts = ({ server }: People) =>
  rowsOf(
    server,
    `SELECT principal_kind, principal_id, method, table_name, action, status, rows_read, rows_written, rows_returned
    FROM ${receiptRows} ORDER BY attempt_id`,
  );

describe("a receipt", () => {
  it("says who did what, how it ended and what it cost, whatever became of it", async () => {
    const all = await people();
    const { server, ada, bob, key, keyId } = all;
    const began = server.clock.now();
    const made = await ada.post("/api/notes", { id: 1, owner: "ada" });
    for (const request of [
      () => ada.get("/api/notes/1"),
      () => bob.get("/api/notes/1"),
      () => bob.patch("/api/notes/1", { owner: "bob" }),
      () => bob.delete("/api/notes/2"),
      () => ada.post("/api/notes", { id: 1, owner: "ada" }),
      () => ada.post("/api/notes", { id: 2, owner: "bob" }),
      () => key.get("/api/notes?limit=10"),
      () => ada.patch("/api/notes/1", { owner: "bob" }),
      () => key.delete("/api/notes/1"),
    ]) {
      // Identifiers follow the clock.
      server.clock.advance(1);
      await request();
    }
    expect(await receipts(all)).toEqual([
      ["user", "ada", "POST", "notes", "create", 201, 0, 1, 1],
      ["user", "ada", "GET", "notes", "get", 200, 1, 0, 1],
      ["user", "bob", "GET", "notes", "get", 403, 1, 0, 0],
      // The row that the update looked at, and once more to tell 403 from 404.
      ["user", "bob", "PATCH", "notes", "update", 403, 2, 0, 0],
      ["user", "bob", "DELETE", "notes", "delete", 404, 0, 0, 0],
      ["user", "ada", "POST", "notes", "create", 409, 0, 0, 0],
      ["user", "ada", "POST", "notes", "create", 403, 0, 0, 0],
      ["key", keyId, "GET", "notes", "list", 200, 2, 0, 1],
      ["user", "ada", "PATCH", "notes", "update", 403, 2, 0, 0],
      ["key", keyId, "DELETE", "notes", "delete", 200, 1, 1, 1],
    ]);
    const [[first, at]] = (await rowsOf(server, `SELECT attempt_id, at FROM ${receiptRows} ORDER BY attempt_id`)) as [
      [string, number],
    ];
    const { meta } = made.body as { meta: { metering: { attempt_id: string } } };
    expect([first, at]).toEqual([meta.metering.attempt_id, began]);
  });

  it("says that HEAD returned no rows, though it read them", async () => {
    const all = await people();
    const { server, ada, key } = all;
    await key.post("/api/notes", [
      { id: 1, owner: "ada" },
      { id: 2, owner: "ada" },
    ]);
    for (const path of [
      "/api/notes",
      "/api/notes/1",
      "/api/notes/_svc/key?id=1",
      "/api/notes/_svc/aggregate?count=*",
    ]) {
      server.clock.advance(1);
      expect((await ada.send("HEAD", path, {})).status, path).toBe(200);
    }
    server.clock.advance(1);
    await key.send("HEAD", "/ops/notes_of?owner=ada", {});
    const heads = (await receipts(all)).filter(([, , method]) => method === "HEAD");
    expect(
      heads.map(([, , , table, action, status, , written, returned]) => [table, action, status, written, returned]),
    ).toEqual([
      ["notes", "list", 200, 0, 0],
      ["notes", "get", 200, 0, 0],
      ["notes", "get", 200, 0, 0],
      ["notes", "list", 200, 0, 0],
      ["ops/notes_of", "operation", 200, 0, 0],
    ]);
    expect(heads.map(([, , , , , , read]) => read)).toEqual([4, 1, 1, 2, null]);
  });

  it("is left by no request that was refused before a row could be touched", async () => {
    const all = await people();
    const { server, ada, anyone } = all;
    await anyone.get("/api/notes");
    await anyone.get("/api/nothing");
    await ada.get("/api/notes?limit=0");
    await ada.get("/api/notes/x");
    await ada.post("/api/notes", { id: "x" });
    await ada.post("/api/pairs", { a: 1, b: 1 });
    await ada.send("PUT", "/api/notes", {});
    await client(server, { Authorization: "Bearer x" }).get("/api/notes");
    await ada.get("/auth/me");
    expect(await receipts(all)).toEqual([]);
  });

  it.each(["usage.enabled = false\n", "usage.row_metering_enabled = false\n"])("is not made where %s", async (off) => {
    const all = await people(off);
    expect((await all.ada.post("/api/notes", { id: 1, owner: "ada" })).status).toBe(201);
    expect(await receipts(all)).toEqual([]);
    expect(await countOf(all.server, "_usage_gaps")).toBe(0);
  });
});

describe("the receipt of a request that failed", () => {
  it("says that nothing is known where the storage failed, of lists too", async () => {
    const board = switchboard();
    const server = await serve({ schema, config, wrap: board.wrap });
    const key = client(server, await apiKey(server, "project:backend"));
    await key.get("/api/notes");
    await run(server, "DELETE FROM _usage_entries");
    board.failing = (statements) => statements.some(({ sql }) => sql.includes('"notes"'));
    for (const path of ["/api/notes", "/api/notes/1"]) {
      server.clock.advance(1);
      expectRefusal(await key.get(path), 503, "unavailable");
    }
    expect(
      await rowsOf(server, `SELECT action, status, rows_read, rows_written FROM ${receiptRows} ORDER BY at`),
    ).toEqual([
      ["list", 503, null, null],
      ["get", 503, null, null],
    ]);
  });

  it("does not guess what was read before a foreign key refused", async () => {
    const { server, ada } = await people();
    await run(server, "INSERT INTO owners VALUES (1, 'ada')");
    expectRefusal(await ada.post("/api/things", orphan), 409, "conflict", ["owner"]);
    expect(await rowsOf(server, `SELECT rows_read, rows_written FROM ${receiptRows}`)).toEqual([[null, 0]]);
  });

  it("does not guess what several writes read before one of them was refused", async () => {
    const all = await people();
    const { server, ada, key } = all;
    expectRefusal(await key.post("/api/notes", [{ id: 1 }, { id: 1 }]), 409, "conflict", ["id"]);
    server.clock.advance(1);
    expectRefusal(await ada.post("/api/notes", [{ owner: "ada" }, { owner: "bob" }]), 403, "forbidden");
    expect((await receipts(all)).map((values) => values.slice(-4))).toEqual([
      [409, null, 0, 0],
      [403, null, 0, 0],
    ]);
  });
});

describe("GET /admin/api/usage", () => {
  it("sums by table, principal and day, and says of how many reads nothing is known", async () => {
    const all = await people();
    const { server, ada, key, keyId, root } = all;
    await ada.post("/api/notes", { id: 1, owner: "ada" });
    await ada.get("/api/notes/1");
    await key.post("/api/pairs", { a: 1, b: 1 });
    server.clock.advance(600_000);
    await run(server, "INSERT INTO owners VALUES (1, 'ada')");
    expectRefusal(await ada.post("/api/things", orphan), 409, "conflict", ["owner"]);
    const sum = (name: string, ...counts: number[]) => ({
      key: name,
      requests: counts[0],
      rows_read: counts[1],
      rows_written: counts[2],
      rows_returned: counts[3],
      unknown_reads: counts[4],
    });
    expectAnswer(await root.get("/admin/api/usage"), 200, {
      data: [sum("notes", 2, 1, 1, 2, 0), sum("pairs", 1, 0, 1, 1, 0), sum("things", 1, 0, 0, 0, 1)],
      meta: { gaps: [] },
    });
    expect(dataOf(await key.get("/admin/api/usage?group_by=principal"))).toEqual([
      sum(`key:${keyId}`, 1, 0, 1, 1, 0),
      sum("user:ada", 3, 1, 1, 2, 1),
    ]);
    const day = new Date(server.clock.now()).toISOString().slice(0, 10);
    expect(dataOf(await root.get("/admin/api/usage?group_by=day"))).toEqual([sum(day, 4, 1, 2, 3, 1)]);
    const before = new Date(server.clock.now()).toISOString();
    expect(dataOf(await root.get(`/admin/api/usage?to=${before}&group_by=table`))).toEqual([
      sum("notes", 2, 1, 1, 2, 0),
      sum("pairs", 1, 0, 1, 1, 0),
    ]);
    expect(dataOf(await root.get(`/admin/api/usage?from=${before}`))).toEqual([sum("things", 1, 0, 0, 0, 1)]);
  });

  it("sums a part of a day as it does whole ones, and adds both", async () => {
    const { server, key } = await people();
    const at = (ms: number) => server.clock.advance(ms - server.clock.now());
    const midnight = Math.ceil(server.clock.now() / dayMs) * dayMs;
    for (const [i, hours] of [1, 13, 25, 37, 49, 61].entries()) {
      at(midnight + hours * 3_600_000);
      await key.post("/api/notes", { id: i, owner: "ada" });
    }
    const requests = async (fromHours: number, toHours: number) => {
      const [from, to] = [fromHours, toHours].map((hours) => new Date(midnight + hours * 3_600_000).toISOString());
      const sums = (await Promise.all(
        ["table", "principal", "day"].map(async (grouping) =>
          dataOf(await key.get(`/admin/api/usage?from=${from}&to=${to}&group_by=${grouping}`)),
        ),
      )) as { requests: number; rows_written: number }[][];
      const counts = sums.map((groups) => groups.reduce((sum, group) => sum + group.requests, 0));
      expect(new Set(counts).size).toBe(1);
      expect(sums[0]!.reduce((sum, group) => sum + group.rows_written, 0)).toBe(counts[0]);
      return counts[0];
    };
    expect(await requests(0, 72)).toBe(6);
    expect(await requests(12, 72)).toBe(5);
    expect(await requests(12, 60)).toBe(4);
    expect(await requests(0, 60)).toBe(5);
    expect(await requests(26, 38)).toBe(1);
    expect(await requests(24, 48)).toBe(2);
    expect(await requests(13, 13.5)).toBe(1);
    expect(await requests(12, 13)).toBe(0);
    expect(await requests(38, 26)).toBe(0);
    expect(await requests(61, 10_000)).toBe(1);
    expect(await requests(62, 63)).toBe(0);
    const last = "9999-12-31T23:59:59-23:59";
    expect(dataOf(await key.get(`/admin/api/usage?to=${last}`))).toHaveLength(1);
    const day = new Date(midnight).toISOString().slice(0, 10);
    const exact = `from=${day}T01:00:00.000999999+00&to=${day}T13:00:00.001000001%2B0000`;
    expect(dataOf(await key.get(`/admin/api/usage?${exact}`))).toMatchObject([{ requests: 2 }]);
  });

  it("is for admins and project:backend keys, and refuses what it does not know", async () => {
    const { server, ada, anyone, root } = await people();
    expectRefusal(await anyone.get("/admin/api/usage"), 401, "unauthorized");
    expectRefusal(await ada.get("/admin/api/usage"), 403, "forbidden");
    const reader = client(server, await apiKey(server, "resource:notes:read"));
    expectRefusal(await reader.get("/admin/api/usage"), 403, "forbidden");
    for (const query of ["group_by=hour", "from=yesterday", "to=1", "from=2026-01-01&from=2026-01-02", "limit=1"])
      expectRefusal(await root.get(`/admin/api/usage?${query}`), 400, "bad_request");
    expectRefusal(await root.post("/admin/api/usage", {}), 405, "method_not_allowed");
  });

  it("keeps the sums of a day whose receipts are over retention_days old", async () => {
    const all = await people("usage.retention_days = 2\n");
    const { server, ada, key } = all;
    await ada.post("/api/notes", { id: 1, owner: "ada" });
    await key.get("/api/notes");
    await all.anyone.get("/api/notes");
    const queries = ["group_by=table", "group_by=principal", "group_by=day"];
    const sums = () => Promise.all(queries.map((query) => key.get(`/admin/api/usage?${query}`).then(dataOf)));
    const before = await sums();
    server.clock.advance(2 * 86_400_000 - 1);
    await server.upkeep.purge();
    expect(await rowsOf(server, `SELECT count(*) FROM ${receiptRows}`)).toEqual([[2]]);
    server.clock.advance(86_400_001);
    const late = receipt("late", { atMs: server.clock.now() - 3 * dayMs, rowsWritten: 1, rowsReturned: 1 });
    await storeEntries(server.database, [{ receipts: [late], gaps: [] }]);
    await server.upkeep.purge();
    expect(await countOf(server, "_usage_entries")).toBe(0);
    const after = await sums();
    expect(after[0]).toEqual([
      { ...(before[0] as [object])[0], requests: 3, rows_written: 2, rows_returned: 3, unknown_reads: 1 },
    ]);
    expect((after[1] as { key: string }[]).map(({ key: name }) => name)).toEqual(
      (before[1] as { key: string }[]).map(({ key: name }) => name),
    );
    expect(after[2]).toHaveLength(1);
  });
});

describe("GET /metrics", () => {
  it("is Prometheus's text, for admins and project:backend keys", async () => {
    const { ada, anyone, root, key } = await people();
    await ada.post("/api/notes", { id: 1, owner: "ada" });
    await ada.get("/api/notes/2");
    await ada.send("PROPFIND", "/api/notes", {});
    const answer = await root.get("/metrics");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    for (const line of [
      'svc_requests_total{area="api",method="POST",status="201"} 1',
      'svc_requests_total{area="api",method="GET",status="404"} 1',
      'svc_requests_total{area="api",method="other",status="405"} 1',
      'svc_request_duration_seconds_bucket{area="api",le="+Inf"} 3',
      'svc_request_duration_seconds_count{area="api"} 3',
      "svc_attempts_total 2",
      "svc_rows_read_total 0",
      "svc_rows_written_total 1",
      "svc_journal_available 1",
      "svc_journal_waiting 0",
    ])
      expect(answer.text.split("\n")).toContain(line);
    expect((await key.get("/metrics")).status).toBe(200);
    expectRefusal(await anyone.get("/metrics"), 401, "unauthorized");
    expectRefusal(await ada.get("/metrics"), 403, "forbidden");
    expectRefusal(await root.post("/metrics", {}), 405, "method_not_allowed");
  });
});

const statusOf = (body: unknown) =>
  (body as { meta: { metering: { status: string; attempt_id: string } } }).meta.metering;

describe("a journal that does not work", () => {
  it("holds up nobody: the answer says unrecorded, and the receipt arrives once it works again", async () => {
    const journal = new SwitchableJournal(true);
    const { server, ada } = await people("", journal);
    journal.works = false;
    const made = await ada.post("/api/notes", { id: 1, owner: "ada" });
    expect([made.status, statusOf(made.body).status]).toEqual([201, "unrecorded"]);
    expectRefusal(await ada.get("/api/notes/2"), 404, "not_found");
    await server.upkeep.collectUsage();
    journal.works = true;
    expect(statusOf((await ada.get("/api/notes/1")).body).status).toBe("recorded");
    await server.upkeep.collectUsage();
    await server.upkeep.collectUsage();
    const kept = journal.entries.flatMap(({ receipts: some }) => some);
    expect(kept.map(({ action, status }) => [action, status])).toEqual([
      ["get", 200],
      ["create", 201],
      ["get", 404],
    ]);
    expect(kept[1]!.attemptId).toBe(statusOf(made.body).attempt_id);
    // One line, however many requests.
    expect(server.log.lines.filter((line) => line.includes("receipts cannot be recorded"))).toHaveLength(1);
  });

  it("leaves a gap without a bound while receipts wait in memory, and none once they are recorded", async () => {
    const journal = new SwitchableJournal(false);
    const { server, ada, root } = await people("", journal);
    const gaps = async () =>
      ((await root.get("/admin/api/usage")).body as { meta: { gaps: readonly unknown[] } }).meta.gaps;
    expect(await gaps()).toEqual([]);
    const at = new Date(server.clock.now()).toISOString();
    for (let i = 0; i < 3; i++) await ada.get("/api/notes");
    expect(await gaps()).toEqual([{ at, reason: "crash", attempts_max: null }]);
    await server.upkeep.collectUsage();
    expect(await gaps()).toHaveLength(1);
    journal.works = true;
    await server.upkeep.collectUsage();
    expect(await gaps()).toEqual([]);
    // A later outage is another gap, which ends with the next receipt that is recorded.
    journal.works = false;
    await ada.get("/api/notes");
    expect(await gaps()).toHaveLength(1);
    journal.works = true;
    await ada.get("/api/notes");
    expect(await gaps()).toEqual([]);
  });

  it("leaves the gap later where the database does not take it either at first", async () => {
    const board = switchboard();
    const journal = new SwitchableJournal(false);
    const server = await serve({ schema, config, journal, wrap: board.wrap });
    board.failing = (statements) => statements.some(({ sql }) => sql.includes("_usage_gaps"));
    const key = client(server, await apiKey(server, "project:backend"));
    expect(statusOf((await key.get("/api/notes")).body).status).toBe("unrecorded");
    board.failing = null;
    expect(await countOf(server, "_usage_gaps")).toBe(0);
    await server.upkeep.collectUsage();
    expect(await rowsOf(server, "SELECT attempts_max FROM _usage_gaps")).toEqual([[null]]);
  });
});

describe("a journal that is full", () => {
  it("sums what it may, and the answers say so", async () => {
    const journal = new SwitchableJournal(true);
    const summed: Receipt[] = [];
    let isBroken = false;
    const full = Object.assign(journal, {
      sum: (receipt: Receipt) => {
        if (receipt.principalKind !== "anonymous") return null;
        if (isBroken) return Promise.reject(new Error("no space left on device"));
        summed.push(receipt);
        return Promise.resolve();
      },
    });
    const { ada, anyone } = await people('[rules.pairs]\nread = "public"\n', full);
    const list = await anyone.get("/api/pairs");
    const { attempt_id } = statusOf(list.body);
    expect(list.status).toBe(200);
    expect(statusOf(list.body)).toEqual({ version: 1, attempt_id, status: "recorded", summed: true });
    expectRefusal(await anyone.get("/api/pairs/_svc/key?a=1&b=2"), 404, "not_found");
    const alone = statusOf((await ada.get("/api/pairs")).body);
    expect(alone).toEqual({ version: 1, attempt_id: alone.attempt_id, status: "recorded" });
    expect(summed.map(({ action, status }) => [action, status])).toEqual([
      ["list", 200],
      ["get", 404],
    ]);
    expect(summed[0]!.attemptId).toBe(attempt_id);
    expect(journal.entries.flatMap(({ receipts: some }) => some).map(({ action }) => action)).toEqual(["list"]);
    // A sum that is not written is not recorded, and what waits because the journal has failed is not overtaken.
    isBroken = true;
    journal.works = false;
    for (const caller of [anyone, ada, anyone]) {
      const lost = statusOf((await caller.get("/api/pairs")).body);
      expect(lost).toEqual({ version: 1, attempt_id: lost.attempt_id, status: "unrecorded" });
    }
    expect(summed).toHaveLength(2);
  });
});
