import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Libsql from "libsql";
import { expect, it, onTestFinished, vi } from "vitest";
import { figure } from "../support/figures.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

/** `npm run test:faults` writes for a minute; ten of them by WAL_SECONDS=600. */
const seconds = Number(process.env.WAL_SECONDS ?? process.env.SECONDS ?? 2);
vi.setConfig({ testTimeout: 900_000 + 10 * seconds * 2_000 });

/** So many rows every writer has written in the end, however long it takes. */
const rowsMin = 400;

/** What a writer has acknowledged; null where it failed. */
async function write(file: string, role: string, during: number): Promise<number | null> {
  const args = ["test/faults/wal-writer.js", file, role, String(during), String(rowsMin)];
  const writer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  let acknowledged: number | null = null;
  for await (const line of createInterface(writer.stdout)) acknowledged = Number(line);
  return acknowledged;
}

/** Lets the writers work on a fresh file, and compares what is in it then with what they were told. */
async function outcomeOf(roles: readonly string[], during: number) {
  const directory = mkdtempSync(join(tmpdir(), "svc-wal-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "data.db");
  // Open throughout, so that no writer's end is the last close, which would checkpoint.
  const keeper = new Libsql(file);
  keeper.exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE rows (writer, n)");
  const told = await Promise.all(roles.map((role) => write(file, role, during)));
  const acknowledged = told.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  try {
    const [[there]] = keeper.prepare("SELECT count(*) FROM rows").raw(true).all([]) as [[number]];
    const [[sound]] = keeper.prepare("PRAGMA integrity_check").raw(true).all([]) as [[string]];
    return { failed: told.includes(null), acknowledged, lost: acknowledged - there, sound: sound === "ok" };
  } catch {
    return { failed: true, acknowledged, lost: Number.NaN, sound: false };
  }
}

it("three processes write, and one of them checkpoints after each of its commits: nothing is lost", async () => {
  const { failed, acknowledged, lost, sound } = await outcomeOf(["server", "beside", "beside"], seconds);
  figure(
    "strength",
    "three writing processes, of which only the server's checkpoints",
    `${seconds} s; acknowledged ${acknowledged}, lost ${lost}; ${sound ? "database intact" : "database corrupt"}`,
  );
  expect(acknowledged).toBeGreaterThan(1_000);
  expect({ failed, lost, sound }).toEqual({ failed: false, lost: 0, sound: true });
});

it.skipIf(seconds < 60)(
  "its control: a foreign checkpointer loses rows or corrupts the file within two minutes",
  async () => {
    const isHarmed = ({ failed, lost, sound }: Awaited<ReturnType<typeof outcomeOf>>) => failed || lost !== 0 || !sound;
    let harmed = false;
    for (let round = 0; round < 4 && !harmed; round++)
      harmed = isHarmed(await outcomeOf(["beside", "beside", "foreign", "foreign"], 30));
    expect(harmed).toBe(true);
  },
  1_800_000,
);

it("whatever is opened and closed beside a server takes none of its locks: nothing acknowledged is lost", async () => {
  const schema = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }\n";
  const directory = projectDirectory(schema);
  svc(directory, ["schema", "apply"]);
  const key = svc(directory, ["admin", "create-service-key", "--name", "t", "--scope", "project:backend"]);
  const headers = {
    Authorization: `Bearer ${key.trim().split("\n").at(-1)}`,
    "Content-Type": "application/json",
  };
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => void (await end("SIGKILL")));
  let acknowledged = 0;
  const add = async () => {
    const answer = await fetch(`${url}/api/notes`, { method: "POST", headers, body: '{"body":"a note"}' });
    expect(answer.status).toBe(201);
    acknowledged++;
  };
  const file = join(directory, ".svc/data.db");
  // A program whose close is the last one would delete the log, if the server's locks were gone.
  const foreign = () => new Libsql(file).close();
  const ways: readonly (() => unknown)[] = [
    foreign,
    () => svc(directory, ["check"]),
    () => svc(directory, ["export", "--out", join(directory, "archive.tar.gz"), "--force"]),
    () => svc(directory, ["schema", "plan"]),
    () => svc(directory, ["admin", "list-users"]),
    () => svc(directory, ["usage", "export"]),
    // The server's own: a plan that is looked at on a connection of its own, a document, a plan of a schema.
    () => fetch(`${url}/api/notes?sort=body&limit=2`, { headers }),
    () => fetch(`${url}/openapi.json`, { headers }),
    () =>
      fetch(`${url}/admin/api/schema/plan`, {
        method: "POST",
        headers: { Authorization: headers.Authorization },
      }),
    () => fetch(`${url}/admin/api/usage`, { headers }),
    // So many kinds of long reads that their connections are replaced, one after the other.
    async () => {
      for (const query of longReads()) {
        const answer = await fetch(`${url}/api/notes?limit=1000&${query}`, { headers });
        expect(answer.status).toBe(200);
      }
    },
    // A change of the schema closes the connection for long writes.
    () =>
      fetch(`${url}/admin/api/schema/apply`, {
        method: "POST",
        headers: { Authorization: headers.Authorization, "Content-Type": "application/yaml" },
        body: `${schema}more: { columns: { id: { type: integer, primary_key: true } } }\n`,
      }),
  ];
  for (const way of ways) {
    await add();
    await way();
    foreign();
    await add();
  }
  await end("SIGKILL");
  const left = new Libsql(file);
  const [[there]] = left.prepare("SELECT count(*) FROM notes").raw(true).all([]) as [[number]];
  left.close();
  expect(there).toBe(acknowledged);
});

/** More kinds of statements than a connection for long work keeps. */
function longReads(): readonly string[] {
  const sorts = ["id", "-id", "body", "-body"];
  const selects = ["id", "body", "id,body", "body,id"];
  const operators = ["ne", "lt", "lte", "gt", "gte", "starts_with", "contains"];
  return sorts.flatMap((sort) =>
    selects.flatMap((select) =>
      operators.map((operator) => `sort=${sort}&select=${select}&filter[body][${operator}]=a`),
    ),
  );
}
