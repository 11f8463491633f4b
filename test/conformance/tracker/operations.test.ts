import { expect, test } from "vitest";
import { type Client, dataOf, expectRefusal } from "../../support/client.js";
import { rowsOf } from "../../support/people.js";
import { forbidden, row, rows, world } from "./team.js";

test("a team is handed over, and a task is moved, by whom it is for to decide, as a whole or not at all", async () => {
  const { server, ada, mia, cleo, ben, eve } = await world();
  const roles = () => rowsOf(server, "SELECT user_id, role FROM memberships WHERE team_id = 'roofers' ORDER BY 1");
  const places = () => rowsOf(server, "SELECT id, project_id FROM tasks ORDER BY 1");
  const [rolesBefore, placesBefore] = [await roles(), await places()];
  const handOver = (by: Client, to: string, headers = {}) =>
    by.post("/ops/hand_over", { team: "roofers", to }, headers);
  const moveTask = (by: Client, task: string, project: string) => by.post("/ops/move_task", { task, project });
  for (const by of [mia, cleo, ben, eve]) await forbidden(handOver(by, "ben"));
  expectRefusal(await handOver(ada, "ben"), 404, "not_found");
  // A step sees one owner less only after it has seen one more.
  expectRefusal(await handOver(ada, "ada"), 409, "conflict");
  // Ben manages where the task would go, and not where it is; Mia the other way round.
  await forbidden(moveTask(ben, "roof", "boat"));
  await forbidden(moveTask(mia, "roof", "boat"));
  await forbidden(moveTask(ben, "no such task", "boat"));
  // There is no one row that a precondition could be about.
  expectRefusal(await handOver(ada, "mia", { "If-Match": '"7"' }), 400, "bad_request");
  expect([await roles(), await places()]).toEqual([rolesBefore, placesBefore]);

  dataOf(await ben.post("/api/memberships", { team_id: "sailors", user_id: "mia", role: "manager" }));
  const before = await mia.get("/api/tasks/roof");
  const moved = await row(moveTask(mia, "roof", "boat"));
  expect(moved).toMatchObject({ id: "roof", project_id: "boat", assignee_id: null });
  await forbidden(cleo.get("/api/tasks/roof"));
  expect(await row(ben.get("/api/tasks/roof"))).toMatchObject({ title: "the roof", created_by: "ada" });
  // What somebody read before the move is another version.
  const stale = { "If-Match": before.headers.get("ETag")! };
  expectRefusal(await mia.patch("/api/tasks/roof", { title: "x" }, stale), 412, "precondition_failed");

  // The answer was lost: sent again, it comes again.
  const once = { "Idempotency-Key": "hand-over" };
  const first = await rows(handOver(ada, "mia", once));
  expect(first).toEqual([
    { user_id: "ada", role: "manager" },
    { user_id: "cleo", role: "member" },
    { user_id: "mia", role: "owner" },
  ]);
  const again = await handOver(ada, "mia", once);
  expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([200, "true"]);
  await forbidden(handOver(ada, "ada"));
  expect(await roles()).toEqual([
    ["ada", "manager"],
    ["cleo", "member"],
    ["mia", "owner"],
  ]);
});
