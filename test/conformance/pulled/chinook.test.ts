import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { serve, type TestServer } from "../../support/server.js";

const original = "test/data/chinook.sqlite";
const tables = [
  "Album",
  "Artist",
  "Customer",
  "Employee",
  "Genre",
  "Invoice",
  "InvoiceLine",
  "MediaType",
  "Playlist",
  "PlaylistTrack",
  "Track",
];

interface Answer {
  readonly data: Record<string, unknown>[];
  readonly meta: { readonly total: number; readonly next_cursor?: string; readonly rows_read: number };
}

/** A copy of the database, pulled and served with every table readable. */
async function chinook(): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "svc-chinook-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "chinook.sqlite");
  copyFileSync(original, path);
  const before = readFileSync(path);
  const database = openLibsql({ path, synchronous: "normal", commandLine: true });
  const { text, notes } = await pullSchema(database);
  await database.close();
  expect(readFileSync(path).equals(before), "pulling changes nothing").toBe(true);
  expect(notes).toEqual({
    leftOut: [],
    kept: [],
    choices: [],
    limited: [],
    narrowed: ["Employee.BirthDate", "Employee.HireDate", "Invoice.InvoiceDate"].map(
      (column) => `${column}: DATETIME turns texts that read as numbers into numbers, so it takes none of them`,
    ),
  });
  const config = tables.map((table) => `[rules.${table}]\nread = "public"\n`).join("");
  return serve({ schema: text, config, path });
}

/** What SQLite itself says of the original. */
function sqlite(sql: string): Record<string, unknown>[] {
  const database = new Libsql(`file:${original}?immutable=1`);
  try {
    return database.prepare(sql).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

async function list(server: TestServer, path: string): Promise<Answer> {
  const response = await server.request(path);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

test("all eleven tables list, row for row as SQLite has them", async () => {
  const server = await chinook();
  for (const table of tables) {
    const { data, meta } = await list(server, `/api/${table}?limit=1000`);
    const rows = sqlite(`SELECT * FROM ${table} ORDER BY 1, 2`);
    expect(meta.total).toBe(rows.length);
    expect(data).toEqual(rows.slice(0, 1000));
  }
});

test("a cursor walk over Track returns 3503 distinct rows", async () => {
  const server = await chinook();
  const ids: unknown[] = [];
  let path: string | null = "/api/Track?limit=100";
  while (path !== null) {
    const { data, meta }: Answer = await list(server, path);
    expect(meta.total).toBe(3503);
    ids.push(...data.map((row) => row.TrackId));
    path = meta.next_cursor === undefined ? null : `/api/Track?cursor=${meta.next_cursor}`;
  }
  expect(ids).toEqual(sqlite("SELECT TrackId FROM Track ORDER BY TrackId").map((row) => row.TrackId));
  expect(new Set(ids).size).toBe(3503);
});

test("PlaylistTrack answers by its composite key", async () => {
  const server = await chinook();
  const found = await server.request("/api/PlaylistTrack/_svc/key?PlaylistId=1&TrackId=3402");
  expect(found.status).toBe(200);
  expect(await found.json()).toMatchObject({ data: { PlaylistId: 1, TrackId: 3402 } });
  expect((await server.request("/api/PlaylistTrack/_svc/key?PlaylistId=1&TrackId=0")).status).toBe(404);
  expect((await server.request("/api/PlaylistTrack/1")).status).toBe(400);
});

test.each([
  ["filter[Composer][contains]=Angus", "SELECT * FROM Track WHERE instr(Composer, 'Angus') ORDER BY TrackId"],
  ["sort=-Milliseconds,TrackId", "SELECT * FROM Track ORDER BY Milliseconds DESC, TrackId"],
  ["sort=Composer", "SELECT * FROM Track ORDER BY Composer, TrackId"],
  ["where[AlbumId]=1&sort=-Name", "SELECT * FROM Track WHERE AlbumId = 1 ORDER BY Name DESC, TrackId"],
  ["filter[UnitPrice][gt]=0.99", "SELECT * FROM Track WHERE UnitPrice > 0.99 ORDER BY TrackId"],
  ["filter[Composer][is_null]=true", "SELECT * FROM Track WHERE Composer IS NULL ORDER BY TrackId"],
  ["filter[GenreId][in]=1,3,7", "SELECT * FROM Track WHERE GenreId IN (1, 3, 7) ORDER BY TrackId"],
  ["select=TrackId,Name", "SELECT TrackId, Name FROM Track ORDER BY TrackId"],
  [
    "filter[Name][starts_with]=The&sort=AlbumId,-Bytes&select=Name,UnitPrice",
    "SELECT Name, UnitPrice FROM Track WHERE substr(Name, 1, 3) = 'The' ORDER BY AlbumId, Bytes DESC, TrackId",
  ],
])("%s gives what SQLite gives", async (query, sql) => {
  const server = await chinook();
  const { data, meta } = await list(server, `/api/Track?limit=1000&${query}`);
  const rows = sqlite(sql);
  expect(meta.total).toBe(rows.length);
  expect(data).toEqual(rows.slice(0, 1000));
});
