import { describe, expect, it } from "vitest";
import { client, dataOf, type ListMeta, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
teams: { columns: { id: { type: integer, primary_key: true } } }
team_members:
  primary_key: [team, user]
  columns: { team: { type: integer, not_null: true }, user: { type: text, not_null: true }, level: { type: integer } }
  indexes: [{ columns: [user] }]
rooms:
  columns: { id: { type: integer, primary_key: true }, team: { type: integer } }
  indexes: [{ columns: [team] }]
members:
  primary_key: [room, user]
  columns: { room: { type: integer, not_null: true }, user: { type: text, not_null: true } }
  indexes: [{ columns: [user] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer }
    author: { type: text }
    at: { type: integer, not_null: true }
    likes: { type: integer }
  indexes: [{ columns: [room] }, { columns: [room, -at] }, { columns: [author] }]
posts:
  columns: { id: { type: text, primary_key: true }, room: { type: integer }, author: { type: text } }
  indexes: [{ columns: [room, id] }, { columns: [author, id] }]
`;

const membership = "exists(members m where m.room = row.room and m.user = auth.id)";
const twoHops =
  "exists(rooms r where r.id = row.room and exists(team_members t where t.team = r.team and t.user = auth.id))";

const config = (rule: string) => `
[api]
scan_limit = 50
[rules.messages]
read = ${JSON.stringify(rule)}
[rules.posts]
read = ${JSON.stringify(membership)}
`;

const numbers = (to: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;

/**
 * Rooms 1 to 20. Ada is a member of rooms 1 and 2, and of team 1, which has room 3. Of 400 messages, those whose number
 * is divisible by 40 are in room 1, 2 or 3; room 20 has none. Five have no room, of which ada wrote two.
 */
async function chat(rule: string) {
  const server = await serve({ schema, config: config(rule) });
  await run(server, `${numbers(20)} INSERT INTO rooms (id, team) SELECT i, iif(i = 3, 1, 2) FROM n`);
  await run(server, "INSERT INTO members (room, user) VALUES (1, 'ada'), (2, 'ada'), (20, 'ada'), (5, 'bob')");
  await run(server, "INSERT INTO team_members (team, user, level) VALUES (1, 'ada', 2), (2, 'bob', 1)");
  const columns = "SELECT i, iif(i % 40 = 0, 1 + i / 40 % 3, 4 + i % 16), iif(i % 100 = 0, 'ada', 'bob')";
  await run(
    server,
    `${numbers(400)} INSERT INTO messages (id, room, author, at, likes) ${columns}, 1000 - i % 7, i % 3 FROM n`,
  );
  await run(
    server,
    "INSERT INTO messages (id, room, author, at) VALUES (401, NULL, 'ada', 1), (402, NULL, 'ada', 2), (403, NULL, 'bob', 3)",
  );
  await run(
    server,
    `${numbers(400)} INSERT INTO posts (id, room, author) SELECT 'p' || (1000 + a), b, c FROM (${columns.replace("SELECT i,", "SELECT i AS a,").replace("16),", "16) AS b,").replace("'bob')", "'bob') AS c")} FROM n)`,
  );
  return { server, ada: client(server, (await member(server, "ada")).bearer) };
}

type Chat = Awaited<ReturnType<typeof chat>>;
const ids = (rows: readonly unknown[]) => rows.map((row) => (row as { id: unknown }).id);

async function listed({ ada }: Chat, path: string): Promise<{ ids: unknown[]; meta: ListMeta }> {
  const answer = await ada.get(path);
  return { ids: ids(dataOf<unknown[]>(answer)), meta: metaOf(answer) };
}

/** The page has these rows, and the list no others: nothing of it was cut off by what others have. */
async function expectWhole(chat: Chat, path: string, expected: readonly unknown[], rowsRead: number | null) {
  const { ids, meta } = await listed(chat, path);
  expect(ids).toEqual(expected);
  expect(meta).toMatchObject({ total: expected.length, rows_read: rowsRead, rows_returned: expected.length });
  expect([meta.truncated, meta.next_cursor]).toEqual([undefined, undefined]);
}

// By room: 40 → 2, 80 → 3, 120 → 1, 160 → 2, 200 → 3, 240 → 1, 280 → 2, 320 → 3, 360 → 1, 400 → 2.
const own = [40, 120, 160, 240, 280, 360, 400];

describe("a member's list", () => {
  it("is whole, whatever others have, in every order", async () => {
    const members = await chat(membership);
    // Three memberships; the seven rows for the total, and again for the page.
    await expectWhole(members, "/api/messages", own, 17);
    await expectWhole(members, "/api/messages?sort=-id", [...own].reverse(), 17);
    // at: 40 → 995, 120 → 999, 160 → 994, 240 → 998, 280 → 1000, 360 → 997, 400 → 999.
    await expectWhole(members, "/api/messages?sort=-at", [280, 120, 400, 240, 360, 40, 160], 17);
    await expectWhole(
      members,
      "/api/messages?sort=likes",
      [120, 240, 360, 40, 160, 280, 400].sort((a, b) => (a % 3) - (b % 3) || a - b),
      17,
    );
    await expectWhole(
      members,
      "/api/posts",
      own.map((id) => `p${1000 + id}`),
      17,
    );
  });

  it("comes page by page in one order, forwards from any of them", async () => {
    const members = await chat(membership);
    for (const sort of ["", "&sort=-at", "&sort=likes", "&sort=-room,id"]) {
      const whole = await listed(members, `/api/messages?limit=50${sort}`);
      const pages = await pagesOf(members.ada, `/api/messages?limit=2${sort}`);
      expect(ids(pages.flatMap(({ data }) => data))).toEqual(whole.ids);
      expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 2, 1]);
    }
    const { ids: later, meta } = await listed(members, "/api/messages?limit=2&offset=3&total=none");
    expect([later, meta.total]).toEqual([[240, 280], null]);
  });

  it("meets filters, those that an index has beside the way included", async () => {
    const members = await chat(membership);
    await expectWhole(members, "/api/messages?filter[likes][eq]=1", [40, 160, 280, 400], 17);
    await expectWhole(members, "/api/messages?filter[id][gt]=200&filter[id][lt]=300", [240, 280], 17);
    // One of its rooms: the request's own value comes first, and the rule asks once for the membership.
    await expectWhole(members, "/api/messages?where[room]=1", [120, 240, 360], 7);
    await expectWhole(members, "/api/messages?where[room]=4", [], 0);
    // The author's rows are more than the scan limit, those of the rooms are not: 50 and a membership for the total, again
    // for the page, and 51 to find the end; then 17 by the way.
    await expectWhole(members, "/api/messages?where[author]=bob", [40, 120, 160, 240, 280, 360], 170);
  });

  it("is empty and whole for whoever is a member of nothing, and of nothing but an empty room", async () => {
    const { server } = await chat(membership);
    const as = async (name: string) => ({ server, ada: client(server, (await member(server, name)).bearer) });
    await expectWhole(await as("eve"), "/api/messages", [], 0);
    await run(server, "INSERT INTO members (room, user) VALUES (20, 'zoe')");
    await expectWhole(await as("zoe"), "/api/messages?sort=-at", [], 1);
  });

  it("of more rows than the scan limit goes on as a list of all rows does", async () => {
    const members = await chat(membership);
    await run(members.server, `${numbers(60)} INSERT INTO messages (id, room, at) SELECT 1000 + i, 1, 5 FROM n`);
    const first = await listed(members, "/api/messages?limit=10");
    expect(first.meta.truncated).toBe(true);
    const pages = await pagesOf(members.ada, "/api/messages?limit=10");
    expect(ids(pages.flatMap(({ data }) => data))).toEqual([...own, ...Array.from({ length: 60 }, (_, i) => 1001 + i)]);
  });
});

describe("other ways", () => {
  it("lead over two tables", async () => {
    const teams = await chat(twoHops);
    // The membership and the room; three rows, twice.
    await expectWhole(teams, "/api/messages", [80, 200, 320], 8);
    await expectWhole(
      teams,
      "/api/messages?sort=-at",
      [200, 320, 80].sort((a, b) => (a % 7) - (b % 7) || a - b),
      8,
    );
  });

  it("lead to a row once, if several lead to it", async () => {
    const both = await chat(`row.author = auth.id or ${membership} or ${twoHops}`);
    // Hers are 100, 200, 300, 400 and two without a room.
    const all = [40, 80, 100, 120, 160, 200, 240, 280, 300, 320, 360, 400, 401, 402];
    // Five rows on the way: three memberships, a team's and its room. 6 + 7 + 3 candidates, twice.
    await expectWhole(both, "/api/messages", all, 37);
    expect((await listed(both, "/api/messages?sort=-id&limit=3")).ids).toEqual([402, 401, 400]);
    const pages = await pagesOf(both.ada, "/api/messages?limit=3&sort=-at");
    expect(ids(pages.flatMap(({ data }) => data)).sort()).toEqual([...all].sort());
  });

  it("are tested where the rule asks for more than they say", async () => {
    const tested = await chat(
      `${membership} and row.likes = 1 and not exists(team_members t where t.team = row.room and t.user = auth.id)`,
    );
    expect((await listed(tested, "/api/messages")).ids).toEqual([40, 160, 280, 400]);
    const leveled = await chat(
      "exists(rooms r where r.id = row.room and exists(team_members t where t.team = r.team and t.user = auth.id and t.level > 2))",
    );
    // The membership is found and does not do: no room is looked for.
    await expectWhole(leveled, "/api/messages", [], 1);
  });

  it.each([
    [
      "exists(rooms r where r.id = row.room and (exists(members m where m.room = r.id and m.user = auth.id) or exists(team_members t where t.team = r.team and t.user = auth.id)))",
      "exists(rooms r where r.id = row.room and exists(members m where m.room = r.id and m.user = auth.id)) or exists(rooms r where r.id = row.room and exists(team_members t where t.team = r.team and t.user = auth.id))",
    ],
    [
      `row.likes >= 1 and (row.author = auth.id or (row.at > 1 and (${membership} or ${twoHops})))`,
      `(row.likes >= 1 and row.author = auth.id) or (row.likes >= 1 and row.at > 1 and ${membership}) or (row.likes >= 1 and row.at > 1 and ${twoHops})`,
    ],
    [
      "exists(team_members t where (t.user = auth.id or t.level = -1) and t.user = auth.id and exists(rooms r where r.team = t.team and r.id = row.room))",
      "exists(team_members t where t.user = auth.id and exists(rooms r where r.team = t.team and r.id = row.room))",
    ],
  ])("lead to the branches of an or that is inside of a term: %s", async (inside, apart) => {
    const [one, other] = [await chat(inside), await chat(apart)];
    for (const path of ["/api/messages", "/api/messages?sort=-at&limit=3", "/api/messages/_svc/aggregate?count=*"]) {
      const [a, b] = [await one.ada.get(path), await other.ada.get(path)];
      expect(a.status, path).toBe(200);
      expect(dataOf(a), path).toEqual(dataOf(b));
      expect(metaOf(a), path).toMatchObject({ rows_read: metaOf(b).rows_read });
      expect(metaOf(a).truncated, path).toBe(undefined);
    }
  });

  it("are none where a branch has none: the list is cut off at the scan limit, and says so", async () => {
    const free = await chat(`row.likes = 2 or ${membership}`);
    expect((await listed(free, "/api/messages?limit=10")).meta.truncated).toBe(true);
  });
});

describe("a key", () => {
  it("bypasses the rule, and lists everything", async () => {
    const { server } = await chat(membership);
    const { meta } = await listedByKey(server);
    expect(meta.total).toBe(403);
  });
});

it("are at most 16: a rule of more terms joined by or is asked of each row", async () => {
  const columns = Array.from({ length: 40 }, (_, i) => `c${i}`);
  const table = (count: number) => `
of_${count}:
  columns:
    id: { type: integer, primary_key: true }
    ${columns.map((column) => `${column}: { type: integer }`).join("\n    ")}
  indexes: [${columns.map((column) => `{ columns: [${column}] }`).join(", ")}]`;
  const rule = (count: number) => `
[rules.of_${count}]
read = "${columns
    .slice(0, count)
    .map((column) => `exists(members m where m.room = row.${column} and m.user = auth.id)`)
    .join(" or ")}"`;
  const counts = [16, 40];
  const server = await serve({
    schema: `${schema}${counts.map(table).join("")}`,
    config: counts.map(rule).join(""),
  });
  await run(server, "INSERT INTO members (room, user) VALUES (1, 'ada')");
  const ada = client(server, (await member(server, "ada")).bearer);
  for (const count of counts) {
    // Room 1 is in c0 of 10, in the last column of 20, and in both of 30; 40 has it nowhere.
    const values = `(10, 1, 2), (20, 2, 1), (30, 1, 1), (40, 2, NULL)`;
    await run(server, `INSERT INTO of_${count} (id, c0, c${count - 1}) VALUES ${values}`);
  }
  const [few, many] = [await ada.get("/api/of_16"), await ada.get("/api/of_40")];
  expect([ids(dataOf(few)), ids(dataOf(many))]).toEqual([
    [10, 20, 30],
    [10, 20, 30],
  ]);
  // A membership for each way, and four candidates, one of them by two ways, for the total and for the page.
  expect(metaOf(few).rows_read).toBe(16 + 4 + 4);
});

