import { expect, test } from "vitest";
import { type Answer, client, dataOf, expectRefusal } from "../../support/client.js";
import { rowsOf } from "../../support/people.js";
import { apiKey } from "../../support/server.js";
import { batch, forbidden, joined, membership, type Row, refusedByTrigger, row, rows, world } from "./team.js";

test("nobody takes a team over", async () => {
  const { server, ada, mia, cleo, ben, eve } = await world();
  const members = () => rowsOf(server, "SELECT team_id, user_id, role FROM memberships ORDER BY 1, 2");
  const before = await members();
  const join = (role: string, user = "ben") => ben.post("/api/memberships", joined(user, role));
  const upsert = "/api/memberships?on_conflict=team_id,user_id&on_duplicate";

  // Ben is in another team, Cleo is a member of this one, and Mia its manager.
  await forbidden(join("owner"));
  await forbidden(join("member"));
  await forbidden(join("member", "eve"));
  await forbidden(ben.post(`${upsert}=update`, joined("ben", "member")));
  await forbidden(ben.post(`${upsert}=ignore`, joined("ben", "member")));
  await forbidden(batch(ben, { operations: [{ op: "create", table: "memberships", values: joined("ben", "owner") }] }));
  await forbidden(ben.delete(membership("ada")));
  await forbidden(ben.patch("/api/teams/roofers", { name: "ours" }));
  await forbidden(ben.delete("/api/teams/roofers"));
  await forbidden(cleo.patch(membership("cleo"), { role: "owner" }));
  await forbidden(cleo.post(`${upsert}=update`, joined("cleo", "manager")));
  await forbidden(cleo.post("/api/memberships", joined("eve", "member")));
  await forbidden(cleo.delete(membership("mia")));
  await forbidden(cleo.delete("/api/teams/roofers"));
  await forbidden(mia.post("/api/memberships", joined("eve", "manager")));
  await forbidden(mia.patch(membership("mia"), { role: "owner" }));
  await forbidden(mia.delete(membership("ada")));
  await forbidden(mia.delete("/api/teams/roofers"));
  // Leaving and coming back as more is one transaction, of which nothing is done.
  await forbidden(
    batch(mia, {
      operations: [
        { op: "delete", table: "memberships", key: { team_id: "roofers", user_id: "mia" } },
        { op: "create", table: "memberships", values: joined("mia", "owner") },
      ],
    }),
  );
  // A team's own creator comes back to it as anybody does, once they have left.
  expectRefusal(await eve.post("/api/teams", { id: "roofers", name: "mine" }), 409, "conflict", ["id"]);
  expectRefusal(await eve.post("/api/teams", { name: "mine", created_by: "ada" }), 400, "bad_request", ["created_by"]);
  expect(await members()).toEqual(before);

  dataOf(await ada.patch(membership("mia"), { role: "owner" }));
  dataOf(await ada.delete(membership("ada")));
  await forbidden(ada.post("/api/memberships", joined("ada", "owner")));
  await forbidden(ada.get("/api/teams/roofers"));
});

