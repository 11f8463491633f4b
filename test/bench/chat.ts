import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { Statement } from "../../src/platform/database.js";
import { svc } from "../support/project-directory.js";
import { builtCommand } from "../support/spawned-server.js";

export const rows = 100_000;
export const rooms = 100;
export const usersPerRoom = 20;

export const person = { email: "ada@example.com", password: "correct horse" };

const schema = `
rooms:
  columns: { id: { type: integer, primary_key: true }, name: { type: text, not_null: true } }
members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer, not_null: true, references: { table: rooms, on_delete: cascade } }
    user_id: { type: text, not_null: true }
messages:
  columns:
    id:         { type: integer, primary_key: true }
    room_id:    { type: integer, not_null: true, references: { table: rooms, on_delete: cascade } }
    author_id:  { type: text, not_null: true }
    body:       { type: text, not_null: true }
    created_at: { type: integer, not_null: true, default: { sql: "unixepoch()" } }
  indexes: [{ columns: [room_id] }]
drafts:
  columns:
    id:       { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true }
    body:     { type: text, not_null: true }
`;

// As on a server that is deployed.
process.env.SVC_JWT_SECRET ??= "a secret of the benchmark, of 32 bytes";

const config = (more: string) => `
${more}
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
create = "new.author_id = auth.id and exists(members m where m.room_id = new.room_id and m.user_id = auth.id)"
update = "row.author_id = auth.id"
delete = "row.author_id = auth.id"
[rules.drafts]
read = "row.owner_id = auth.id"
`;

/** From 0 on, so many, as `i` of the table `n`. */
export const numbers = (howMany: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${howMany - 1})`;

export interface Chat {
  readonly directory: string;
  /** Its database; a copy of it is a peer's. */
  readonly file: string;
  /** Of the person, who is a member of every room. */
  readonly userId: string;
}

/** A project with 100,000 messages in 100 rooms of twenty members each, and as many drafts. */
export async function makeChat(more = "", command = builtCommand): Promise<Chat> {
  const insert = (text: string, ...params: string[]) => ({ sql: text, params });
  const fill = (userId: string) => [
    insert(`${numbers(rooms)} INSERT INTO rooms SELECT i, 'room ' || i FROM n`),
    insert(`${numbers(rooms)} INSERT INTO members SELECT i, ? FROM n`, userId),
    insert(`${numbers(rooms * (usersPerRoom - 1))} INSERT INTO members SELECT i % ${rooms}, 'user ' || i FROM n`),
    insert(messagesText(rows), userId),
    insert(
      `${numbers(rows)} INSERT INTO drafts (owner_id, body) SELECT ?, 'this is draft number ' || i FROM n`,
      userId,
    ),
  ];
  return makeProject({ schema, config: config(more) }, fill, command);
}

/** A project in a directory of its own, with a user, and filled by statements that are made of the user's id. */
export async function makeProject(
  { schema, config }: { readonly schema: string; readonly config: string },
  fill: (userId: string) => readonly Statement[],
  command = builtCommand,
): Promise<Chat> {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  writeFileSync(join(directory, "svc.toml"), config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const run = (args: readonly string[], input = "") => svc(directory, args, input, command);
  run(["schema", "apply"]);
  run(["admin", "create-user", "--email", person.email, "--password-stdin"], person.password);
  const [user] = JSON.parse(run(["admin", "list-users", "--json"])) as readonly {
    readonly id: string;
  }[];
  const file = join(directory, ".svc/data.db");
  const database = openLibsql({ path: file, synchronous: "normal", commandLine: true });
  await database.batch(fill(user!.id));
  await database.close();
  return { directory, file, userId: user!.id };
}

/** The author's id is its parameter. */
const messagesText = (howMany: number) =>
  `${numbers(howMany)} INSERT INTO messages (room_id, author_id, body, created_at)
    SELECT i % ${rooms}, ?, 'this is message number ' || i || ' of the benchmark', 1700000000 + i FROM n`;

/** More messages in a database that a server is running on; the id of the first, which the others' follow. */
export async function addMessages(file: string, userId: string, howMany: number): Promise<number> {
  const database = openLibsql({ path: file, synchronous: "normal", commandLine: true });
  const [, last] = await database.batch([
    { sql: messagesText(howMany), params: [userId] },
    { sql: "SELECT max(id) FROM messages", params: [] },
  ]);
  await database.close();
  return Number(last!.rows[0]![0]) - howMany + 1;
}

/** The person's access token. */
export async function login(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(person),
  });
  const { data } = (await response.json()) as { data: { access_token: string } };
  return data.access_token;
}

/** A copy of the database alone. */
export function copyOf({ file }: Chat): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  mkdirSync(directory, { recursive: true });
  const copy = join(directory, "bare.db");
  cpSync(file, copy);
  return copy;
}
