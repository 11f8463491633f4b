import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linkLifetimeSeconds } from "../../src/auth/links/links.js";
import { exchangeCodeLifetimeMs, stateLifetimeMs } from "../../src/auth/oauth/state.js";
import { parseConfig } from "../../src/project/parse-config.js";
import { client, dataOf } from "../support/client.js";
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