test("a team keeps one owner, whoever deletes or demotes them", async () => {
  const { server, ada, mia, cleo } = await world();
  const kept = "a team keeps one owner";
  await refusedByTrigger(ada.delete(membership("ada")), kept);
  await refusedByTrigger(ada.patch(membership("ada"), { role: "member" }), kept);
  await refusedByTrigger(
    ada.post("/api/memberships?on_conflict=team_id,user_id&on_duplicate=update", joined("ada", "manager")),
    kept,
  );
  const operations = [
    { op: "update", table: "projects", key: { id: "house" }, set: { name: "sold" } },
    { op: "delete", table: "memberships", key: { team_id: "roofers", user_id: "ada" } },
  ];
  await refusedByTrigger(batch(ada, { operations }), `operation 1: ${kept}`);
  const pushed = await ada.post("/api/_svc/push", { client: "a", mutations: [{ id: 1, operations }] });
  expect(dataOf(pushed)).toMatchObject({
    results: [{ status: "rejected", operation: 1, error: { code: "bad_request", message: kept } }],
  });
  expect(await rowsOf(server, "SELECT name FROM projects WHERE id = 'house'")).toEqual([["house"]]);

  const admin = client(server, await apiKey(server, "project:backend"));
  expect(expectRefusal(await admin.delete("/admin/api/users/ada"), 409, "conflict")).toBe(kept);
  // Who is no owner can go, and what they made stays, by nobody, as what a program makes.
  const made = { id: "door", project_id: "house", title: "the door", assignee_id: "cleo" };
  dataOf(await cleo.post("/api/tasks", made));
  dataOf(await admin.delete("/admin/api/users/cleo"));
  const byProgram = await row(admin.post("/api/tasks", { project_id: "house", title: "by a program" }));
  expect(byProgram.created_by).toBe(null);
  const left = await row(ada.get("/api/tasks/door"));
  expect(left).toMatchObject({ title: "the door", assignee_id: null, created_by: null });

  // Two owners, of whom one may go; the team as a whole may, too.
  dataOf(await ada.patch(membership("mia"), { role: "owner" }));
  dataOf(await mia.patch(membership("ada"), { role: "member" }));
  await refusedByTrigger(mia.delete(membership("mia")), kept);
  dataOf(await mia.delete("/api/teams/roofers"));
  expect(await rowsOf(server, "SELECT team_id FROM memberships")).toEqual([["sailors"]]);
  expect(await rowsOf(server, "SELECT id FROM tasks")).toEqual([["mast"]]);
});

test("tasks stay in their team, and are those of its members alone", async () => {
  const { server, ada, mia, cleo, ben } = await world();
  const task = "/api/tasks/roof";
  const comment = await row(cleo.post("/api/comments", { task_id: "roof", body: "when?" }));
  await forbidden(ben.post("/api/tasks", { project_id: "house", title: "mine" }));
  await forbidden(ben.patch(task, { title: "mine" }));
  await forbidden(ben.patch("/api/tasks/mast", { project_id: "house" }));
  await forbidden(ben.delete(task));
  await forbidden(ben.post("/api/comments", { task_id: "roof", body: "spam" }));
  await forbidden(ben.patch(`/api/comments/${comment.id}`, { body: "spam" }));
  await forbidden(ada.patch(`/api/comments/${comment.id}`, { body: "words in a mouth" }));
  await forbidden(cleo.delete(task));
  await forbidden(cleo.post("/api/projects", { team_id: "roofers", name: "mine" }));
  await forbidden(ada.patch(task, { assignee_id: "ben" }));
  await forbidden(ada.patch("/api/projects/house", { team_id: "sailors" }));
  // Who is in both teams cannot carry a task, a project or a comment from one to the other.
  dataOf(await ben.post("/api/memberships", { team_id: "sailors", user_id: "mia", role: "manager" }));
  await forbidden(mia.patch(task, { project_id: "boat" }));
  await forbidden(mia.patch("/api/tasks/mast", { project_id: "house" }));
  await forbidden(mia.patch("/api/projects/boat", { team_id: "roofers" }));
  const [mine] = [await row(mia.post("/api/comments", { task_id: "roof", body: "mine" }))];
  await forbidden(mia.patch(`/api/comments/${mine.id}`, { task_id: "mast" }));
  // From one project of the team to another one it may go, and to whom of the team it likes.
  const attic = await row(mia.post("/api/projects", { team_id: "roofers", name: "attic" }));
  expect(await row(cleo.patch(task, { project_id: attic.id, assignee_id: "cleo" }))).toMatchObject({
    project_id: attic.id,
    assignee_id: "cleo",
  });
  // Whoever leaves the team leaves its tasks.
  dataOf(await mia.delete(membership("cleo")));
  expect(await rowsOf(server, "SELECT assignee_id FROM tasks WHERE id = 'roof'")).toEqual([[null]]);
});

