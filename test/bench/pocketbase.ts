import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { Statement } from "../../src/platform/database.js";
import { freePort } from "../support/free-port.js";
import { numbers, person, rooms, rows, usersPerRoom } from "./chat.js";
import { anyId, anyRoom, type Contestant, changedMessage, get, newMessage, removals, send } from "./contestant.js";

const superuser = { email: "root@example.com", password: "a password of the benchmark" };

/** Fifteen characters, as PocketBase wants them; in the order of the numbers, which its indexes find the easiest. */
const idOf = (i: number) => String(i).padStart(15, "0");
const sqlId = (i: string) => `printf('%015d', ${i})`;

// Through the relations, as its documentation does it. With `@collection.members` a room's page is about as fast, and the
// page of all is ten times slower; so is this one where there is a second index, by user, to be chosen wrongly.
const isMember = "room_id.members_via_room_id.user_id ?= @request.auth.id";
const isAuthor = "author_id = @request.auth.id";

const text = (name: string) => ({ name, type: "text", required: true });

/** The tables of chat.ts: what refers to another table there is a relation here, what does not is text. */
function collections(roomsId: string) {
  const room = {
    name: "room_id",
    type: "relation",
    collectionId: roomsId,
    required: true,
    cascadeDelete: true,
  };
  return [
    {
      name: "members",
      type: "base",
      fields: [room, text("user_id")],
      // It has no rules, so that only superusers see it; the rules of the messages read it all the same.
      indexes: ["CREATE UNIQUE INDEX members_key ON members (room_id, user_id)"],
    },
    {
      name: "messages",
      type: "base",
      fields: [room, text("author_id"), text("body"), { name: "created_at", type: "autodate", onCreate: true }],
      // The id as well, by which the list is sorted as that of svc is.
      indexes: ["CREATE INDEX messages_room ON messages (room_id, id)"],
      listRule: isMember,
      viewRule: isMember,
      createRule: `${isAuthor} && ${isMember}`,
      updateRule: isAuthor,
      deleteRule: isAuthor,
    },
    {
      name: "drafts",
      type: "base",
      fields: [text("owner_id"), text("body")],
      viewRule: "owner_id = @request.auth.id",
    },
  ];
}

