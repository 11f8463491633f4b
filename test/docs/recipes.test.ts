import { expect, test } from "vitest";
import { type Answer, type Client, client, dataOf } from "../support/client.js";
import { member, run } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { blocksOf, projectUnder } from "./pages.js";

const page = "docs/guides/rules.md";

/** Ada and Ben are users, Root is an administrator; nobody is signed in as `anonymous`. */
interface People {
  readonly ada: Client;
  readonly ben: Client;
  readonly root: Client;
  readonly anonymous: Client;
  readonly server: TestServer;
}

/** What is under each heading of the recipes, tried: what is allowed, and what is refused with which status. */
const recipes: Readonly<Record<string, (people: People) => Promise<void>>> = {
  "The first rule": async ({ ada, ben, anonymous }) => {
    await created(ada, "notes", { owner_id: "ada", body: "mine" });
    expect(await status(ada.post("/api/notes", { owner_id: "ben", body: "for you" }))).toBe(403);
    expect(await status(anonymous.get("/api/notes/1"))).toBe(401);
    expect(await status(ben.get("/api/notes/1"))).toBe(403);
    expect(await data(ben.get("/api/notes"))).toEqual([]);
    expect(await status(ben.patch("/api/notes/1", { body: "theirs" }))).toBe(403);
    expect(await status(ada.patch("/api/notes/1", { owner_id: "ben" }))).toBe(403);
    expect(await status(ada.patch("/api/notes/1", { body: "still mine" }))).toBe(200);
    expect(await status(ada.post("/api/notes", { id: 7, owner_id: "ada", body: "numbered" }))).toBe(403);
    expect(await status(ada.delete("/api/notes/1"))).toBe(200);
  },
  "Public reading": async ({ ada, ben, anonymous }) => {
    await created(ada, "posts", { author_id: "ada", title: "a draft" });
    expect(await status(anonymous.get("/api/posts/1"))).toBe(403);
    expect(await status(ada.get("/api/posts/1"))).toBe(200);
    expect(await status(ada.patch("/api/posts/1", { published: true }))).toBe(200);
    expect(await status(anonymous.get("/api/posts/1"))).toBe(200);
    expect(await status(ben.patch("/api/posts/1", { title: "ours" }))).toBe(403);
    expect(await status(anonymous.post("/api/posts", { author_id: "ada", title: "spam" }))).toBe(401);
  },
  "Owner or member": async ({ ada, ben }) => {
    const { id } = await created(ada, "documents", { owner_id: "ada", body: "draft" });
    expect(await status(ben.get(`/api/documents/${id}`))).toBe(403);
    expect(await status(ben.post("/api/document_members", { document_id: id, user_id: "ben" }))).toBe(403);
    await created(ada, "document_members", { document_id: id, user_id: "ben" });
    expect(await status(ben.get(`/api/documents/${id}`))).toBe(200);
    expect(await status(ben.patch(`/api/documents/${id}`, { body: "better" }))).toBe(403);
    const key = `/api/document_members/_svc/key?document_id=${id}&user_id=ben`;
    expect(await status(ben.patch(key, { may_edit: true }))).toBe(403);
    expect(await status(ada.patch(key, { may_edit: true }))).toBe(200);
    expect(await status(ben.patch(`/api/documents/${id}`, { body: "better" }))).toBe(200);
    expect(await status(ben.patch(`/api/documents/${id}`, { owner_id: "ben" }))).toBe(403);
    expect(await status(ben.delete(`/api/documents/${id}`))).toBe(403);
    expect(await status(ben.delete(key))).toBe(200);
    expect(await status(ben.get(`/api/documents/${id}`))).toBe(403);
  },
  "Several tenants": async ({ ada, ben }) => {
    const [hers, his] = [await tenant(ada, "ada"), await tenant(ben, "ben")];
    expect((await created(ada, "customers", { tenant_id: hers, name: "Acme" })).id).toBe(1);
    expect(await status(ben.post("/api/customers", { tenant_id: hers, name: "x" }))).toBe(403);
    expect(await status(ben.get("/api/customers/1"))).toBe(403);
    expect(await data(ben.get("/api/customers"))).toEqual([]);
    expect(await data(ben.get("/api/tenants"))).toMatchObject([{ id: his }]);
    expect(await status(ben.post("/api/tenant_members", { tenant_id: hers, user_id: "ben" }))).toBe(403);
    await created(ada, "tenant_members", { tenant_id: hers, user_id: "ben" });
    expect(await status(ben.patch("/api/customers/1", { name: "Acme Ltd" }))).toBe(200);
    expect(await status(ben.patch("/api/customers/1", { tenant_id: his }))).toBe(403);
    expect(await status(ada.delete(`/api/tenant_members/_svc/key?tenant_id=${hers}&user_id=ben`))).toBe(200);
    expect(await status(ben.delete("/api/customers/1"))).toBe(403);
  },
  "Rows of rows": async ({ ada, ben, root }) => {
    const clinic = async (name: string) => {
      const { id } = await created(root, "tenants", { name });
      await created(root, "staff", { tenant_id: id, user_id: name });
      return id;
    };
    const [hers, his] = [await clinic("ada"), await clinic("ben")];
    await created(ada, "patients", { tenant_id: hers, name: "Eve" });
    const visit = { tenant_id: hers, patient_id: 1, reason: "cough" };
    await created(ada, "visits", visit);
    expect(await data(ben.get("/api/visits"))).toEqual([]);
    expect(await status(ben.get("/api/visits/1"))).toBe(403);
    expect(await status(ben.post("/api/visits", visit))).toBe(403);
    expect(await status(ben.post("/api/visits", { ...visit, tenant_id: his }))).toBe(403);
    expect((await ada.get("/api/visits")).body).toMatchObject({ meta: { rows_read: expect.any(Number) } });
    await created(root, "staff", { tenant_id: hers, user_id: "ben" });
    expect(await status(ben.patch("/api/visits/1", { reason: "cold" }))).toBe(200);
    expect(await status(ben.patch("/api/visits/1", { tenant_id: his }))).toBe(403);
    expect(await status(ben.patch("/api/patients/1", { tenant_id: his }))).toBe(403);
    await created(ben, "patients", { tenant_id: his, name: "Max" });
    expect(await status(ben.patch("/api/visits/1", { patient_id: 2 }))).toBe(403);
    expect(await status(ada.delete("/api/visits/1"))).toBe(200);
  },
  "One membership for several tables": async ({ ada, ben }) => {
    const { id } = await created(ada, "boards", { owner_id: "ada", name: "house" });
    const other = await created(ben, "boards", { owner_id: "ben", name: "boat" });
    await created(ada, "lists", { board_id: id, title: "roof" });
    await created(ada, "files", { board_id: id, url: "https://example.com/plan" });
    for (const path of [`/api/boards/${id}`, "/api/lists/1", "/api/files/1"])
      expect(await status(ben.get(path))).toBe(403);
    expect(await status(ben.post("/api/board_members", { board_id: id, user_id: "ben" }))).toBe(403);
    await created(ada, "board_members", { board_id: id, user_id: "ben" });
    for (const path of [`/api/boards/${id}`, "/api/lists/1", "/api/files/1"])
      expect(await status(ben.get(path))).toBe(200);
    expect(await status(ben.patch("/api/lists/1", { title: "door" }))).toBe(403);
    expect(await status(ben.delete("/api/files/1"))).toBe(403);
    const key = `/api/board_members/_svc/key?board_id=${id}&user_id=ben`;
    expect(await status(ben.patch(key, { may_edit: true }))).toBe(403);
    expect(await status(ada.patch(key, { may_edit: true }))).toBe(200);
    expect(await status(ben.patch("/api/lists/1", { title: "door" }))).toBe(200);
    expect(await status(ben.patch("/api/lists/1", { board_id: other.id }))).toBe(403);
    await created(ben, "files", { board_id: id, url: "https://example.com/door" });
    expect(await status(ben.delete("/api/files/1"))).toBe(200);
    expect(await status(ben.delete(`/api/boards/${id}`))).toBe(403);
  },
  Roles: async ({ ada, ben }) => {
    const { id } = await created(ada, "projects", { created_by: "ada", name: "roof" });
    await created(ada, "project_members", { project_id: id, user_id: "ada", role: "manager" });
    await created(ada, "tasks", { project_id: id, title: "measure" });
    const ben_ = (role: string) => ({ project_id: id, user_id: "ben", role });
    const key = `/api/project_members/_svc/key?project_id=${id}&user_id=ben`;
    await created(ada, "project_members", ben_("viewer"));
    expect(await status(ben.get("/api/tasks/1"))).toBe(200);
    expect(await status(ben.patch("/api/tasks/1", { title: "paint" }))).toBe(403);
    expect(await status(ben.patch(key, { role: "manager" }))).toBe(403);
    expect(await status(ada.delete(key))).toBe(200);
    await created(ada, "project_members", ben_("editor"));
    expect(await status(ben.patch("/api/tasks/1", { title: "paint" }))).toBe(200);
    expect(await status(ben.delete("/api/tasks/1"))).toBe(403);
    expect(await status(ben.post("/api/project_members", ben_("manager")))).toBe(403);
    expect(await status(ada.delete("/api/tasks/1"))).toBe(200);
  },
  "Names of teammates, and joining by address": async ({ ada, ben, server }) => {
    for (const [person, id] of [
      [ada, "ada"],
      [ben, "ben"],
    ] as const)
      await created(person, "profiles", { id, name: `${id}'s name` });
    const { id } = await created(ada, "projects", { name: "lobby", manager_id: "ada" });
    await created(ada, "members", { project_id: id, user_id: "ada" });
    const join = () => ben.post("/api/members", { project_id: id, user_id: "ben" });
    const invite = (person: Client, email = "ben@example.com") =>
      person.post("/api/invitations", { project_id: id, email });
    expect(await status(invite(ben))).toBe(403);
    expect(await status(ada.post("/api/members", { project_id: id, user_id: "ben" }))).toBe(403);
    await run(server, "UPDATE _users SET email_verified = 1 WHERE id = 'ben'");
    expect(await status(invite(ada, "Ben@example.com"))).toBe(201);
    expect(await status(join())).toBe(403);
    expect(await status(invite(ada))).toBe(201);
    await run(server, "UPDATE _users SET email_verified = 0 WHERE id = 'ben'");
    expect(await data(ben.get("/api/invitations"))).toEqual([]);
    expect(await status(join())).toBe(403);
    await run(server, "UPDATE _users SET email_verified = 1 WHERE id = 'ben'");
    expect(await data(ben.get("/api/invitations"))).toMatchObject([{ project_id: id }]);
    expect(await data(ben.get("/api/profiles"))).toMatchObject([{ id: "ben" }]);
    expect(await status(ben.get(`/api/projects/${id}`))).toBe(403);
    expect(await status(join())).toBe(201);
    expect(await data(ben.get("/api/members?expand=user_id&sort=user_id"))).toMatchObject([
      { _expand: { user_id: { id: "ada", name: "ada's name" } } },
      { _expand: { user_id: { id: "ben", name: "ben's name" } } },
    ]);
    expect(await status(ben.patch("/api/profiles/ada", { name: "x" }))).toBe(403);
    const key = `/api/members/_svc/key?project_id=${id}&user_id`;
    expect(await status(ben.delete(`${key}=ada`))).toBe(403);
    expect(await status(ada.delete(`${key}=ben`))).toBe(200);
    expect(await status(ben.get("/api/profiles/ada"))).toBe(403);
  },
  "Soft delete": async ({ ada, ben, root }) => {
    await created(ada, "notes", { owner_id: "ada", body: "hello" });
    expect(await status(ben.patch("/api/notes/1", { deleted_at: 1767225600 }))).toBe(403);
    expect(await ada.patch("/api/notes/1", { deleted_at: 1767225600 })).toMatchObject({
      status: 200,
      body: { data: { id: 1 } },
    });
    expect(await status(ada.get("/api/notes/1"))).toBe(403);
    expect(await data(ada.get("/api/notes"))).toEqual([]);
    expect(await status(ada.patch("/api/notes/1", { deleted_at: null }))).toBe(403);
    expect(await status(root.delete("/api/notes/1"))).toBe(403);
    expect(await status(root.patch("/api/notes/1", { deleted_at: null }))).toBe(200);
    expect(await status(ada.get("/api/notes/1"))).toBe(200);
  },
  "Guarded versions": async ({ ada, ben, anonymous, server }) => {
    await created(ada, "pages", { body: "one" });
    expect(await status(ada.patch("/api/pages/1", { body: "two", version: 2 }))).toBe(200);
    expect(await status(ben.patch("/api/pages/1", { body: "also two", version: 2 }))).toBe(403);
    expect(await status(ben.patch("/api/pages/1", { body: "unversioned" }))).toBe(403);
    expect(await status(ben.patch("/api/pages/1", { body: "three", version: 3 }))).toBe(200);
    expect(await status(anonymous.patch("/api/pages/1", { body: "four", version: 4 }))).toBe(401);
    expect((await anonymous.get("/api/pages/1")).body).toMatchObject({ data: { body: "three", version: 3 } });
    const key = client(server, await apiKey(server, "resource:pages:write"));
    expect(await status(key.patch("/api/pages/1", { version: 1 }))).toBe(200);
  },
  "Append-only": async ({ ada, ben, root, server }) => {
    await created(ada, "events", { actor_id: "ada", action: "opened" });
    expect(await status(ada.post("/api/events", { actor_id: "ben", action: "opened" }))).toBe(403);
    expect(await status(ada.post("/api/events", { actor_id: "ada", action: "opened", at: 1 }))).toBe(403);
    for (const person of [ada, ben, root]) {
      expect(await status(person.patch("/api/events/1", { action: "closed" }))).toBe(403);
      expect(await status(person.delete("/api/events/1"))).toBe(403);
    }
    expect(await data(root.get("/api/events"))).toMatchObject([{ action: "opened" }]);
    expect(await data(ben.get("/api/events"))).toEqual([]);
    const key = client(server, await apiKey(server, "resource:events:write"));
    expect(await status(key.delete("/api/events/1"))).toBe(200);
  },
  "Hidden columns": async ({ ada, root }) => {
    await created(ada, "orders", { user_id: "ada", item: "tea" });
    expect(await status(ada.patch("/api/orders/1", { state: "sent" }))).toBe(403);
    expect(await status(ada.patch("/api/orders/1", { note: "for me" }))).toBe(403);
    expect(await status(root.patch("/api/orders/1", { state: "sent", note: "fragile" }))).toBe(200);
    expect(await data(ada.get("/api/orders/1"))).toEqual({
      id: 1,
      user_id: "ada",
      item: "tea",
      state: "sent",
    });
    expect(await status(ada.get("/api/orders?where[note]=fragile"))).toBe(400);
    expect(await data(root.get("/api/orders?where[note]=fragile"))).toHaveLength(1);
  },
  "Steps of a workflow": async ({ ada, root }) => {
    expect(await status(ada.post("/api/reports", { owner_id: "ada", body: "x", state: "approved" }))).toBe(403);
    await created(ada, "reports", { owner_id: "ada", body: "x" });
    expect(await status(ada.patch("/api/reports/1", { state: "approved" }))).toBe(403);
    expect(await status(ada.patch("/api/reports/1", { body: "y" }))).toBe(200);
    expect(await status(root.patch("/api/reports/1", { state: "approved" }))).toBe(403);
    expect(await status(ada.patch("/api/reports/1", { state: "submitted" }))).toBe(200);
    expect(await status(ada.patch("/api/reports/1", { body: "z" }))).toBe(403);
    expect(await status(ada.delete("/api/reports/1"))).toBe(403);
    expect(await status(root.patch("/api/reports/1", { state: "approved" }))).toBe(200);
  },
  "Only for a time": async ({ ada, root, server }) => {
    const endsAt = Math.floor(server.clock.now() / 1000) + 60;
    await created(root, "surveys", { question: "Tea?", ends_at: endsAt });
    const answer = { survey_id: 1, user_id: "ada", text: "yes" };
    await created(ada, "answers", answer);
    expect(await status(ada.post("/api/answers", answer))).toBe(409);
    server.clock.advance(61_000);
    expect(await status(ada.get("/api/surveys/1"))).toBe(403);
    expect(await status(root.post("/api/answers", { survey_id: 1, user_id: "root", text: "no" }))).toBe(403);
    expect(await data(ada.get("/api/answers"))).toHaveLength(1);
  },
};

