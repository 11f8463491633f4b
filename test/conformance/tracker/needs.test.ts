import { describe, expect, test } from "vitest";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf } from "../../support/people.js";
import { batch, forbidden, joined, membership, opening, type Row, row, rows, world } from "./team.js";

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("a team and what belongs to it is opened as a whole, or not at all", async () => {
  const { server, eve } = await world();
  const answer = dataOf<readonly Row[]>(await batch(eve, opening("eve", "bakers", "cake", "oven")));
  expect(answer).toEqual([
    { id: "bakers" },
    { team_id: "bakers", user_id: "eve", role: "owner", created_by: "eve", updated_at: iso },
    { id: "cake", team_id: "bakers", name: "cake", created_by: "eve", created_at: iso },
    expect.objectContaining({ id: "oven", project_id: "cake", created_by: "eve", updated_at: iso }),
  ]);
  // The task's id is taken, so that neither the team nor the rest of it is there.
  const refused = await batch(eve, opening("eve", "cooks", "soup", "oven"));
  expect(expectRefusal(refused, 409, "conflict", ["id"])).toMatch(/^operation 3: /);
  expect(await rowsOf(server, "SELECT id FROM teams WHERE id = 'cooks'")).toEqual([]);
  expect(await rowsOf(server, "SELECT user_id FROM memberships WHERE team_id = 'cooks'")).toEqual([]);
  // Nor can somebody else be made its first owner.
  const forBen = await batch(eve, opening("ben", "cooks", "soup", "pot"));
  expect(expectRefusal(forBen, 403, "forbidden")).toMatch(/^operation 1: /);
  // Whoever has no profile yet is told what is missing.
  const zoe = client(server, (await member(server, "zoe")).bearer);
  const team = await zoe.post("/api/teams", { name: "mine" });
  expect(expectRefusal(team, 409, "conflict", ["created_by"])).toMatch(
    /created_by is your id, and has to be the id of a row of profiles$/,
  );
  expectRefusal(await eve.post("/api/memberships", { team_id: "bakers", user_id: "zoe" }), 409, "conflict");
});

test("who made a row, when, and its version are the server's word, and of two who edit it the second is told", async () => {
  const { ada, cleo } = await world();
  const task = { project_id: "house", title: "door" };
  for (const mine of ["created_by", "created_at", "updated_at", "version"]) {
    const sent = mine === "version" ? 7 : "ben";
    expectRefusal(await cleo.post("/api/tasks", { ...task, [mine]: sent }), 400, "bad_request", [mine]);
    expectRefusal(await cleo.patch("/api/tasks/roof", { [mine]: sent }), 400, "bad_request", [mine]);
  }
  const door = await row(cleo.post("/api/tasks", task));
  expect(door).toMatchObject({ created_by: "cleo", created_at: iso, updated_at: iso });
  const changed = await row(ada.patch(`/api/tasks/${door.id}`, { title: "window" }));
  expect(changed).toEqual({
    ...door,
    title: "window",
    version: (door.version as number) + 1,
    updated_at: iso,
  });

  const etag = (await cleo.get("/api/tasks/roof")).headers.get("ETag")!;
  const first = await ada.patch("/api/tasks/roof", { title: "the new roof" }, { "If-Match": etag });
  expect(first.status).toBe(200);
  const second = await cleo.patch("/api/tasks/roof", { title: "the old roof" }, { "If-Match": etag });
  expectRefusal(second, 412, "precondition_failed");
  expectRefusal(await ada.delete("/api/tasks/roof", { "If-Match": etag }), 412, "precondition_failed");
  const now = await cleo.get("/api/tasks/roof");
  expect(now.headers.get("ETag")).toBe(first.headers.get("ETag"));
  expect(dataOf(now)).toMatchObject({ title: "the new roof" });
  const again = await cleo.patch("/api/tasks/roof", { title: "both" }, { "If-Match": now.headers.get("ETag")! });
  expect(again.status).toBe(200);
});

test("many rows come by one request, all of them or none, whether they are there or not", async () => {
  const { server, ada, mia, cleo } = await world();
  const put = (by: Client, table: string, columns: string, body: unknown) =>
    by.post(`/api/${table}?on_conflict=${columns}&on_duplicate=update`, body);
  const team = (by: Client, body: unknown) => put(by, "memberships", "team_id,user_id", body);
  const both = await team(ada, [joined("cleo", "manager"), joined("eve", "member")]);
  expect(both.status).toBe(200);
  expect(dataOf(both)).toMatchObject([
    { role: "manager", created_by: "ada" },
    { user_id: "eve", role: "member" },
  ]);
  // A manager takes members in, and changes no roles.
  expect((await team(mia, joined("ben", "member"))).status).toBe(201);
  await forbidden(team(mia, joined("cleo", "member")));
  await forbidden(team(mia, joined("ada", "member")));
  expect(expectRefusal(await team(mia, [joined("ben", "owner")]), 403, "forbidden")).toMatch(/^row 0: /);

  const setting = (value: unknown, user_id = "cleo") =>
    put(cleo, "settings", "user_id,name", { user_id, name: "theme", value });
  expect((await setting({ dark: true })).status).toBe(201);
  expect(await row(setting({ dark: false }))).toMatchObject({ value: { dark: false } });
  await forbidden(setting(null, "ada"));
  expect(await rows(cleo.get("/api/settings"))).toHaveLength(1);
  expect(await rows(ada.get("/api/settings"))).toEqual([]);

  // Tasks are imported by the hundred.
  const many = Array.from({ length: 300 }, (_, i) => ({ project_id: "house", title: `tile ${i}` }));
  const answer = await cleo.post("/api/tasks", many);
  expect(answer.status).toBe(201);
  expect(dataOf<readonly Row[]>(answer).map(({ title }) => title)).toEqual(many.map(({ title }) => title));
  const bad = async (task: object, status: number, code: string, columns: string[] = []) => {
    const refused = await cleo.post("/api/tasks", [...many.slice(0, 9), task, many[0]]);
    expect(expectRefusal(refused, status, code, columns)).toMatch(/^row 9: /);
  };
  await bad({ project_id: "house", title: "" }, 400, "bad_request", ["title"]);
  await bad({ project_id: "boat", title: "not ours" }, 403, "forbidden");
  await bad({ project_id: "house", title: "for a stranger", assignee_id: "zoe" }, 403, "forbidden");
  expect(await rowsOf(server, "SELECT count(*) FROM tasks")).toEqual([[302]]);
});

