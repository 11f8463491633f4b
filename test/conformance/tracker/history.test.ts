import { expect, test } from "vitest";
import { dataOf, expectRefusal } from "../../support/client.js";
import { Events } from "../../support/events.js";
import { member } from "../../support/people.js";
import { membership, type Row, row, rows, world } from "./team.js";

test("members see what a task was, and write it back", async () => {
  const { ada, cleo, ben } = await world();
  const first = await row(cleo.patch("/api/tasks/roof", { title: "the red roof" }));
  dataOf(await cleo.patch("/api/tasks/roof", { title: "oops", body: "" }));
  const versions = await rows(cleo.get("/api/tasks/_svc/history?where[id]=roof"));
  expect(versions).toMatchObject([
    { op: "update", by: { id: "cleo" }, row: { title: "oops" } },
    { op: "update", row: { title: "the red roof", body: "secret plans" } },
    { op: "insert", by: null, row: { title: "the roof", created_by: "ada" } },
  ]);
  const restore = { key: { id: "roof" }, seq: versions[1]!.seq };
  const restored = await row(cleo.post("/api/tasks/_svc/restore", restore));
  expect(restored).toEqual({
    ...first,
    version: (first.version as number) + 2,
    updated_at: expect.any(String),
  });
  expectRefusal(await ben.post("/api/tasks/_svc/restore", restore), 400, "bad_request");
  dataOf(await ada.delete("/api/tasks/roof"));
  console.log((await cleo.post("/api/tasks/_svc/restore", restore)).text);
  console.log((await ada.post("/api/tasks/_svc/restore", restore)).text);
  const [deletion] = await rows(cleo.get("/api/tasks/_svc/history?where[id]=roof"));
  expect(deletion).toMatchObject({ op: "delete", row: null });
});

test("a member who is removed loses the copy of the team, and sees nothing that comes after", async () => {
  const { server, ada, cleo } = await world();
  const asked = { tables: { teams: {}, memberships: {}, projects: {}, tasks: {}, comments: {} } };
  dataOf(await ada.post("/api/comments", { id: "c", task_id: "roof", body: "when?" }));
  const pull = async (checkpoint: unknown) =>
    dataOf<{ checkpoint: string; changes: readonly Row[] }>(
      await cleo.post("/api/_svc/pull", { ...asked, checkpoint }),
    );
  const { checkpoint, changes } = await pull(null);
  expect(changes).toHaveLength(1 + 3 + 1 + 1 + 1);
  const { bearer } = await member(server, "cleo2").then(() => ({ bearer: {} }));
  void bearer;
  void Events;
  dataOf(await ada.delete(membership("cleo")));
  dataOf(await ada.patch("/api/tasks/roof", { title: "secret" }));
  const after = await pull(checkpoint);
  expect(after.changes).toHaveLength(7);
  expect(after.changes.every(({ op }) => op === "remove")).toBe(true);
  expect((await pull(after.checkpoint)).changes).toEqual([]);
});
