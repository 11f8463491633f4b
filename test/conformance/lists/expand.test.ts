import { describe, expect, it } from "vitest";
import { client, dataOf, expectRefusal, type ListMeta, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
teams: { columns: { id: { type: integer, primary_key: true }, name: { type: text } } }
profiles:
  columns:
    id: { type: text, primary_key: true }
    name: { type: text, not_null: true }
    salary: { type: integer }
    team_id: { type: integer, references: { table: teams, column: id } }
    is_public: { type: boolean, not_null: true }
    user_id: { type: text, references: { table: $users, column: id } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, references: { table: rooms, column: id } }, user_id: { type: text } }
  indexes: [{ columns: [user_id] }]
rooms:
  columns: { id: { type: integer, primary_key: true }, name: { type: text }, owner_id: { type: text, references: { table: profiles, column: id } } }
  indexes: [{ columns: [owner_id] }]
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, references: { table: rooms, column: id } }
    author_id: { type: text, references: { table: profiles, column: id } }
    at: { type: integer, not_null: true }
    likes: { type: integer }
    draft: { type: boolean }
    data: { type: json }
    cost: { type: real }
  indexes: [{ columns: [room_id] }, { columns: [room_id, at, id] }, { columns: [author_id] }]
secrets:
  columns: { id: { type: integer, primary_key: true }, room_id: { type: integer, references: { table: rooms, column: id } } }
  indexes: [{ columns: [room_id] }]
lines:
  primary_key: [message_id, line]
  columns: { message_id: { type: integer, references: { table: messages, column: id } }, line: { type: integer }, text: { type: text } }
unindexed:
  columns: { id: { type: integer, primary_key: true }, room_id: { type: integer, references: { table: rooms, column: id } } }