test("another team's rows are shown nowhere", async () => {
  const { server, ada, ben } = await world();
  dataOf(await ada.patch("/api/tasks/roof", { title: "the new roof", assignee_id: "ada" }));
  dataOf(await ada.post("/api/comments", { id: "c", task_id: "roof", body: "secret comment" }));
  const tables = ["teams", "memberships", "projects", "tasks", "comments"];
  const answers: Answer[] = [];
  const ask = async (answer: Promise<Answer>) => {
    answers.push(await answer);
    return answers.at(-1)!;
  };
  for (const table of tables) {
    const counted = table === "comments" ? 0 : 1;
    expect(await rows(ask(ben.get(`/api/${table}`)))).toHaveLength(counted);
    expect(await rows(ask(ben.get(`/api/${table}/_svc/aggregate?count=*`)))).toEqual([{ count: counted }]);
  }
  for (const path of ["teams/roofers", "projects/house", "tasks/roof", "comments/c"])
    await forbidden(ask(ben.get(`/api/${path}`)));
  await forbidden(ask(ben.get("/api/memberships/_svc/key?team_id=roofers&user_id=ada")));
  expect(await rows(ask(ben.get("/api/tasks?search=roof")))).toEqual([]);
  expect(await rows(ask(ben.get("/api/tasks?filter[id][in]=roof,mast&select=id")))).toEqual([{ id: "mast" }]);
  expect(await rows(ask(ben.get("/api/tasks/_svc/aggregate?group=project_id&max=title")))).toHaveLength(1);
  // From Ada's profile, which everybody may read, nothing leads into her team.
  const paths = [
    "tasks.assignee_id",
    "tasks.created_by",
    "teams.created_by",
    "memberships.user_id",
    "comments.created_by",
  ];
  const options = paths.map((path) => `expand[${path}][count]=true`).join("&");
  const none = Object.fromEntries(paths.map((path) => [path, []]));
  const zero = Object.fromEntries(paths.map((path) => [path, 0]));
  expect(await rows(ask(ben.get(`/api/profiles?where[id]=ada&${options}`)))).toEqual([
    { id: "ada", name: "ada's name", _expand: none, _count: zero },
  ]);
  for (const table of ["tasks", "comments"]) {
    const id = table === "tasks" ? "roof" : "c";
    expect(await rows(ask(ben.get(`/api/${table}/_svc/history?where[id]=${id}`)))).toEqual([]);
    const at = new Date(server.clock.now()).toISOString();
    expect(await rows(ask(ben.get(`/api/${table}/_svc/state?at=${at}&where[id]=${id}`)))).toEqual([]);
  }
  const asked = { tables: Object.fromEntries(tables.map((table) => [table, {}])), checkpoint: null };
  const pulled = dataOf<{ changes: readonly Row[] }>(await ask(ben.post("/api/_svc/pull", asked)));
  expect(pulled.changes.map(({ table }) => table)).toEqual(["teams", "memberships", "projects", "tasks"]);
  // Neither do writes that are refused, or repeated, tell what is there.
  await ask(ben.post("/api/tasks?on_conflict=id&on_duplicate=update", { id: "roof", project_id: "boat", title: "x" }));
  const kept = await ask(
    ben.post("/api/tasks?on_conflict=id&on_duplicate=ignore", { id: "roof", project_id: "boat", title: "x" }),
  );
  expect([kept.status, dataOf(kept)]).toEqual([200, null]);
  await ask(ben.patch("/api/tasks/roof", { title: "x" }, { "If-Match": "*" }));
  await ask(ben.post("/api/tasks/_svc/restore", { key: { id: "roof" }, seq: 1 }));
  const edit = {
    op: "update",
    table: "tasks",
    key: { id: "roof" },
    set: { title: "x" },
    base: { title: "y" },
  };
  await ask(ben.post("/api/_svc/push", { client: "b", mutations: [{ id: 1, operations: [edit] }] }));
  for (const { text } of answers) expect(text).not.toMatch(/new roof|secret comment|"roofers"|"house"/);
});
