import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { figure } from "../support/figures.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** How many refused requests of each kind are sent: what `npm run test:faults` sends is in package.json. */
const howMany = Number(process.env.REFUSED ?? 100);
vi.setConfig({ testTimeout: 36_000_000 });

const schema = `
notes:
  columns: { id: { type: integer, primary_key: true }, body: { type: text } }
closed:
  columns: { id: { type: integer, primary_key: true } }
`;
const config = `
auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes", throttle = { max_failures_per_address = 1, max_mails_per_address = 1, max_registrations_per_address = 1, window_secs = 86400 } }
[rules.notes]
read = "public"
[rules.closed]
read = "auth.role = 'admin'"
create = "auth.role = 'admin'"
`;
const ada = { email: "ada@example.com", password: "correct horse battery staple" };

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly init?: (i: number) => RequestInit;
  readonly status: number;
}

const sent = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

const kinds = (token: string): readonly Kind[] => {
  const headers = { Authorization: `Bearer ${token}` };
  const unknown = (i: number) => ({ email: `nobody${i}@example.com`, password: "wrong horse" });
  return [
    {
      name: "a sign-in past the limit, for a different unknown address each time",
      path: "/auth/login",
      init: (i) => sent(unknown(i)),
      status: 429,
    },
    {
      name: "a sign-in past the limit, for a known address",
      path: "/auth/login",
      init: () => sent(ada),
      status: 429,
    },
    {
      name: "a registration with a password that is too short",
      path: "/auth/register",
      init: (i) => sent({ ...unknown(i), password: "x" }),
      status: 400,
    },
    {
      name: "a registration past the limit, with a different address each time",
      path: "/auth/register",
      init: (i) => sent({ ...unknown(i), password: "correct horse" }),
      status: 429,
    },
    {
      name: "a password reset past the limit, for a different address each time",
      path: "/auth/password-reset/request",
      init: (i) => sent({ email: unknown(i).email }),
      status: 429,
    },
    {
      name: "a resent confirmation past the limit, for a different address each time",
      path: "/auth/email-verification/resend",
      init: (i) => sent({ email: unknown(i).email }),
      status: 429,
    },
    {
      name: "an invalid access token, a different one each time",
      path: "/api/notes",
      init: (i) => ({ headers: { Authorization: `Bearer ${token}${i}` } }),
      status: 401,
    },
    {
      name: "an unknown API key, a different one each time",
      path: "/api/notes",
      init: (i) => ({ headers: { Authorization: `Bearer svc_${String(i).padStart(43, "0")}` } }),
      status: 401,
    },
    {
      name: "a refresh with an unknown token, a different one each time",
      path: "/auth/refresh",
      init: (i) => sent({ refresh_token: `none${i}` }),
      status: 401,
    },
    {
      name: "a read that the rules deny for every row",
      path: "/api/closed",
      init: () => ({ headers }),
      status: 403,
    },
    {
      name: "a write that the rules deny for every row",
      path: "/api/closed",
      init: (i) => sent({ id: i }, headers),
      status: 403,
    },
    { name: "a table that does not exist", path: "/api/nothing", status: 404 },
    { name: "a path that does not exist", path: "/nothing", status: 404 },
    { name: "an invalid cursor, a different one each time", path: "/api/notes?cursor=", status: 400 },
    {
      name: "an invalid filter, a different one each time",
      path: "/api/notes?filter[body][none]=",
      status: 400,
    },
    { name: "a body that is not JSON", path: "/auth/login", init: (i) => sent(`{${i}`), status: 400 },
    {
      name: "a method that the path does not have",
      path: "/api/notes",
      init: () => ({ method: "PUT" }),
      status: 405,
    },
  ];
};

/** How many bytes are in a directory and its directories. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(directory, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) / 1024;
}

/** How many rows all tables of the database hold. */
async function rowsIn(file: string): Promise<number> {
  const database = openLibsql({ path: file, synchronous: "normal", commandLine: true });
  const query = async (sql: string) => (await database.query([{ sql, params: [] }]))[0]!.rows;
  const tables = await query("SELECT name FROM sqlite_schema WHERE type = 'table'");
  const counts = tables.map(([name]) => `(SELECT count(*) FROM "${name}")`);
  const [row] = await query(`SELECT ${counts.join(" + ")}`);
  await database.close();
  return Number(row![0]);
}

it(`${howMany} refused requests of each kind write no row, and take neither memory nor disk`, async () => {
  const directory = projectDirectory(schema);
  writeFileSync(join(directory, "svc.toml"), config);
  svc(directory, ["schema", "apply"]);
  svc(directory, ["admin", "create-user", "--email", ada.email, "--password-stdin"], ada.password);
  const server = await spawnServer(directory);
  const [file, pid] = [join(directory, ".svc/data.db"), server.process.pid!];
  const login = await fetch(`${server.url}/auth/login`, sent(ada));
  const { data } = (await login.json()) as { data: { access_token: string } };

  const ask = async ({ name, path, init, status }: Kind, i: number) => {
    const target = path.endsWith("=") ? `${path}${i}` : path;
    const response = await fetch(server.url + target, init?.(i));
    await response.arrayBuffer();
    expect(response.status, name).toBe(status);
  };
  // The first sign-in, and the first mail, is within its limit.
  const reset = await fetch(`${server.url}/auth/password-reset/request`, sent({ email: "nobody@example.com" }));
  expect(reset.status).toBe(202);
  await fetch(`${server.url}/auth/login`, sent({ email: "nobody@example.com", password: "wrong horse" }));
  for (const kind of kinds(data.access_token)) await ask(kind, 0);

  for (const kind of kinds(data.access_token)) {
    const before = { rows: await rowsIn(file), bytes: bytesIn(join(directory, ".svc")), mb: residentMb(pid) };
    const numbers = Array.from({ length: howMany }, (_, i) => i + 1).values();
    const fromMs = performance.now();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const i of numbers) await ask(kind, i);
      }),
    );
    const seconds = (performance.now() - fromMs) / 1000;
    const after = { rows: await rowsIn(file), bytes: bytesIn(join(directory, ".svc")), mb: residentMb(pid) };
    expect(after.rows, kind.name).toBe(before.rows);
    figure(
      "refused",
      kind.name,
      `${howMany} × ${kind.status}`,
      `${(howMany / seconds).toFixed(0)} a second`,
      `${after.rows - before.rows}`,
      `${after.bytes - before.bytes} bytes`,
      `${before.mb.toFixed(0)} to ${after.mb.toFixed(0)} MB`,
    );
  }
  expect(await server.end("SIGTERM")).toBe(0);
});
