import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linkLifetimeSeconds } from "../../src/auth/links/links.js";
import { exchangeCodeLifetimeMs, stateLifetimeMs } from "../../src/auth/oauth/state.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { client, dataOf } from "../support/client.js";
import { rowsOf, run } from "../support/people.js";
import { apiKey, post, serve } from "../support/server.js";
import { blocksOf } from "./pages.js";

const { auth, api } = parseConfig("").config!;
const textOf = (guide: string) => readFileSync(`docs/guides/${guide}.md`, "utf8").replaceAll(/\s+/g, " ");

test("lifetimes and limits that the guides name are the defaults", () => {
  expect(textOf("auth")).toContain(
    `An access token is valid for ${auth.access_token_ttl_secs / 60} minutes (\`auth.access_token_ttl_secs\`)`,
  );
  expect(auth.refresh_token_rotation_grace_secs).toBe(10);
  expect(textOf("auth")).toContain("within ten seconds (`auth.refresh_token_rotation_grace_secs`)");
  for (const row of [
    `| email verification | ${linkLifetimeSeconds.email_verification / 3600} hours |`,
    `| invitation | ${linkLifetimeSeconds.invitation / 86_400} days |`,
    `| password reset | ${linkLifetimeSeconds.password_reset / 3600} hour |`,
    `| change of the address | ${linkLifetimeSeconds.email_change / 3600} hour |`,
  ])
    expect(textOf("auth")).toContain(row);
  expect(textOf("tables")).toContain(`${api.scan_limit.toLocaleString("en")} by default`);
  expect(stateLifetimeMs).toBe(10 * 60_000);
  expect(textOf("sign-in-providers")).toContain("of the response within ten minutes");
  expect(textOf("sign-in-providers")).toContain(`within ${exchangeCodeLifetimeMs / 1000} seconds`);
});

test("a registration is answered as docs/guides/auth.md shows", async () => {
  const shown = JSON.parse(blocksOf("docs/guides/auth.md").find(({ language }) => language === "json")!.text);
  const server = await serve({ schema: "" }, "app");
  const answer = await post(server, "/auth/register", {
    email: "ada@example.com",
    password: "correct horse",
  });
  expect(answer.status).toBe(201);
  const some = expect.any(String);
  expect(shown.data).toMatchObject({ user: { id: "…" }, access_token: "…", refresh_token: "…" });
  expect(await answer.json()).toEqual({
    data: { ...shown.data, user: { ...shown.data.user, id: some }, access_token: some, refresh_token: some },
  });
});

test.each(["invite", "closed"])("with registration: %s people come in by invitation alone", async (how) => {
  const server = await serve({ schema: `$auth: { registration: ${how} }` }, "app");
  const credentials = { email: "ada@example.com", password: "correct horse" };
  expect((await post(server, "/auth/register", credentials)).status).toBe(403);
  const key = await apiKey(server, "project:backend");
  expect((await post(server, "/auth/users/invite", { email: "ben@example.com" }, key)).status).toBe(201);
});

test("the lists of docs/guides/tables.md are answered with what they ask for", async () => {
  const blocks = blocksOf("docs/guides/tables.md");
  const [schema] = blocks.filter(({ language }) => language === "yaml");
  const server = await serve({ schema: schema!.text }, "app");
  const key = client(server, await apiKey(server, "resource:messages:read"));
  const asked = blocks.flatMap(({ text }) => [...text.matchAll(/curl -g "\$API(.*?)"/g)]);
  expect(asked).toHaveLength(4);
  for (const [, path] of asked) expect(dataOf(await key.get(path!.replaceAll(/\$(ROOM|OTHER)/g, "a")))).toEqual([]);
});

test("the operation of docs/guides/tables.md moves all values, in batches", async () => {
  const [schema] = blocksOf("docs/guides/tables.md").filter(({ heading }) => heading === "Move data between tables");
  const server = await serve({ schema: schema!.text }, "app");
  const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)";
  await run(server, `${many} INSERT INTO customers SELECT i, 'c' || i, iif(i % 5, '+' || i, NULL) FROM n`);
  const key = client(server, await apiKey(server, "project:backend"));
  const remaining = [];
  for (let i = 0; i < 2; i++) remaining.push(dataOf(await key.post("/ops/move_phones", {})));
  expect(remaining).toEqual([{ remaining: 200 }, { remaining: 0 }]);
  expect(await rowsOf(server, "SELECT count(*), sum(number = '+' || customer_id) FROM phones")).toEqual([[1200, 1200]]);
  expect(await rowsOf(server, "SELECT count(*) FROM customers WHERE phone IS NOT NULL")).toEqual([[0]]);
  expect((await client(server).post("/ops/move_phones", {})).status).toBe(401);
});

test("an earlier schema renames back as docs/guides/tables.md shows, and drops nothing", async () => {
  const blocks = blocksOf("docs/guides/tables.md").filter(({ language }) => language === "yaml");
  const under = (title: string) => blocks.find(({ heading }) => heading === title)!.text;
  const now = under("Go back to an earlier schema")
    .replace("stock:", "in_stock:")
    .replace(/, renamed_from.*}/, " }");
  const server = await serve({ schema: now }, "app");
  const key = client(server, await apiKey(server, "project:backend"));
  const init = { headers: { "Content-Type": "application/yaml" } };
  const steps = async (body: string) => {
    const planned = await key.send("POST", "/admin/api/schema/plan", { ...init, body });
    return dataOf<{ steps: { kind: string; safe: boolean }[] }>(planned).steps.map(({ kind, safe }) => [kind, safe]);
  };
  const back = under("Go back to an earlier schema");
  expect(await steps(back)).toEqual([["rename_column", true]]);
  expect(await steps(back.replace(/, renamed_from.*}/, " }"))).toContainEqual(["drop_column", false]);
});
