import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Statement } from "../../src/platform/database.js";
import { type Answer, client, dataOf, metaOf } from "../support/client.js";
import { figure, median, timed } from "../support/figures.js";
import { member, run } from "../support/people.js";
import { serve, type TestServer } from "../support/server.js";
import { spawnServer } from "../support/spawned-server.js";
import { login, makeProject } from "./chat.js";
import { get } from "./contestant.js";
import { startMember } from "./pocketbase.js";
import { compare } from "./works.js";

/** How many rows of others lie beside the caller's thousand. */
const foreign = (process.env.ROWS ?? "10000,100000,1000000,5000000").split(",").map(Number);
const turns = Number(process.env.TURNS ?? 101);
const rounds = 5;
const ownRooms = 20;
const own = 1_000;

const schema = `
teams:
  columns: { id: { type: integer, primary_key: true } }
team_members:
  primary_key: [team_id, user_id]
  columns: { team_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
  indexes: [{ columns: [user_id, team_id] }]
rooms:
  columns: { id: { type: integer, primary_key: true }, team_id: { type: integer, not_null: true } }
  indexes: [{ columns: [team_id] }]
room_members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
  indexes: [{ columns: [user_id, room_id] }]
${["messages", "posts", "notes"]
  .map(
    (table) => `${table}:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    author_id: { type: text, not_null: true }
    created_at: { type: integer, not_null: true }
    body: { type: text, not_null: true }
  indexes: [{ columns: [room_id] }, { columns: [room_id, -created_at] }, { columns: [author_id] }]
`,
  )
  .join("")}`;

const config = `
[rules.messages]
read = "exists(room_members m where m.room_id = row.room_id and m.user_id = auth.id)"
[rules.posts]
read = "exists(rooms r where r.id = row.room_id and exists(team_members t where t.team_id = r.team_id and t.user_id = auth.id))"
[rules.notes]
read = "row.author_id = auth.id or exists(room_members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;

const requests = [
  ["default order", "/api/messages?total=none"],
  ["with total", "/api/messages"],
  ["sort=-created_at, with total", "/api/messages?sort=-created_at"],
  ["two hops, with total", "/api/posts"],
  ["owner or member, with total", "/api/notes"],
] as const;

const numbers = (from: number, to: number) =>
  `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;

/** Ada is a member of 20 rooms with a thousand rows. Others have as many rows as asked for, fifty in each of their rooms. */
async function chat(rows: number): Promise<{ readonly server: TestServer; readonly ada: Record<string, string> }> {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const server = await serve({ schema, config, path: join(directory, "data.db"), isMeasured: true });
  const ada = await member(server, "ada");
  await server.database.batch(filling(rows, ada.id));
  return { server, ada: ada.bearer };
}

const roomsInAll = (rows: number) => ownRooms + Math.ceil(rows / 50);

/** A SELECT of the number `i` and the `room` of each message. Every so many are hers, so that they are spread over the table. */
function messageRooms(rows: number): string {
  const every = Math.floor((rows + own) / own);
  const foreignRoom = `${ownRooms + 1} + i % ${roomsInAll(rows) - ownRooms}`;
  return `${numbers(0, rows + own - 1)}
    SELECT i, iif(i % ${every} = 0 AND i / ${every} < ${own}, 1 + i / ${every} % ${ownRooms}, ${foreignRoom}) AS room FROM n`;
}

function filling(rows: number, user: string): readonly Statement[] {
  const every = Math.floor((rows + own) / own);
  const messages = messageRooms(rows);
  return [
    `${numbers(1, roomsInAll(rows))} INSERT INTO rooms (id, team_id) SELECT i, iif(i <= ${ownRooms}, i % 2, i) FROM n`,
    `INSERT INTO team_members (team_id, user_id) VALUES (0, '${user}'), (1, '${user}')`,
    `INSERT INTO room_members (room_id, user_id) SELECT id, iif(id <= ${ownRooms}, '${user}', 'user ' || id % 1000) FROM rooms`,
    ...["messages", "posts", "notes"].map(
      (table) =>
        `INSERT INTO ${table} (id, room_id, author_id, created_at, body)
          SELECT i + 1, room, iif(i % ${every * 50} = 0, '${user}', 'user ' || i % 1000), i * 7919 % 1000003, 'body ' || i FROM (${messages})`,
    ),
  ].map((sql) => ({ sql, params: [] }));
}

interface Asked {
  readonly rows: number;
  readonly get: () => Promise<Answer>;
  /** In milliseconds, of each round. */
  readonly medians: number[];
  read: number | null;
}

/** Asks each by turns, and prints the medians of several rounds with their ratios to the first. */
async function measure(name: string, asked: readonly Asked[], turns: number): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    const times = asked.map((): number[] => []);
    for (let turn = 0; turn < turns; turn++)
      for (const [i, each] of asked.entries()) {
        let answer = await each.get();
        const time = await timed(async () => {
          answer = await each.get();
        });
        expect(dataOf<unknown[]>(answer)).toHaveLength(50);
        each.read = metaOf(answer).rows_read ?? null;
        times[i]!.push(time);
      }
    // In the first round the code is compiled.
    if (round > 0) for (const [i, each] of asked.entries()) each.medians.push(median(times[i]!));
  }
  for (const { rows, read, medians } of asked) {
    const ratios = medians.map((time, round) => time / asked[0]!.medians[round]!);
    const [least, most] = [Math.min(...ratios).toFixed(2), Math.max(...ratios).toFixed(2)];
    figure(
      "ways",
      `${name}, ${rows} rows of other users`,
      `${median(medians).toFixed(3)} ms`,
      `${median(ratios).toFixed(2)} x (${least} to ${most})`,
      `rows_read ${read}`,
    );
  }
}