describe("filters joined by or", () => {
  it("lead to their rows where each side has an index, each row once, in every order", async () => {
    const { server } = await chat(membership);
    const key = { server, ada: client(server, await apiKey(server, "project:backend")) };
    const either = "filter[$or][0][author][eq]=ada&filter[$or][1][room][in]=1,2,1";
    // Ada wrote 100, 200, 300, 400, and two without a room; 400 is in room 2 as well.
    const found = [...own, 100, 200, 300, 401, 402].sort((a, b) => a - b);
    // Six by the author and seven by the rooms, for the total and for the page.
    await expectWhole(key, `/api/messages?${either}`, found, 26);
    await expectWhole(key, `/api/messages?${either}&sort=-id`, found.toReversed(), 26);
    await expectWhole(
      key,
      `/api/messages?${either}&sort=-likes,id`,
      found.toSorted((a, b) => likesOf(b) - likesOf(a) || a - b),
      26,
    );
    const both = `filter[$or][0][author][eq]=ada&filter[$or][0][id][gt]=250&filter[$or][1][room][eq]=2`;
    await expectWhole(key, `/api/messages?${both}`, [40, 160, 280, 300, 400, 401, 402], 20);
    const pages = await pagesOf(key.ada, `/api/messages?${either}&limit=5`);
    expect(pages.flatMap(({ data }) => ids(data))).toEqual(found);
    // A side without an index: the table is read, in windows.
    const { meta } = await listed(key, "/api/messages?filter[$or][0][author][eq]=ada&filter[$or][1][likes][eq]=9");
    expect(meta.truncated).toBe(true);
    // The rule's ways come first: two memberships, and the seven rows of these rooms.
    const members = await chat(membership);
    await expectWhole(members, `/api/messages?${either}`, own, 17);
  });

  it("may be ten, each of a list of values, in an order that the indexes yield and in another one", async () => {
    const columns = Array.from({ length: 10 }, (_, i) => `c${i}`);
    const indexes = columns.map((column) => `{ columns: [${column}, at, rank] }`).join(", ");
    const ten = `
things:
  columns:
    id: { type: integer, primary_key: true }
    at: { type: integer, not_null: true }
    rank: { type: integer, not_null: true }
    ${columns.map((column) => `${column}: { type: integer }`).join("\n    ")}
  indexes: [${indexes}]
`;
    const server = await serve({ schema: ten, config: '[rules.things]\nread = "public"\n' });
    // Thing i has the number i in column i % 10, for which the side of that column asks where i is below 20; 1 to 5 have
    // it in the next column too.
    for (let i = 1; i <= 30; i++)
      await run(
        server,
        `INSERT INTO things (id, at, rank, c${i % 10}, c${(i + 1) % 10}) VALUES (${i}, ${-i}, 0, ${i}, ${i <= 5 ? i : null})`,
      );
    const sides = columns.map((_, i) => `filter[$or][${i}][c${i}][in]=${i},${i + 10},${(i + 9) % 10}`);
    const found = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
    const anybody = client(server);
    for (const [sort, expected] of [
      ["at,rank", found.toReversed()],
      ["-at,rank", found],
      ["id", found],
    ] as const) {
      const answer = await anybody.get(`/api/things?${sides.join("&")}&sort=${sort}`);
      expect([answer.status, ids(dataOf(answer))]).toEqual([200, expected]);
      expect(metaOf(answer)).toMatchObject({ total: 19 });
    }
  });
});