test.each(Object.entries(recipes))("%s", async (heading, tried) => {
  const server = await serve(projectUnder(page, heading), "app");
  const signedIn = async (id: string, role?: "admin") => client(server, (await member(server, id, role)).bearer);
  const [ada, ben, root] = [await signedIn("ada"), await signedIn("ben"), await signedIn("root", "admin")];
  await tried({ ada, ben, root, anonymous: client(server, {}), server });
});

test("every schema of the page is one that is tried", () => {
  const written = blocksOf(page).filter(({ language }) => language === "yaml");
  expect(written.map(({ heading }) => heading)).toEqual(Object.keys(recipes));
});

async function status(answer: Promise<Answer>): Promise<number> {
  return (await answer).status;
}

async function data(answer: Promise<Answer>): Promise<unknown> {
  return dataOf(await answer);
}

/** The row that was created. */
async function created(person: Client, table: string, row: object): Promise<Record<string, unknown>> {
  return dataOf(await person.post(`/api/${table}`, row));
}

/** The id of a new tenant, which its owner has joined. */
async function tenant(person: Client, id: string): Promise<unknown> {
  const opened = await created(person, "tenants", { name: id, created_by: id });
  await created(person, "tenant_members", { tenant_id: opened.id, user_id: id });
  return opened.id;
}
