import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
people:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    salary: { type: integer, default: 1 }
    badge: { type: text }
`,
  config: `
usage.enabled = false
[rules.people]
read = "public"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.people.columns.salary]
read = "auth.role = 'admin'"
write = "auth.role = 'admin'"
[rules.people.columns.badge]
write = "auth.id = 'ada'"
`,
};

async function office() {
  const server = await serve(project);
  await run(server, "INSERT INTO people VALUES (1, 'Ada', 100, 'a'), (2, 'Bob', 50, 'b')");
  return {
    server,
    ada: client(server, (await member(server, "ada")).bearer),
    root: client(server, (await member(server, "root", "admin")).bearer),
    people: () => rowsOf(server, "SELECT * FROM people ORDER BY id"),
  };
}

const before = [
  [1, "Ada", 100, "a"],
  [2, "Bob", 50, "b"],
];

describe("a column that the caller may not read", () => {
  it("is not named by a constraint that it breaks", async () => {
    const schema = project.schema.replace("default: 1", "not_null: true");
    const server = await serve({ ...project, schema });
    const ada = client(server, (await member(server, "ada")).bearer);
    const answer = await ada.post("/api/people", { name: "Eve" });
    expectRefusal(answer, 400, "bad_request");
    expect(answer.text).not.toContain("salary");
  });

  it("is absent from every row", async () => {
    const { ada, root } = await office();
    expectAnswer(await ada.get("/api/people/1"), 200, { data: { id: 1, name: "Ada", badge: "a" } });
    expectAnswer(await ada.get("/api/people?limit=1&sort=-id"), 200, {
      data: [{ id: 2, name: "Bob", badge: "b" }],
      meta: { limit: 1, offset: 0, total: 2, next_cursor: expect.any(String) },
    });
    expectAnswer(await ada.post("/api/people", { name: "Cy" }), 201, {
      data: { id: 3, name: "Cy", badge: null },
    });
    expectAnswer(await ada.patch("/api/people/1", { name: "A" }), 200, {
      data: { id: 1, name: "A", badge: "a" },
    });
    expectAnswer(await root.get("/api/people/1"), 200, {
      data: { id: 1, name: "A", salary: 100, badge: "a" },
    });
  });

  it.each([
    "where[salary]=100",
    "where[salary]=text",
    "filter[salary][eq]=100",
    "filter[salary][ne]=1",
    "filter[salary][lt]=1",
    "filter[salary][lte]=1",
    "filter[salary][gt]=1",
    "filter[salary][gte]=1",
    "filter[salary][in]=1,2",
    "filter[salary][is_null]=false",
    "filter[salary][contains]=1",
    "filter[salary][starts_with]=1",
    "filter[salary][nope]=1",
    "select=salary",
    "select=name,salary",
    "sort=salary",
    "sort=name,-salary",
    "where[name]=Ada&sort=salary",
  ])("is unknown in %s, word for word", async (query) => {
    const { ada, root } = await office();
    const hidden = await ada.get(`/api/people?${query}`);
    expectRefusal(hidden, 400, "bad_request");
    for (const unknown of ["xalary", "zalary"]) {
      const answer = await ada.get(`/api/people?${query.replaceAll("salary", unknown)}`);
      expectRefusal(answer, 400, "bad_request");
      expect(answer.text).toBe(hidden.text.replaceAll("salary", unknown));
    }
    expectRefusal(await client((await office()).server).get(`/api/people?${query}`), 400, "bad_request");
    if (!/text|nope|contains|starts_with/.test(query))
      expect((await root.get(`/api/people?${query}`)).status).toBe(200);
  });

  it("stays hidden in a cursor of a caller who could read it before", async () => {
    const { server, root } = await office();
    const first = await root.get("/api/people?limit=1&sort=salary");
    const { meta } = first.body as { meta: { next_cursor: string } };
    await run(server, "UPDATE _users SET role = 'user' WHERE id = 'root'");
    expectRefusal(await root.get(`/api/people?cursor=${meta.next_cursor}`), 401, "unauthorized");
  });
});

describe("a column that the caller may not write", () => {
  it("is 403 in a POST and a PATCH, and nothing is written", async () => {
    const { ada, root, people } = await office();
    expectRefusal(await ada.post("/api/people", { name: "x", salary: 9 }), 403, "forbidden", ["salary"]);
    expectRefusal(await ada.patch("/api/people/1", { salary: 9 }), 403, "forbidden", ["salary"]);
    expectRefusal(await ada.patch("/api/people/1", { name: "x", salary: 9 }), 403, "forbidden", ["salary"]);
    expectRefusal(await root.patch("/api/people/1", { badge: "x" }), 403, "forbidden", ["badge"]);
    expect(await people()).toEqual(before);
    expectAnswer(await ada.patch("/api/people/1", { badge: "new" }), 200, {
      data: { id: 1, name: "Ada", badge: "new" },
    });
    expectAnswer(await root.patch("/api/people/1", { salary: 9 }), 200, {
      data: { id: 1, name: "Ada", salary: 9, badge: "new" },
    });
  });

  it("still gets its default", async () => {
    const { server, ada } = await office();
    await ada.post("/api/people", { name: "Cy" });
    expect(await rowsOf(server, "SELECT salary FROM people WHERE id = 3")).toEqual([[1]]);
  });
});

it("an API key with the table's scopes bypasses the rules of columns", async () => {
  const { server } = await office();
  const key = client(server, await apiKey(server, "resource:people:read", "resource:people:write"));
  expectAnswer(await key.get("/api/people?where[salary]=50"), 200, {
    data: [{ id: 2, name: "Bob", salary: 50, badge: "b" }],
    meta: { limit: 50, offset: 0, total: 1 },
  });
  expectAnswer(await key.patch("/api/people/2", { salary: 51, badge: "c" }), 200, {
    data: { id: 2, name: "Bob", salary: 51, badge: "c" },
  });
});