/** PocketBase with its defaults on a fresh directory, filled by a function, and its user signed in. */
async function started(binary: string, fillFile: (file: string, userId: string) => Promise<void>) {
  const directory = mkdtempSync(join(tmpdir(), "pocketbase-bench-"));
  const data = join(directory, "pb_data");
  const run = (...args: string[]) => execFileSync(binary, [...args, "--dir", data], { encoding: "utf8" });
  run("superuser", "upsert", superuser.email, superuser.password);
  const empty = await serve(binary, data);
  const userId = await makeCollections(empty.url);
  await empty.end();
  await fillFile(join(data, "data.db"), userId);
  const { url, pid, end } = await serve(binary, data);
  const { token } = await signIn(url, "users", person);
  return {
    url,
    headers: { Authorization: token },
    pid,
    file: join(data, "data.db"),
    userId,
    end: async () => {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const records = (table: string) => `/api/collections/${table}/records`;

/** PocketBase, filled with the same as chat.ts. */
export async function startPocketbase(binary: string): Promise<Contestant> {
  const { url, headers, file, userId, end } = await started(binary, fill);
  const list = (filter: string) => `${records("messages")}?perPage=50&sort=id${filter}`;
  const message = (id: number) => `${records("messages")}/${idOf(id)}`;
  let made = rows;
  const removal = removals(message, async (howMany) => {
    const first = made + 1;
    await insertAll(file, [messagesFrom(first, howMany, userId)]);
    made += howMany;
    return first;
  });
  return {
    url,
    headers,
    requests: {
      point: get(() => `${records("drafts")}/${idOf(anyId())}`),
      room: get(() => list(`&filter=${encodeURIComponent(`room_id='${idOf(anyRoom())}'`)}`)),
      all: get(() => list("")),
      create: send("POST", () => records("messages"), { ...newMessage(userId), room_id: idOf(7) }),
      update: send("PATCH", () => message(anyId()), changedMessage),
      delete: removal.requests,
    },
    prepare: removal.prepare,
    end,
  };
}

/**
 * PocketBase with messages, of which its user may list those of the own rooms. `all` and `own` are SELECTs of
 * the number of each `room`, and of each that the user is a member of; `messages` of the `id` and the `room` of each
 * message.
 */
export async function startMember(
  binary: string,
  { all, own, messages }: { readonly all: string; readonly own: string; readonly messages: string },
): Promise<Pick<Contestant, "url" | "headers" | "end"> & { readonly list: string }> {
  const { url, headers, end } = await started(binary, (file, userId) =>
    insertAll(file, [
      { sql: `INSERT INTO rooms (id, name) SELECT ${sqlId("room")}, 'room' FROM (${all})`, params: [] },
      {
        sql: `INSERT INTO members (room_id, user_id) SELECT ${sqlId("room")}, ? FROM (${own})`,
        params: [userId],
      },
      {
        sql: `INSERT INTO messages (id, room_id, author_id, body, created_at)
          SELECT ${sqlId("id")}, ${sqlId("room")}, 'somebody', 'body ' || id, '2026-01-01 00:00:00.000Z' FROM (${messages})`,
        params: [],
      },
      { sql: "ANALYZE", params: [] },
    ]),
  );
  return { url, headers, end, list: `${records("messages")}?perPage=50&sort=id&skipTotal=1` };
}

/**
 * PocketBase with a room whose messages its user may list and create, for those who subscribe to them: `userHeaders` and
 * `superuserHeaders` are theirs. `pid` is its process.
 */
export async function startRealtime(binary: string) {
  const { url, headers, userId, pid, end } = await started(binary, (file, userId) =>
    insertAll(file, [
      { sql: `INSERT INTO rooms (id, name) VALUES (${sqlId("1")}, 'room')`, params: [] },
      { sql: `INSERT INTO members (room_id, user_id) VALUES (${sqlId("1")}, ?)`, params: [userId] },
    ]),
  );
  const { token } = await signIn(url, "_superusers", superuser);
  return {
    url,
    pid,
    end,
    userHeaders: headers,
    superuserHeaders: { Authorization: token },
    path: records("messages"),
    message: (body: string) => ({ room_id: idOf(1), author_id: userId, body }),
  };
}

/** PocketBase with a room whose messages its user may create, so many in one batch, which `batch` asks for. */
export async function startBatch(binary: string, howMany: number) {
  const { url, headers, userId, end } = await started(binary, (file, userId) =>
    insertAll(file, [
      { sql: `INSERT INTO rooms (id, name) VALUES (${sqlId("7")}, 'room')`, params: [] },
      { sql: `INSERT INTO members (room_id, user_id) VALUES (${sqlId("7")}, ?)`, params: [userId] },
    ]),
  );
  const { token } = await signIn(url, "_superusers", superuser);
  // Off by default, and of at most 50 requests and three seconds.
  const settings = { batch: { enabled: true, maxRequests: howMany, timeout: 60, maxBodySize: 0 } };
  await ask("PATCH", `${url}/api/settings`, settings, token);
  const body = { ...newMessage(userId), room_id: idOf(7) };
  const create = { method: "POST", url: records("messages"), body };
  const requests = Array.from({ length: howMany }, () => create);
  return { url, headers, end, batch: send("POST", () => "/api/batch", { requests }) };
}

async function serve(binary: string, data: string) {
  const http = `127.0.0.1:${await freePort("127.0.0.1")}`;
  const server = spawn(binary, ["serve", "--http", http, "--dir", data], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(server, "exit");
  const end = () => {
    server.kill("SIGTERM");
    return exited;
  };
  for await (const line of createInterface(server.stdout))
    if (line.includes("Server started")) {
      server.stdout.resume();
      return { url: `http://${http}`, pid: server.pid!, end };
    }
  throw new Error("PocketBase did not start");
}

const post = <T>(url: string, body: object, token?: string) => ask<T>("POST", url, body, token);

async function ask<T>(method: "POST" | "PATCH", url: string, body: object, token = ""): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { "Content-Type": "application/json", Authorization: token },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const signIn = (url: string, table: string, { email, password }: typeof person) =>
  post<{ token: string; record: { id: string } }>(`${url}/api/collections/${table}/auth-with-password`, {
    identity: email,
    password,
  });

/** The tables and the user, whose id it is. */
async function makeCollections(url: string): Promise<string> {
  const { token } = await signIn(url, "_superusers", superuser);
  const make = (collection: object) => post<{ id: string }>(`${url}/api/collections`, collection, token);
  const { id } = await make({ name: "rooms", type: "base", fields: [text("name")] });
  for (const collection of collections(id)) await make(collection);
  const user = { ...person, passwordConfirm: person.password };
  return (await post<{ id: string }>(`${url}/api/collections/users/records`, user, token)).id;
}

/** Straight into the file of a PocketBase that is stopped: 200,000 requests would take minutes. */
async function fill(file: string, userId: string): Promise<void> {
  await insertAll(file, [
    insert("rooms (id, name)", rooms, `${sqlId("i")}, 'room ' || i`),
    insert("members (room_id, user_id)", rooms, `${roomOf}, ?`, userId),
    insert("members (room_id, user_id)", rooms * (usersPerRoom - 1), `${roomOf}, 'user ' || i`),
    messagesFrom(1, rows, userId),
    insert("drafts (id, owner_id, body)", rows, `${sqlId("i + 1")}, ?, 'this is draft number ' || i`, userId),
    // PocketBase has statistics as well: `PRAGMA optimize` is in its upkeep of every night.
    { sql: "ANALYZE", params: [] },
  ]);
}

const roomOf = sqlId(`i % ${rooms}`);

function insert(table: string, to: number, select: string, ...params: string[]) {
  return { sql: `${numbers(to)} INSERT INTO ${table} SELECT ${select} FROM n`, params };
}

function messagesFrom(first: number, howMany: number, userId: string) {
  const createdAt = "strftime('%Y-%m-%d %H:%M:%fZ', 1700000000 + i, 'unixepoch')";
  return insert(
    "messages (id, room_id, author_id, body, created_at)",
    howMany,
    `${sqlId(`i + ${first}`)}, ${roomOf}, ?, 'this is message number ' || i || ' of the benchmark', ${createdAt}`,
    userId,
  );
}

async function insertAll(file: string, statements: readonly Statement[]): Promise<void> {
  const database = openLibsql({ path: file, synchronous: "normal", commandLine: true });
  await database.batch(statements);
  await database.close();
}
