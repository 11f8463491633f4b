import { expect, it } from "vitest";
import { client } from "../../support/client.js";
import { member } from "../../support/people.js";
import { serve } from "../../support/server.js";

const schema = `
notes:
  columns: { id: { type: text, primary_key: true }, title: { type: text } }
`;
const rules = `
[rules.notes]
read = "public"
create = "auth.id is not null"
update = "row.title = auth.id"
delete = "deny"
`;

let made = 0;
/** A text that occurs nowhere else, and is not to occur in any line. */
const marker = () => `mark${(++made).toString().padStart(4, "0")}`;

/** Where a request can hold a text of its sender's: a marker in each place at once. */
function marked(path: string, body: Record<string, unknown> | null): readonly [string, RequestInit] {
  const headers = Object.fromEntries(
    ["User-Agent", "Referer", "X-Forwarded-For", "X-Request-Id", "Accept", "tracestate", "Test-Client-Address"].map(
      (name) => [name, marker()],
    ),
  );
  return [
    `${path}${path.includes("?") ? "&" : "?"}${marker()}=${marker()}&where[${marker()}]=${marker()}`,
    {
      headers: {
        ...headers,
        Cookie: `${marker()}=${marker()}; svc_refresh=${marker()}`,
        traceparent: `00-${marker()}-${marker()}-01`,
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    },
  ];
}

it.each([
  ["text", "debug"],
  ["json", "debug"],
])("a line in %s at the level %s has nothing that a request has sent", async (format, level) => {
  const server = await serve({ schema, config: `[log]\nformat = "${format}"\nlevel = "${level}"\n${rules}` });
  const { bearer } = await member(server, "ada");
  const { bearer: roots } = await member(server, "root", "admin");
  const email = () => `${marker()}@example.com`;
  const credentials: readonly Readonly<Record<string, string>>[] = [
    {},
    bearer,
    roots,
    { Authorization: `Bearer ${marker()}` },
    { Authorization: `Bearer svc_sk_${marker()}` },
    { "X-API-Key": marker() },
    { Origin: `https://${marker()}.example` },
  ];
  const texts = () => ({
    [marker()]: marker(),
    id: marker(),
    title: marker(),
    email: email(),
    password: marker(),
    current_password: marker(),
    token: marker(),
    refresh_token: marker(),
    code: marker(),
    code_verifier: marker().padEnd(43, "x"),
    provider: marker(),
    redirect_to: `https://${marker()}.example`,
    name: marker(),
    scopes: [marker()],
    role: marker(),
    users: [{ id: marker(), email: email(), password_hash: marker() }],
  });
  const paths = [
    () => "/api/notes",
    () => `/api/notes/${marker()}`,
    () => `/api/notes/_svc/key?id=${marker()}`,
    () => `/api/${marker()}`,
    () => `/api/${marker()}/${marker()}/key`,
    () => `/${marker()}/${marker()}`,
    ...["register", "login", "refresh", "logout", "password", "me"].map((name) => () => `/auth/${name}`),
    ...["email-verification/resend", "email-verification/confirm", "invitations/accept"].map(
      (name) => () => `/auth/${name}`,
    ),
    ...["password-reset/request", "password-reset/confirm", "users/import", "users/invite"].map(
      (name) => () => `/auth/${name}`,
    ),
    ...["oauth/authorize", "oauth/exchange"].map((name) => () => `/auth/${name}`),
    () => `/auth/oauth/callback/google?state=${marker()}&code=${marker()}`,
    () => `/auth/oauth/callback/${marker()}`,
    () => `/auth/pages/reset-password?token=${marker()}`,
    () => `/auth/pages/${marker()}`,
    () => "/admin/api/users",
    () => `/admin/api/users/${marker()}`,
    () => `/admin/api/users/${marker()}/revoke-sessions`,
    () => "/admin/api/service-keys",
    () => `/admin/api/service-keys/${marker()}`,
    () => `/admin/api/schema/apply?base=${marker()}`,
    () => "/metrics",
    () => "/openapi.json",
  ];
  let asked = 0;
  for (const path of paths)
    for (const method of ["GET", "POST", "PATCH", "DELETE", "OPTIONS"])
      for (const credential of credentials) {
        const [target, init] = marked(path(), method === "POST" || method === "PATCH" ? texts() : null);
        await client(server, credential).send(method, target, init);
        asked++;
      }
  // Bodies that are well-formed, so that what they name is looked for, made and refused.
  const ada = client(server, bearer);
  const root = client(server, roots);
  const id = marker();
  await ada.post("/api/notes", { id, title: marker() });
  await ada.post("/api/notes", { id, title: marker() });
  await ada.get(`/api/notes/${id}`);
  await ada.patch(`/api/notes/${id}`, { title: marker() });
  await ada.get(`/api/notes?where[title]=${marker()}&filter[id][gt]=${marker()}&sort=title&cursor=${marker()}`);
  await ada.post("/auth/register", { email: email(), password: marker() });
  await ada.post("/auth/login", { email: email(), password: marker() });
  await ada.post("/auth/password-reset/confirm", { token: marker(), password: marker() });
  await root.post("/admin/api/users", { email: email(), password: marker() });
  await root.post("/admin/api/service-keys", { name: marker(), scopes: ["project:backend"] });
  await root.delete(`/admin/api/users/${marker()}`);
  await server.settled();
  const { requests, lines } = server.log;
  expect(requests).toHaveLength(asked + 11);
  expect([...requests, ...lines].filter((line) => line.includes("mark"))).toEqual([]);
});