`;

const config = `
[api]
scan_limit = 100
[rules.teams]
read = "auth.role = 'admin' or row.name != 'hidden'"
[rules.profiles]
read = "row.is_public = true or row.id = auth.id"
[rules.profiles.columns.salary]
read = "auth.role = 'admin'"
[rules.rooms]
read = "public"
[rules.members]
read = "row.user_id = auth.id"
[rules.messages]
read = "row.draft = false and exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
[rules.lines]
read = "public"
[rules.unindexed]
read = "public"
`;

const numbers = (to: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;

/**
 * Three rooms: ada is a member of 1 and 2. Message i is in room 1 + i % 3, at 100 - i, and a draft where i divides by 5. The
 * profile of cleo is not public, and that of nobody does not exist.
 */
async function chat() {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO teams VALUES (1, 'red'), (2, 'hidden')");
  await run(
    server,
    `INSERT INTO profiles (id, name, salary, team_id, is_public) VALUES
      ('ada', 'Ada', 1, 1, 1), ('bob', 'Bob', 2, 2, 1), ('cleo', 'Cleo', 3, 1, 0), ('dan', 'Dan', 4, NULL, 1)`,
  );
  await run(
    server,
    "INSERT INTO rooms VALUES (1, 'one', 'ada'), (2, 'two', 'bob'), (3, 'three', 'cleo'), (4, 'four', NULL)",
  );
  await run(server, "INSERT INTO members VALUES (1, 'ada'), (2, 'ada'), (3, 'bob')");
  await run(
    server,
    `${numbers(30)} INSERT INTO messages SELECT i, 1 + i % 3, CASE i % 4 WHEN 0 THEN 'ada' WHEN 1 THEN 'bob' WHEN 2 THEN 'cleo' END, 100 - i, i % 7, i % 5 = 0, '{"n": [1, 2]}', i / 10.0 FROM n`,
  );
  await run(server, "INSERT INTO secrets VALUES (1, 1), (2, 1)");
  await run(server, "INSERT INTO lines VALUES (1, 2, 'b'), (1, 1, 'a'), (2, 1, 'c')");
  const ada = await member(server, "ada");
  return { server, ada: client(server, ada.bearer), anonymous: client(server) };
}

type Chat = Awaited<ReturnType<typeof chat>>;
interface Row {
  readonly id: unknown;
  readonly _expand: Readonly<Record<string, unknown>>;
  readonly _count?: Readonly<Record<string, number>>;
}

async function expanded({ ada }: Chat, path: string): Promise<readonly Row[]> {
  const answer = await ada.get(path);
  const rows = dataOf<Row[]>(answer);
  expect(metaOf(answer).rows_read, path).not.toBeNull();
  return rows;
}
const idsOf = (rows: unknown) => (rows as { id: unknown }[]).map(({ id }) => id);

describe("expand forwards", () => {
  it("puts the row that is referred to into each row", async () => {
    const here = await chat();
    expect(await expanded(here, "/api/rooms?select=id&expand=owner_id")).toEqual([
      { id: 1, _expand: { owner_id: profile("ada", "Ada", 1) } },
      { id: 2, _expand: { owner_id: profile("bob", "Bob", 2) } },
      { id: 3, _expand: { owner_id: null } },
      { id: 4, _expand: { owner_id: null } },
    ]);
  });

  it("goes on from there, flat, with the columns that are selected", async () => {
    const here = await chat();
    const path =
      "/api/rooms?select=name&expand=owner_id.team_id,owner_id&expand[owner_id][select]=name&sort=id&limit=3";
    expect(await expanded(here, path)).toEqual([
      { name: "one", _expand: { "owner_id.team_id": { id: 1, name: "red" }, owner_id: { name: "Ada" } } },
      { name: "two", _expand: { "owner_id.team_id": null, owner_id: { name: "Bob" } } },
      // Cleo's profile is hidden, so that her team is not shown either.
      { name: "three", _expand: { "owner_id.team_id": null, owner_id: null } },
    ]);
    const deep = await expanded(here, "/api/lines?expand=message_id.author_id.team_id&limit=1&sort=-line");
    expect(deep).toEqual([{ message_id: 1, line: 2, text: "b", _expand: { "message_id.author_id.team_id": null } }]);
  });

  it("tells nothing of rows that the caller may not read, and looks each row up once", async () => {
    const here = await chat();
    const answer = await here.ada.get("/api/messages?select=id&expand=author_id,room_id&sort=id&limit=100");
    const rows = dataOf<Row[]>(answer);
    // Readable: not in room 3 (i % 3 = 2), and no drafts.
    expect(idsOf(rows)).toEqual([1, 3, 4, 6, 7, 9, 12, 13, 16, 18, 19, 21, 22, 24, 27, 28]);
    const names = rows.map(({ _expand: { author_id } }) => (author_id as { name: string } | null)?.name);
    expect(names.slice(0, 5)).toEqual(["Bob", undefined, "Ada", undefined, undefined]);
    // Two memberships and 20 messages, one membership for each of those that are no drafts, all of it for the count and
    // for the page; then three profiles and two rooms.
    expect(metaOf(answer).rows_read).toBe(
      metaOf(await here.ada.get("/api/messages?select=id&sort=id&limit=100")).rows_read! + 5,
    );
    for (const { _expand } of rows) expect(JSON.stringify(_expand)).not.toContain("salary");
  });

  it("finds nothing where the rules let the caller read no row of the table", async () => {
    const { anonymous } = await chat();
    const path =
      "/api/rooms?select=id&limit=1&sort=id&expand=secrets.room_id,messages.room_id,members.room_id,owner_id&expand[secrets.room_id][count]=true";
    expect(dataOf(await anonymous.get(path))).toEqual([
      {
        id: 1,
        _expand: {
          "secrets.room_id": [],
          "messages.room_id": [],
          "members.room_id": [],
          owner_id: profile("ada", "Ada", 1),
        },
        _count: { "secrets.room_id": 0 },
      },
    ]);
  });
});

describe("expand backwards", () => {
  it("puts the rows that refer to it into each row, as many as asked for, in their order", async () => {
    const here = await chat();
    const ofRooms = async (options: string) => {
      const rows = await expanded(here, `/api/rooms?select=id&sort=id&${options}`);
      return rows.map(({ _expand }) => idsOf(_expand["messages.room_id"]));
    };
    // Room 1 has 3, 6, …, 30, of which 15 and 30 are drafts; room 2 has 1, 4, …, 28, of which 10 and 25 are.
    const one = [3, 6, 9, 12, 18, 21, 24, 27];
    const two = [1, 4, 7, 13, 16, 19, 22, 28];
    expect(await ofRooms("expand=messages.room_id")).toEqual([one, two, [], []]);
    for (const order of ["-id", "at", "at,-id", "-at,id"]) {
      expect(await ofRooms(`expand[messages.room_id][limit]=3&expand[messages.room_id][sort]=${order}`)).toEqual(
        order === "-at,id" ? [one.slice(0, 3), two.slice(0, 3), [], []] : [[27, 24, 21], [28, 22, 19], [], []],
      );
    }
    const byLikes = (ids: number[]) => ids.toSorted((a, b) => (b % 7) - (a % 7) || a - b).slice(0, 5);
    expect(await ofRooms("expand[messages.room_id][limit]=5&expand[messages.room_id][sort]=-likes")).toEqual([
      byLikes(one),
      byLikes(two),
      [],
      [],
    ]);
  });

  it("counts the rows that the caller may read", async () => {
    const here = await chat();
    const rows = await expanded(
      here,
      "/api/rooms?select=id&sort=id&expand[messages.room_id][count]=true&expand[messages.room_id][limit]=1&expand[messages.room_id][select]=id",
    );
    expect(rows).toEqual([
      { id: 1, _expand: { "messages.room_id": [{ id: 3 }] }, _count: { "messages.room_id": 8 } },
      { id: 2, _expand: { "messages.room_id": [{ id: 1 }] }, _count: { "messages.room_id": 8 } },
      { id: 3, _expand: { "messages.room_id": [] }, _count: { "messages.room_id": 0 } },
      { id: 4, _expand: { "messages.room_id": [] }, _count: { "messages.room_id": 0 } },
    ]);
  });

  it("reads no more rows than it takes, where an index yields the order", async () => {
    const { ada } = await chat();
    const readBy = async (options: string) =>
      metaOf(await ada.get(`/api/rooms?select=id&sort=id&limit=4&total=none${options}`)).rows_read;
    expect(await readBy("")).toBe(4);
    // Room 1: 30 is a draft, 27 is found. Room 2: 28. Room 3: ten messages, two drafts. One membership is looked up for each
    // that is no draft, and found in rooms 1 and 2 alone.
    expect(await readBy("&expand[messages.room_id][sort]=-id&expand[messages.room_id][limit]=1")).toBe(
      4 + (2 + 1 + 10) + (1 + 1),
    );
    // Without such an index all thirty.
    expect(await readBy("&expand[messages.room_id][sort]=likes&expand[messages.room_id][limit]=1")).toBe(4 + 30 + 16);
  });

  it("takes composite keys, and goes backward from a row that was found forwards", async () => {
    const here = await chat();
    const rows = await expanded(here, "/api/messages?select=id&sort=id&limit=2&expand=lines.message_id");
    expect(rows).toEqual([
      {
        id: 1,
        _expand: {
          "lines.message_id": [
            { message_id: 1, line: 1, text: "a" },
            { message_id: 1, line: 2, text: "b" },
          ],
        },
      },
      { id: 3, _expand: { "lines.message_id": [] } },
    ]);
    const siblings = await expanded(
      here,
      "/api/messages?select=id&sort=id&limit=2&expand[author_id.messages.author_id][select]=id&expand[author_id.messages.author_id][limit]=2",
    );
    expect(siblings).toEqual([
      { id: 1, _expand: { "author_id.messages.author_id": [{ id: 1 }, { id: 9 }] } },
      { id: 3, _expand: { "author_id.messages.author_id": [] } },
    ]);
  });

  it("writes values as every answer does", async () => {
    const here = await chat();
    const [row] = await expanded(
      here,
      "/api/rooms?select=id&limit=1&sort=id&expand[messages.room_id][select]=cost,data&expand[messages.room_id][limit]=2",
    );
    expect(row!._expand["messages.room_id"]).toEqual([
      { cost: 0.3, data: { n: [1, 2] } },
      { cost: 0.6, data: { n: [1, 2] } },
    ]);
  });
});

describe("expand", () => {
  it("stays with a list from page to page, and is the same as JSON", async () => {
    const { ada } = await chat();
    const pages = await pagesOf(ada, "/api/rooms?select=id&limit=2&expand=owner_id&sort=id");
    expect(pages.map(({ data }) => data.map((row) => Object.keys((row as unknown as Row)._expand)))).toEqual([
      [["owner_id"], ["owner_id"]],
      [["owner_id"], ["owner_id"]],
    ]);
    const options = { limit: 2, sort: ["-at", "id"], select: ["id"], count: true };
    const body = { select: ["id"], sort: ["id"], expand: { owner_id: {}, "messages.room_id": options } };
    const posted = await ada.post("/api/rooms/_svc/query", body);
    const asked = await ada.get(
      "/api/rooms?select=id&sort=id&expand=owner_id&expand[messages.room_id][limit]=2&expand[messages.room_id][sort]=-at,id&expand[messages.room_id][select]=id&expand[messages.room_id][count]=true",
    );
    expect(posted.status).toBe(200);
    expect(dataOf(posted)).toEqual(dataOf(asked));
  });

  it("takes ten paths at once", async () => {
    const here = await chat();
    const paths = [
      "room_id",
      "author_id",
      "author_id.team_id",
      "room_id.owner_id",
      "room_id.owner_id.team_id",
      "lines.message_id",
      "room_id.messages.room_id",
      "room_id.members.room_id",
      "room_id.owner_id.rooms.owner_id",
      "author_id.messages.author_id",
    ];
    const counted = ["room_id.messages.room_id", "room_id.members.room_id", "author_id.messages.author_id"];
    const query = `expand=${paths.join(",")}&${counted.map((path) => `expand[${path}][count]=true`).join("&")}`;
    const [row] = await expanded(here, `/api/messages?sort=id&limit=1&${query}`);
    expect(Object.keys(row!._expand)).toHaveLength(10);
    expect(row!._count).toEqual({
      "room_id.messages.room_id": 8,
      "room_id.members.room_id": 1,
      "author_id.messages.author_id": 4,
    });
    expect(idsOf(row!._expand["room_id.owner_id.rooms.owner_id"])).toEqual([2]);
  });

  it("of an empty list is an empty list", async () => {
    const { ada } = await chat();
    const answer = await ada.get("/api/rooms?where[id]=99&expand=owner_id,messages.room_id");
    expect([dataOf(answer), metaOf(answer).rows_read]).toEqual([[], 0]);
  });

  it("asks an API key for the scope of every table", async () => {
    const { server } = await chat();
    const path = "/api/rooms?expand=messages.room_id&sort=id&limit=1&select=id";
    const only = client(server, await apiKey(server, "resource:rooms:read"));
    expect(expectRefusal(await only.get(path), 403, "forbidden")).toContain("resource:messages:read");
    const both = await apiKey(server, "resource:rooms:read", "resource:messages:read");
    const [row] = dataOf<Row[]>(await client(server, both).get(path));
    expect(idsOf(row!._expand["messages.room_id"])).toEqual([3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
  });

  it("refuses what it cannot follow, in words", async () => {
    const { ada } = await chat();
    const refused = async (query: string) => expectRefusal(await ada.get(`/api/rooms?${query}`), 400, "bad_request");
    expect(await refused("expand=nobody")).toBe('unknown column "nobody"');
    expect(await refused("expand=")).toBe('unknown column ""');
    expect(await refused("expand=__proto__")).toBe('unknown column "__proto__"');
    expect(await refused("expand=messages")).toBe(
      'expand: "messages": the column that refers to rooms has to follow, as in messages.<column>',
    );
    expect(await refused("expand=messages.nobody")).toBe('unknown column "nobody"');
    expect(await refused("expand=messages.author_id")).toContain("does not refer to rooms");
    expect(await refused("expand=name")).toContain("name is no reference");
    expect(await refused("expand=owner_id.salary")).toBe('unknown column "salary"');
    expect(await refused("expand=owner_id.user_id")).toContain("$users");
    expect(await refused("expand=unindexed.room_id")).toContain("no index serves unindexed.room_id");
    expect(await refused("expand=owner_id,owner_id")).toContain("named twice");
    expect(await refused("expand=messages.room_id.author_id")).toBe(
      'expand: "messages.room_id.author_id": nothing can follow messages.room_id, which leads to any number of rows',
    );
    expect(await refused("expand[owner_id][limit]=1")).toContain("one row at most");
    expect(await refused("expand[owner_id][where]=1")).toContain("unknown parameter");
    expect(await refused("expand[messages.room_id][limit]=0")).toContain("from 1 to 100");
    expect(await refused("expand[messages.room_id][limit]=101")).toContain("from 1 to 100");
    expect(await refused("expand[messages.room_id][count]=1")).toContain("true or false");
    expect(await refused("expand[messages.room_id][sort]=data")).toContain("json column");
    expect(await refused("limit=1000&expand[messages.room_id][limit]=11")).toContain("more than 10000");
    expect(
      expectRefusal(await ada.get("/api/messages?expand=room_id.owner_id.team_id.name"), 400, "bad_request"),
    ).toContain("3 deep");
    const eleven = Array.from({ length: 11 }, (_, i) => `expand[messages.room_id${".".repeat(i)}][limit]=1`);
    expect(await refused(eleven.join("&"))).toContain("more than 10 paths");
    const aggregated = await ada.get("/api/rooms/_svc/aggregate?count=*&expand=owner_id");
    expect(expectRefusal(aggregated, 400, "bad_request")).toContain("unknown parameter");
    for (const expand of ["owner_id", ["owner_id"], null, { owner_id: null }, { owner_id: { nobody: 1 } }])
      expectRefusal(await ada.post("/api/rooms/_svc/query", { expand }), 400, "bad_request");
    const bracketed = await ada.post("/api/rooms/_svc/query", { "expand[owner_id]": {} });
    expect(expectRefusal(bracketed, 400, "bad_request")).toContain("unknown member");
  });

  it("is refused where more rows would have to be examined than the scan limit", async () => {
    const here = await chat();
    await run(
      here.server,
      `${numbers(120)} INSERT INTO messages (id, room_id, at, draft) SELECT 1000 + i, 1, 1000 + i, 0 FROM n`,
    );
    const path = (options: string) => `/api/rooms?select=id&expand=messages.room_id&${options}`;
    for (const option of ["sort]=likes", "count]=true"])
      expect(
        expectRefusal(await here.ada.get(path(`expand[messages.room_id][${option}`)), 400, "bad_request"),
      ).toContain("more than 100 rows of messages");
    const [row] = await expanded(here, path("expand[messages.room_id][sort]=-at,-id"));
    expect(idsOf(row!._expand["messages.room_id"])).toEqual([
      1120, 1119, 1118, 1117, 1116, 1115, 1114, 1113, 1112, 1111,
    ]);
  });

  it("ends the page where one large row would be written too often", async () => {
    const server = await serve({
      schema,
      config: '[rules.rooms]\nread = "public"\n[rules.profiles]\nread = "public"',
    });
    await run(server, "INSERT INTO profiles (id, name, is_public) VALUES ('ada', printf('%.40000c', 'a'), 1)");
    await run(server, `${numbers(1000)} INSERT INTO rooms (id, owner_id) SELECT i, 'ada' FROM n`);
    const anybody = client(server);
    // All would have 40 MB.
    const { body } = await anybody.get("/api/rooms?select=id&expand=owner_id&limit=1000");
    const { data, meta } = body as { data: { id: number; _expand: { owner_id: { name: string } } }[]; meta: ListMeta };
    const pageBytes = Math.min(4_194_304, server.database.answerBytesMax);
    expect(data.length).toBe(Math.floor(pageBytes / JSON.stringify(data[0]).length));
    expect(data.map(({ id }) => id)).toEqual(Array.from({ length: data.length }, (_, i) => i + 1));
    expect(data.every(({ _expand }) => _expand.owner_id.name.length === 40_000)).toBe(true);
    const { body: next } = await anybody.get(`/api/rooms?cursor=${meta.next_cursor}`);
    expect(next).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ id: data.length + 1 })]) });
  });

  it("is refused for a row that is larger than a page together with what it is expanded by", async () => {
    const config = 'api.max_page_bytes = 30_000\n[rules.rooms]\nread = "public"\n[rules.profiles]\nread = "public"';
    const server = await serve({ schema, config });
    await run(server, "INSERT INTO profiles (id, name, is_public) VALUES ('ada', printf('%.40000c', 'a'), 1)");
    await run(server, "INSERT INTO rooms (id, owner_id) VALUES (1, 'ada'), (2, 'ada')");
    const refused = await client(server).get("/api/rooms?select=id&expand=owner_id");
    expect(expectRefusal(refused, 400, "bad_request")).toMatch(/^expand: a row is larger than a page/);
  });
});

const profile = (id: string, name: string, team_id: number) => ({
  id,
  name,
  team_id,
  is_public: true,
  user_id: null,
});