test("a request whose answer was lost is sent again and done once", async () => {
  const { server, cleo, ada } = await world();
  const key = { "Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324" };
  const send = (by: Client, body = "when?") => by.post("/api/comments", { task_id: "roof", body }, key);
  const first = await send(cleo);
  const again = await send(cleo);
  expect(again.headers.get("Idempotency-Replayed")).toBe("true");
  expect([again.status, dataOf(again)]).toEqual([201, dataOf(first)]);
  expectRefusal(await send(cleo, "another"), 422, "idempotency_mismatch");
  // Another person's key is another key.
  expect(dataOf<Row>(await send(ada)).id).not.toBe(dataOf<Row>(first).id);
  expect(await rowsOf(server, "SELECT created_by FROM comments ORDER BY 1")).toEqual([["ada"], ["cleo"]]);
  const opened = opening("cleo", "bakers", "cake", "oven");
  const open = () => cleo.post("/api/_svc/batch", opened, key);
  expect(dataOf(await open())).toEqual(dataOf(await open()));
  expect(await rowsOf(server, "SELECT count(*) FROM teams WHERE created_by = 'cleo'")).toEqual([[1]]);
  // What was answered is not shown any more to who may not read it by now.
  dataOf(await ada.delete(membership("cleo")));
  expect(dataOf(await send(cleo))).toEqual({ id: dataOf<Row>(first).id });
});

describe("edits that were made offline", () => {
  const push = (by: Client, first: number, ...mutations: readonly object[][]) =>
    by.post("/api/_svc/push", {
      client: "cleos_telephone",
      mutations: mutations.map((operations, i) => ({ id: first + i, operations })),
    });
  const edit = (set: object, base: object) => ({
    op: "update",
    table: "tasks",
    key: { id: "roof" },
    set,
    base,
  });

  test("are done once and in order, and those that conflict say with what", async () => {
    const { server, ada, cleo } = await world();
    dataOf(await ada.patch("/api/tasks/roof", { title: "the green roof" }));
    const mutations = [
      [
        { op: "create", table: "tasks", values: { id: "t1", project_id: "house", title: "tiles" } },
        {
          op: "create",
          table: "comments",
          values: { id: "c1", task_id: { $ref: "0.id" }, body: "how many?" },
        },
      ],
      [edit({ title: "the red roof" }, { title: "the roof" })],
      [edit({ state: "done" }, { state: "open" })],
      [{ op: "create", table: "tasks", values: { id: "t2", project_id: "boat", title: "not ours" } }],
    ];
    const answer = dataOf<{ results: unknown }>(await push(cleo, 1, ...mutations));
    const error = (code: string) => ({ code, message: expect.any(String) });
    expect(answer).toMatchObject({
      last_id: 4,
      results: [
        { id: 1, status: "applied", rows: [{ id: "t1", created_by: "cleo" }, { task_id: "t1" }] },
        {
          id: 2,
          status: "conflict",
          operation: 0,
          error: error("conflict"),
          fields: ["title"],
          current: { id: "roof", title: "the green roof" },
        },
        { id: 3, status: "applied", rows: [{ title: "the green roof", state: "done" }] },
        { id: 4, status: "rejected", operation: 0, error: error("forbidden") },
      ],
    });
    expect(dataOf(await push(cleo, 1, ...mutations))).toMatchObject({
      last_id: 4,
      results: [
        { status: "duplicate" },
        { status: "conflict", current: { state: "done" } },
        { status: "duplicate" },
        { status: "rejected" },
      ],
    });
    expect(await rowsOf(server, "SELECT id, title, state FROM tasks ORDER BY id")).toEqual([
      ["mast", "the mast", "open"],
      ["roof", "the green roof", "done"],
      ["t1", "tiles", "open"],
    ]);

    // Whoever was removed meanwhile is told nothing of what the task is by now.
    const stale = [edit({ title: "the blue roof" }, { title: "the roof" })];
    expect(dataOf(await push(cleo, 5, stale))).toMatchObject({ results: [{ status: "conflict" }] });
    dataOf(await ada.delete(membership("cleo")));
    const { results } = dataOf<{ results: readonly Row[] }>(
      await push(cleo, 5, stale, [edit({ title: "the blue roof" }, { title: "no" })]),
    );
    expect(results).toMatchObject([{ status: "conflict" }, { status: "rejected", error: { code: "not_found" } }]);
    expect(JSON.stringify(results)).not.toContain("green");
    expect(results[0]).not.toHaveProperty("current");
  });
});