test("a member's lists cost what the own rows cost", async () => {
  const chats = [];
  for (const rows of foreign) chats.push({ rows, ...(await chat(rows)) });
  for (const [name, path] of [...requests, ["page two, by cursor", ""] as const]) {
    const asked: Asked[] = [];
    for (const { rows, server, ada } of chats) {
      const as = client(server, ada);
      const first = path === "" ? metaOf(await as.get("/api/messages")).next_cursor : null;
      const target = first === null ? path : `/api/messages?cursor=${first}`;
      asked.push({ rows, get: () => as.get(target), medians: [], read: 0 });
    }
    await measure(name, asked, turns);
  }
}, 3_600_000);

const inAllRooms = `
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
  indexes: [{ columns: [user_id] }]
seats:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
${["messages", "letters"]
  .map(
    (table) => `${table}:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    body: { type: text, not_null: true }
  indexes: [{ columns: [room_id] }]
`,
  )
  .join("")}`;

const searched = `
room_members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
  indexes: [{ columns: [user_id] }]
papers:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true }
    title: { type: text, not_null: true }
    body: { type: text, not_null: true }
  search: [title, body]
  indexes: [{ columns: [room_id] }]
`;

test("a member's search costs little more, whatever others have", async () => {
  const asked: Asked[] = [];
  for (const rows of foreign.filter((rows) => rows <= 1_000_000)) {
    const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const rule = "exists(room_members m where m.room_id = row.room_id and m.user_id = auth.id)";
    const server = await serve({
      schema: searched,
      config: `[rules.papers]\nread = "${rule}"\n`,
      path: join(directory, "data.db"),
      isMeasured: true,
    });
    const ada = await member(server, "ada");
    await run(server, `${numbers(1, ownRooms)} INSERT INTO room_members SELECT i, 'ada' FROM n`);
    await run(
      server,
      `INSERT INTO papers SELECT i + 1, room, 'Paper ' || i, 'common words of number ' || i FROM (${messageRooms(rows)})`,
    );
    const as = client(server, ada.bearer);
    asked.push({ rows, get: () => as.get("/api/papers?search=words+num"), medians: [], read: 0 });
  }
  await measure("a search that all rows match", asked, Math.ceil(turns / 10));
}, 3_600_000);

const pocketbase = process.env.POCKETBASE;

test.skipIf(pocketbase === undefined)(
  "beside PocketBase",
  async () => {
    for (const rows of foreign.filter((rows) => rows <= 1_000_000)) {
      const project = await makeProject({ schema, config }, (userId) => filling(rows, userId));
      const server = await spawnServer(project.directory, "ignore");
      const peer = await startMember(pocketbase!, {
        all: `${numbers(1, roomsInAll(rows))} SELECT i AS room FROM n`,
        own: `${numbers(1, ownRooms)} SELECT i AS room FROM n`,
        messages: `SELECT i + 1 AS id, room FROM (${messageRooms(rows)})`,
      });
      const asked = (path: string) => ({ requests: { all: get(() => path) }, prepare: async () => {} });
      const contestants = [
        {
          url: server.url,
          headers: { Authorization: `Bearer ${await login(server.url)}` },
          ...asked("/api/messages?total=none"),
        },
        { ...peer, ...asked(peer.list) },
      ];
      try {
        const [mine, its] = await compare(contestants, "all");
        figure(
          "ways",
          `50 of a member's 1000 rows, ${rows} rows of other users`,
          `${mine!.rate.toFixed(0)} /s`,
          `${mine!.ratio.toFixed(1)} x`,
          `${its!.rate.toFixed(0)} /s for PocketBase`,
        );
      } finally {
        await server.end("SIGTERM");
        await peer.end();
        rmSync(project.directory, { recursive: true, force: true });
      }
    }
  },
  3_600_000,
);

test("a member of every room waits no longer than without ways", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const rules = [
    ["messages", "members"],
    ["letters", "seats"],
  ].map(([table, of]) => {
    const rule = `exists(${of} m where m.room_id = row.room_id and m.user_id = auth.id)`;
    return `[rules.${table}]\nread = "${rule}"\n`;
  });
  const server = await serve({
    schema: inAllRooms,
    config: rules.join(""),
    path: join(directory, "data.db"),
    isMeasured: true,
  });
  const { bearer } = await member(server, "ada");
  const as = client(server, bearer);
  for (const table of ["members", "seats"])
    await run(server, `${numbers(1, 100)} INSERT INTO ${table} (room_id, user_id) SELECT i, 'ada' FROM n`);
  for (const table of ["messages", "letters"])
    await run(
      server,
      `${numbers(1, 99_900)} INSERT INTO ${table} (id, room_id, body) SELECT i, 1 + i % 100, 'body ' || i FROM n`,
    );
  for (const [name, parameters] of [
    ["with total", ""],
    ["without total", "?total=none"],
  ] as const) {
    const times: Record<string, number[]> = { messages: [], letters: [] };
    for (let turn = 0; turn < turns; turn++)
      for (const [table, taken] of Object.entries(times)) {
        const time = await timed(() => as.get(`/api/${table}${parameters}`));
        if (turn > 0) taken.push(time);
      }
    const [ways, search] = [median(times.messages!), median(times.letters!)];
    figure(
      "ways",
      `50 of 99900 rows, for a member of all 100 rooms, ${name}`,
      `${ways.toFixed(3)} ms`,
      `${(ways / search).toFixed(2)} x`,
      `${search.toFixed(3)} ms without ways`,
    );
  }
}, 600_000);
