import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const project = {
  schema: `
things:
  columns:
    id: { type: integer, primary_key: true }
    label: { type: text }
words:
  columns:
    id: { type: text, primary_key: true }
`,
  config: "usage.enabled = false",
};

async function backend() {
  const server = await serve(project);
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/things", { id: 1, label: "one" });
  return { server, key };
}

describe("an integer key has one spelling", () => {
  it.each([
    "1.0",
    "%201",
    "1%20",
    "+1",
    "%2B1",
    "1e0",
    "01",
    "0x1",
    "1n",
    "1_",
    "1%00",
    "1%09",
    "1;",
    "１",
    "true",
    "null",
    "'1'",
    "9223372036854775808",
    "18446744073709551617",
    "-0",
    "%zz",
  ])("%s is not row 1, nor any other", async (id) => {
    const { server, key } = await backend();
    expectRefusal(await key.get(`/api/things/${id}`), 400, "bad_request");
    expectRefusal(await key.patch(`/api/things/${id}`, { label: "x" }), 400, "bad_request");
    expectRefusal(await key.delete(`/api/things/${id}`), 400, "bad_request");
    expect(await rowsOf(server, "SELECT * FROM things")).toEqual([[1, "one"]]);
  });

  it.each(["0", "-1", "2", "9223372036854775807", "-9223372036854775808"])(
    "%s is an integer, and no row",
    async (id) => {
      const { key } = await backend();
      expectRefusal(await key.get(`/api/things/${id}`), 404, "not_found");
    },
  );

  it("takes no parameters beside it", async () => {
    const { server, key } = await backend();
    expectRefusal(await key.get("/api/things/1?select=id"), 400, "bad_request");
    expectRefusal(await key.get("/api/things/1?_=1"), 400, "bad_request");
    expectRefusal(await key.patch("/api/things/1?x=1", { label: "x" }), 400, "bad_request");
    expectRefusal(await key.delete("/api/things/1?x=1"), 400, "bad_request");
    expectRefusal(await key.post("/api/things?x=1", { label: "x" }), 400, "bad_request");
    expect(await rowsOf(server, "SELECT * FROM things")).toEqual([[1, "one"]]);
  });

  it("keeps the 64-bit limits apart from their neighbours", async () => {
    const { server, key } = await backend();
    for (const id of ["9223372036854775807", "9223372036854775806", "-9223372036854775808"]) {
      await run(server, "INSERT INTO things VALUES (?, ?)", BigInt(id), id);
      expectAnswer(await key.get(`/api/things/${id}`), 200, { data: { id, label: id } });
    }
    expectAnswer(await key.delete("/api/things/9223372036854775806"), 200, {
      data: { id: "9223372036854775806" },
    });
    expectAnswer(await key.get("/api/things/9223372036854775807"), 200, {
      data: { id: "9223372036854775807", label: "9223372036854775807" },
    });
  });
});

describe("a text key is any text", () => {
  it.each(["a b", "a/b", "100%", "%2F", "+", "é", "😀", "'; DROP TABLE words; --", "_svc", "null", "a?b#c", "1.0"])(
    "%s comes back as it is",
    async (id) => {
      const { key } = await backend();
      const path = `/api/words/${encodeURIComponent(id)}`;
      expectAnswer(await key.post("/api/words", { id }), 201, { data: { id } });
      expectAnswer(await key.get(path), 200, { data: { id } });
      expectAnswer(await key.delete(path), 200, { data: { id } });
      expectRefusal(await key.get(path), 404, "not_found");
    },
  );
});
