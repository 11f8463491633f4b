import { expect, test } from "vitest";
import { dataOf, expectRefusal } from "../../support/client.js";
import { Events } from "../../support/events.js";
import { accessTokenOf } from "../../support/people.js";
import { membership, type Row, row, rows, world } from "./team.js";

test("members see what a task was, and write it back", async () => {
  const { ada, cleo, ben } = await world();
  const restore = (by: typeof cleo, seq: unknown) => by.post("/api/tasks/_svc/restore", { key: { id: "roof" }, seq });
  const first = await row(cleo.patch("/api/tasks/roof", { title: "the red roof" }));
  dataOf(await cleo.patch("/api/tasks/roof", { title: "oops", body: "" }));
  const versions = await rows(cleo.get("/api/tasks/_svc/history?where[id]=roof"));
  expect(versions).toMatchObject([
    { op: "update", by: { id: "cleo" }, row: { title: "oops" } },
    { op: "update", row: { title: "the red roof", body: "secret plans" } },
    { op: "insert", by: null, row: { title: "the roof", created_by: "ada" } },
  ]);
  const seq = versions[1]!.seq;
  const conditional = { headers: { "If-Match": "*", "Content-Type": "application/json" }, body: "{}" };
  expectRefusal(await cleo.send("POST", "/api/tasks/_svc/restore", conditional), 400, "bad_request");
  expect(await row(restore(cleo, seq))).toEqual({ ...first, version: (first.version as number) + 2 });
  // The number of an entry is sealed for who was shown it.
  expectRefusal(await restore(ben, seq), 400, "bad_request");

  // A deleted task comes back by whom the create rule admits, as the task of the person who made it.
  dataOf(await ada.delete("/api/tasks/roof"));
  const again = await row(restore(cleo, seq));
  expect(again).toMatchObject({ title: "the red roof", body: "secret plans", created_by: "ada" });
  expect(again.version).not.toBe(first.version);
  const ops = (await rows(cleo.get("/api/tasks/_svc/history?where[id]=roof"))).map(({ op }) => op);
  expect(ops).toEqual(["insert", "delete", "update", "update", "update", "insert"]);

  dataOf(await ada.delete(membership("cleo")));
  expect(await rows(cleo.get("/api/tasks/_svc/history?where[id]=roof"))).toEqual([]);
  expectRefusal(await restore(cleo, seq), 404, "not_found");
});

test("a member who is removed loses the copy of the team, and is told nothing that comes after", async () => {
  const { server, ada, cleo } = await world();
  const asked = { tables: { teams: {}, memberships: {}, projects: {}, tasks: {}, comments: {} } };
  dataOf(await ada.post("/api/comments", { id: "c", task_id: "roof", body: "when?" }));
  const pull = async (checkpoint: unknown) =>
    dataOf<{ checkpoint: string; changes: readonly Row[] }>(
      await cleo.post("/api/_svc/pull", { ...asked, checkpoint }),
    );
  const { checkpoint, changes } = await pull(null);
  expect(changes.map(({ key }) => key)).toHaveLength(1 + 3 + 1 + 1 + 1);
  const headers = { Authorization: `Bearer ${await accessTokenOf(server, "cleo")}` };
  const q = encodeURIComponent(JSON.stringify({ ...asked, checkpoint }));
  const events = new Events(await server.request(`/api/_svc/live?q=${q}`, { headers }));
  expect(await events.changes()).toEqual([]);

  dataOf(await ada.delete(membership("cleo")));
  const removed = changes.map(({ table, key }) => ({ table, op: "remove", key }));
  expect(sorted((await pull(checkpoint)).changes)).toEqual(sorted(removed));
  expect(sorted((await events.changes()) as readonly Row[])).toEqual(sorted(removed));
  dataOf(await ada.patch("/api/tasks/roof", { title: "not for Cleo" }));
  dataOf(await ada.post("/api/memberships", { team_id: "roofers", user_id: "cleo" }));
  // The next that she is told is that she is back.
  const back = (await events.changes()) as readonly Row[];
  expect(back.filter(({ op }) => op !== "insert")).toEqual([]);
  expect(back).toHaveLength(7);
});

const sorted = (changes: readonly Row[]) => changes.map((change) => JSON.stringify(change)).sort();
