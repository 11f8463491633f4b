import type { ErrorCode } from "../../src/http/refusal.js";
import { type Answer, type Client, client, dataOf, metaOf } from "./client.js";
import { member } from "./people.js";
import { apiKey, type TestServer } from "./server.js";

/** What every part of a server is asked for in its everyday life, in an order in which each request needs those before it. */

const page = "https://app.example.com";

export const config = `
[auth]
cookie_mode = true
[cors]
allowed_origins = ["${page}"]
[rules.notes]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
[rules.pairs]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`;

const schemaOf = (verification: boolean, moreColumns: string) => `
$auth: { email_verification: { required: ${verification} } }
notes:
  columns:
    id: { type: text, primary_key: true }
    n:  { type: integer, not_null: true }
${moreColumns}
pairs:
  primary_key: [a, b]
  columns:
    a:    { type: integer, not_null: true }
    b:    { type: integer, not_null: true }
    text: { type: text }
`;

export const schema = schemaOf(true, "");

/** Applied half-way. Addresses then need no confirmation. */
const nextSchema = schemaOf(false, "    body: { type: text }");

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** What callers know, from one request to the next. */
export interface World {
  readonly server: TestServer;
  readonly anyone: Client;
  readonly admin: Client;
  readonly backend: Client;
  tokens: Tokens;
  cursor: string;
  eveId: string;
  key: { readonly id: string; readonly key: string };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}`, Origin: page });

export async function newWorld(server: TestServer): Promise<World> {
  const admin = await member(server, "root", "admin");
  return {
    server,
    anyone: client(server, { Origin: page }),
    admin: client(server, bearer(admin.accessToken)),
    backend: client(server, { ...(await apiKey(server, "project:backend")), Origin: page }),
    tokens: { access_token: "", refresh_token: "" },
    cursor: "",
    eveId: "",
    key: { id: "", key: "" },
  };
}

/** A body of text is YAML. */
export type Asked = readonly [by: Client, method: string, path: string, body?: unknown];

type Refused = readonly [status: number, code: ErrorCode];

/** The status of a success, or a refusal. */
export type Usual = number | Refused;

export interface Asking {
  readonly ask: (world: World) => Asked;
  readonly usual: Usual;
  /** The answer to the same request again, where it was carried out and nobody was told; else it is the usual one. */
  readonly again?: Refused;
  /** Whom it mails. */
  readonly mails?: string;
  /** What the caller learns of a success. */
  readonly learn?: (world: World, answer: Answer) => void;
}

/** What the runtime does beside the requests. */
export interface Upkeep {
  readonly work: (server: TestServer) => Promise<void>;
}

const by = {
  user: ({ server, tokens }: World) => client(server, bearer(tokens.access_token)),
  key: ({ server, key }: World) => client(server, bearer(key.key)),
};

/** Of the last mail to an address. */
function linkToken({ server }: World, address: string): string {
  const { text } = server.mail.messages.findLast(({ to }) => to === address)!;
  return /[?&]token=([\w-]{43})/.exec(text)![1]!;
}

const ada = "ada@example.com";
const bob = "bob@example.com";
const dave = "dave@example.com";
const eve = "eve@example.com";
/** The address that Ada has for a while. */
const home = "home@example.org";
const first = "the first of the passwords";
const second = "the second of the passwords";
const third = "the third of the passwords";

const keepTokens = (world: World, answer: Answer): void => {
  world.tokens = dataOf<Tokens>(answer);
};

const login = (email: string, password: string): Asking => ({
  ask: ({ anyone }) => [anyone, "POST", "/auth/login", { email, password }],
  usual: 200,
  learn: keepTokens,
});

const register = (email: string) => ({
  ask: ({ anyone }: World): Asked => [anyone, "POST", "/auth/register", { email, password: first }],
});

const refresh: Asking = {
  ask: ({ anyone, tokens: { refresh_token } }) => [anyone, "POST", "/auth/refresh", { refresh_token }],
  usual: 200,
  learn: keepTokens,
};

const used: Refused = [400, "invalid_token"];
const unauthorized: Refused = [401, "unauthorized"];
const gone: Refused = [404, "not_found"];
const taken: Refused = [409, "conflict"];

const me: Asking = { ask: (world) => [by.user(world), "GET", "/auth/me"], usual: 200 };
const meNoMore: Asking = { ...me, usual: unauthorized };

/** What the last mail to an address offers, once. */
const byLink = (path: string, address: string, password?: string): Asking => ({
  ask: (world) => [world.anyone, "POST", path, { token: linkToken(world, address), password }],
  usual: 200,
  again: used,
});

/** By the user. */
const rows = (method: string, path: string, usual: Usual, body?: unknown): Asking => ({
  ask: (world) => [by.user(world), method, path, body],
  usual,
});
const create = (path: string, row: unknown): Asking => ({ ...rows("POST", path, 201, row), again: taken });
const remove = (path: string): Asking => ({ ...rows("DELETE", path, 200), again: gone });

const account: readonly Asking[] = [
  { ...register(ada), usual: 202, mails: ada },
  { ...login(ada, first), usual: [403, "email_not_verified"] },
  {
    ask: ({ anyone }) => [anyone, "POST", "/auth/email-verification/resend", { email: ada }],
    usual: 202,
    mails: ada,
  },
  byLink("/auth/email-verification/confirm", ada),
  { ...login(ada, "a wrong password"), usual: [401, "invalid_credentials"] },
  login(ada, first),
  me,
];

const tables: readonly Asking[] = [
  create("/api/notes", { id: "a", n: 1 }),
  create("/api/notes", { id: "b", n: 2 }),
  create("/api/notes", { id: "c", n: 3 }),
  rows("GET", "/api/notes?filter[n][gte]=2&sort=-n", 200),
  {
    ...rows("GET", "/api/notes?limit=2", 200),
    learn: (world, answer) => {
      world.cursor = metaOf(answer).next_cursor!;
    },
  },
  { ask: (world) => [by.user(world), "GET", `/api/notes?cursor=${world.cursor}`], usual: 200 },
  rows("GET", "/api/notes/b", 200),
  rows("PATCH", "/api/notes/b", 200, { n: 5 }),
  remove("/api/notes/c"),
  rows("GET", "/api/notes/c", gone),
  create("/api/pairs", { a: 1, b: 2 }),
  create("/api/pairs", { a: 1, b: 3 }),
  rows("PATCH", "/api/pairs/_svc/key?a=1&b=2", 200, { text: "x" }),
  remove("/api/pairs/_svc/key?a=1&b=3"),
];

const session: readonly Asking[] = [
  refresh,
  me,
  refresh,
  {
    ask: (world) => [by.user(world), "POST", "/auth/password", { current_password: first, password: second }],
    usual: 200,
    again: unauthorized,
  },
  meNoMore,
  login(ada, second),
  rows("GET", "/auth/sessions", 200),
  { ...rows("POST", "/auth/email", 202, { email: home, password: second }), mails: home },
  { ...byLink("/auth/email/confirm", home), mails: ada },
  meNoMore,
  refresh,
  { ...rows("POST", "/auth/email", 202, { email: ada, password: second }), mails: ada },
  { ...byLink("/auth/email/confirm", ada), mails: home },
  refresh,
  {
    ask: ({ anyone }) => [anyone, "POST", "/auth/password-reset/request", { email: ada }],
    usual: 202,
    mails: ada,
  },
  byLink("/auth/password-reset/confirm", ada, third),
  meNoMore,
];

/** By the administrator, of Eve. */
const ofEve = (method: string, path: string, body: unknown): Asking => ({
  ask: ({ admin, eveId }) => [admin, method, `/admin/api/users/${eveId}${path}`, body],
  usual: 200,
});

const people: readonly Asking[] = [
  {
    ask: ({ backend }) => [backend, "POST", "/auth/users/invite", { email: eve, role: "user" }],
    usual: 201,
    mails: eve,
  },
  byLink("/auth/invitations/accept", eve, first),
  {
    ...login(eve, first),
    learn: (world, answer) => {
      keepTokens(world, answer);
      world.eveId = dataOf<{ user: { id: string } }>(answer).user.id;
    },
  },
  {
    ask: ({ backend }) => [
      backend,
      "POST",
      "/auth/users/import",
      { users: [{ id: "carol", email: "carol@example.com" }] },
    ],
    usual: 200,
    again: taken,
  },
  {
    ask: ({ admin }) => [admin, "POST", "/admin/api/users", { email: dave, password: first }],
    usual: 201,
    again: taken,
  },
  { ask: ({ admin }) => [admin, "GET", "/admin/api/users?sort=email&limit=2"], usual: 200 },
  ofEve("PATCH", "", { disabled: true }),
  meNoMore,
  ofEve("PATCH", "", { disabled: false }),
  meNoMore,
  login(eve, first),
  ofEve("POST", "/revoke-sessions", {}),
  meNoMore,
  { ask: ({ admin }) => [admin, "DELETE", "/admin/api/users/carol"], usual: 200, again: gone },
];

const keys: readonly Asking[] = [
  {
    ask: ({ admin }) => [
      admin,
      "POST",
      "/admin/api/service-keys",
      { name: "notes", scopes: ["resource:notes:read", "resource:notes:write"] },
    ],
    usual: 201,
    learn: (world, answer) => {
      world.key = dataOf(answer);
    },
  },
  { ask: (world) => [by.key(world), "GET", "/api/notes"], usual: 200 },
  { ask: (world) => [by.key(world), "POST", "/api/notes", { id: "k", n: 7 }], usual: 201, again: taken },
  { ask: ({ admin }) => [admin, "GET", "/admin/api/service-keys?limit=1"], usual: 200 },
  {
    ask: ({ admin, key }) => [admin, "DELETE", `/admin/api/service-keys/${key.id}`],
    usual: 200,
    again: gone,
  },
  { ask: (world) => [by.key(world), "GET", "/api/notes"], usual: unauthorized },
  { ask: ({ admin }) => [admin, "GET", "/admin/api/usage"], usual: 200 },
];

const underTheNextSchema: readonly Asking[] = [
  { ask: ({ backend }) => [backend, "POST", "/admin/api/schema/apply", nextSchema], usual: 200 },
  { ...register(bob), usual: 201, again: taken },
  login(bob, first),
  rows("GET", "/api/notes", 200),
  rows("PATCH", "/api/notes/a", 200, { body: "of the next schema" }),
  {
    ask: ({ anyone, tokens: { refresh_token } }) => [anyone, "POST", "/auth/logout", { refresh_token }],
    usual: 200,
    again: [401, "invalid_refresh_token"],
  },
  meNoMore,
  login(bob, first),
  { ...rows("DELETE", "/auth/me", 200, { password: first }), again: unauthorized },
  meNoMore,
  login(ada, third),
];

const upkeep: readonly Upkeep[] = [
  { work: ({ upkeep }) => upkeep.resumeMail() },
  { work: ({ upkeep }) => upkeep.collectUsage() },
  {
    work: async ({ clock, upkeep }) => {
      clock.advance(7_200_000);
      await upkeep.purge();
    },
  },
];

export const steps: readonly (Asking | Upkeep)[] = [
  { ask: ({ anyone }) => [anyone, "GET", "/health"], usual: 200 },
  ...account,
  ...tables,
  ...session,
  ...people,
  ...keys,
  ...underTheNextSchema,
  ...upkeep,
];