/** Null, which comes last in descending order, for those without. */
const likesOf = (id: number) => (id > 400 ? -1 : id % 3);

async function listedByKey(server: TestServer) {
  const key = client(server, await apiKey(server, "project:backend"));
  return { meta: metaOf(await key.get("/api/messages")) };
}

describe("own rows that are more than the scan limit", () => {
  const docs = `
docs:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
    editor: { type: text }
  indexes: [{ columns: [owner] }, { columns: [editor] }]
`;
  it.each(["row.owner = auth.id", "row.owner = auth.id or row.editor = auth.id"])("%s", async (rule) => {
    const server = await serve({ schema: docs, config: `api.scan_limit = 300\n[rules.docs]\nread = "${rule}"` });
    const ada = client(server, (await member(server, "ada")).bearer);
    await run(
      server,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
       INSERT INTO docs SELECT i, CASE WHEN i % 20 = 0 THEN 'ada' ELSE 'o' || i END, CASE WHEN i % 40 = 0 THEN 'ada' END FROM n`,
    );
    const own = Array.from({ length: 500 }, (_, i) => 20 * (i + 1));
    for (const [query, expected] of [
      ["limit=100&total=none", own],
      ["limit=100", own],
      ["limit=100&sort=-id", own.toReversed()],
    ] as const) {
      const pages = await pagesOf(ada, `/api/docs?${query}`);
      expect(pages.flatMap(({ data }) => ids(data))).toEqual(expected);
      const read = pages.map(({ meta }) => meta.rows_read!);
      if (query.includes("none")) expect(Math.max(...read)).toBeLessThanOrEqual(4 * 100);
      // The first page of a window also counts the rows of the window.
      else expect(read.reduce((sum, n) => sum + n)).toBeLessThanOrEqual(8 * own.length);
      if (!query.includes("none")) expect(pages.at(-1)!.meta.total).toBe(500);
    }
  });

  it("come once each and all, also where a page ends with the window, and several ways lead to them", async () => {
    const rule = "row.owner = auth.id or row.editor = auth.id";
    const schema = docs.replace("docs:", "docs:\n  history: forever");
    const server = await serve({ schema, config: `api.scan_limit = 10\n[rules.docs]\nread = "${rule}"` });
    const ann = client(server, (await member(server, "ann")).bearer);
    await run(
      server,
      `${numbers(30)} INSERT INTO docs SELECT i, 'ann', CASE i % 9 WHEN 1 THEN 'bob' ELSE 'ann' END FROM n`,
    );
    const own = Array.from({ length: 30 }, (_, i) => i + 1);
    for (const query of ["limit=1000", "limit=4", "limit=4&total=none", "limit=10", "limit=1000&sort=-id"]) {
      const pages = await pagesOf(ann, `/api/docs?${query}`);
      expect(
        pages.flatMap(({ data }) => ids(data)),
        query,
      ).toEqual(query.includes("-id") ? own.toReversed() : own);
      if (!query.includes("none")) expect(pages.at(-1)!.meta.total, query).toBe(30);
    }
    const pulled: unknown[] = [];
    for (let [checkpoint, more] = [null as unknown, true]; more; ) {
      const answer = await ann.post("/api/_svc/pull", { tables: { docs: {} }, checkpoint, limit: 1000 });
      const page = dataOf<{ changes: { key: { id: number } }[]; checkpoint: string; more: boolean }>(answer);
      pulled.push(...page.changes.map(({ key }) => key.id));
      ({ checkpoint, more } = page);
    }
    expect(pulled.toSorted((a, b) => Number(a) - Number(b))).toEqual(own);
  });
});
