import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { afterAll, expect, it, onTestFinished, type TestContext } from "vitest";
import { type Answer, dataOf, expectRefusal, read } from "../support/client.js";
import { figure } from "../support/figures.js";
import { projectDirectory, svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }\n";
const ada = { email: "ada@example.com", password: "correct horse battery staple" };
/** Longer than what may be left of a page. */
const filling = "x".repeat(100_000);
const bodyOf = (n: number) => `${n} ${filling}`;

interface Note {
  readonly id: number;
  readonly body: string;
}

/** The number in each row; -1 where the row is not whole. */
function numbers(notes: readonly Note[]): ReadonlyMap<number, number> {
  return new Map(
    notes.map(({ id, body }) => {
      const n = Number.parseInt(body, 10);
      return [id, body === bodyOf(n) ? n : -1];
    }),
  );
}

/** Where the server of a project keeps all that it writes. */
const storageOf = (directory: string) => join(directory, ".svc");
const databaseOf = (directory: string) => join(storageOf(directory), "data.db");

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Timed extends Answer {
  readonly path: string;
  readonly ms: number;
}

function createAda(directory: string): void {
  svc(directory, ["admin", "create-user", "--email", ada.email, "--password-stdin"], ada.password);
}

/** Writes that were acknowledged, and found at the end. */
let kept = 0;

/** A server in a process of its own, and callers that remember what it has acknowledged. */
interface Disk {
  readonly directory: string;
  add(): Promise<Timed>;
  /** Writes of every kind at once, and reads meanwhile, which always go well. Every write is done, or refused with 503. */
  round(): Promise<readonly Timed[]>;
  /** The rows are those that were acknowledged, while it runs and in the file that it leaves. */
  finish(): Promise<void>;
}

async function serveDisk(directory: string): Promise<Disk> {
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => void (await end("SIGKILL")));
  createAda(directory);
  const made = svc(directory, ["admin", "create-service-key", "--name", "n", "--scope", "project:backend"]);
  const key = made.trim().split("\n").at(-1)!;

  const ask = async (method: string, path: string, body?: unknown, credential = key): Promise<Timed> => {
    const headers = { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" };
    const sentAt = performance.now();
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await read(await fetch(url + path, init));
    return { ...answer, path, ms: performance.now() - sentAt };
  };

  /** The number in each row that was acknowledged. */
  const rows = new Map<number, number>();
  let written = 0;
  let acknowledged = 0;
  const write = async (method: string, path: string) => {
    const n = ++written;
    const answer = await ask(method, path, { body: bodyOf(n) });
    if (answer.status === 503) return answer;
    acknowledged++;
    rows.set(dataOf<{ id: number }>(answer).id, n);
    return answer;
  };
  const remove = async (id: number) => {
    const answer = await ask("DELETE", `/api/notes/${id}`);
    if (answer.status === 503) return answer;
    acknowledged++;
    rows.delete(dataOf<{ id: number }>(answer).id);
    return answer;
  };
  const login = () => ask("POST", "/auth/login", ada);
  let tokens = dataOf<Tokens>(await login());
  const refresh = async () => {
    const answer = await ask("POST", "/auth/refresh", { refresh_token: tokens.refresh_token });
    if (answer.status === 200) tokens = dataOf<Tokens>(answer);
    return answer;
  };
  const add = () => write("POST", "/api/notes");
  for (let i = 0; i < 3; i++) await add();

  return {
    directory,
    add,
    round: async () => {
      // The last row stays, so that its id is not given to another one.
      const [first, ...others] = [...rows.keys()];
      const writes = [add(), write("PATCH", `/api/notes/${first}`), login(), refresh()];
      if (others.length > 1) writes.push(remove(others[0]!));
      const reads = ["/api/notes?limit=2", `/api/notes/${first}`, "/health"].map((path) => ask("GET", path));
      reads.push(ask("GET", "/auth/me", undefined, tokens.access_token));
      for (const { status, text } of await Promise.all(reads)) expect(status, text).toBe(200);
      const answers = await Promise.all(writes);
      for (const { status, text } of answers) if (status !== 503) expect(status, text).toBeLessThan(300);
      return answers;
    },
    finish: async () => {
      // A page ends after 4 MiB of rows.
      const listed: Note[] = [];
      for (let query: string | null = "limit=1000"; query !== null; ) {
        const { data, meta } = (await ask("GET", `/api/notes?${query}`)).body as {
          readonly data: readonly Note[];
          readonly meta: { readonly next_cursor?: string };
        };
        listed.push(...data);
        query = meta.next_cursor === undefined ? null : `cursor=${meta.next_cursor}`;
      }
      expect(numbers(listed)).toEqual(rows);
      expect(await end("SIGTERM")).toBe(0);
      const file = new Libsql(databaseOf(directory));
      onTestFinished(() => void file.close());
      expect(file.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
      expect(numbers(file.prepare("SELECT id, body FROM notes").all() as Note[])).toEqual(rows);
      kept += acknowledged;
    },
  };
}

/** The longest time from a request to its 503, in milliseconds, by what was wrong. */
const slowest = new Map<string, number>();

/**
 * The writes of a round that were refused, in the one shape. They are while what is wrong still is, and reads were answered
 * meanwhile: so nothing waits for it to end.
 */
async function refused(disk: Disk, what: string): Promise<{ readonly all: boolean }> {
  const answers = await disk.round();
  const refusals = answers.filter(({ status }) => status === 503);
  for (const answer of refusals) {
    expectRefusal(answer, 503, answer.path.startsWith("/auth/") ? "auth_unavailable" : "unavailable");
    expect(answer.headers.getSetCookie()).toEqual([]);
    slowest.set(what, Math.max(slowest.get(what) ?? 0, answer.ms));
  }
  return { all: refusals.length === answers.length };
}

async function expectRefused(disk: Disk, what: string): Promise<void> {
  expect(await refused(disk, what)).toEqual({ all: true });
}

/** At once, and in the same process. */
async function expectRecovered(disk: Disk): Promise<void> {
  for (const { status, text } of await disk.round()) expect(status, text).toBeLessThan(300);
  await disk.finish();
}

/** Holds the write lock of a database until its standard input ends, or it does. */
const holder = `
import Libsql from "libsql";
const database = new Libsql(process.argv[1]);
database.exec("PRAGMA busy_timeout=600000");
database.exec("BEGIN IMMEDIATE");
process.stdout.write("locked");
process.stdin.resume().on("end", () => {
  database.exec("ROLLBACK");
  process.exit();
});
`;

async function lockElsewhere(path: string) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", holder, path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

/** All of them with `npm run test:faults`, else the first: they wait for seconds. */
function some<T>(first: T, ...others: readonly T[]): readonly T[] {
  return process.env.ROUNDS === undefined ? [first] : [first, ...others];
}

it.each(some("lets go of it", "is killed"))(
  "while another process has the database locked, writes are 503, and no longer once it %s",
  async (how) => {
    const disk = await serveDisk(projectDirectory(schema));
    const child = await lockElsewhere(databaseOf(disk.directory));
    await expectRefused(disk, "locked");
    const exited = once(child, "exit");
    if (how === "is killed") child.kill("SIGKILL");
    else child.stdin.end();
    await exited;
    await expectRecovered(disk);
  },
);

/** A project whose server writes to a small file system of its own. */
function projectOnSmallDisk(context: TestContext): string {
  const directory = projectDirectory(schema);
  const storage = storageOf(directory);
  mkdirSync(storage);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", storage]);
  if (mounted.status !== 0) context.skip("no file system may be mounted here");
  onTestFinished(() => void spawnSync("umount", ["-l", storage]));
  return directory;
}

/** Fills a disk, and returns what makes room. */
type Filling = (disk: Disk, storage: string) => Promise<() => void>;

const withAnotherFile: Filling = async (_, storage) => {
  const file = join(storage, "filler");
  spawnSync("sh", ["-c", `cat /dev/zero > ${file}`]);
  return () => rmSync(file);
};

/** The disk ends while the log is being copied into the database. */
const withItsRows: Filling = async (disk, storage) => {
  for (let rows = 0; (await disk.add()).status !== 503; rows++) expect(rows).toBeLessThan(1_000);
  return () => expect(spawnSync("mount", ["-o", "remount,size=64m", storage]).status).toBe(0);
};

it.for(some(["another file", withAnotherFile] as const, ["its rows", withItsRows] as const))(
  "while its disk is full of %s, writes are 503, and no longer once there is room (needs a tmpfs)",
  async ([, fill], context) => {
    const directory = projectOnSmallDisk(context);
    const disk = await serveDisk(directory);
    const makeRoom = await fill(disk, storageOf(directory));
    // What the log has room for is still written.
    for (let rounds = 0; !(await refused(disk, "full")).all; rounds++) expect(rounds).toBeLessThan(20);
    await expectRefused(disk, "full");
    makeRoom();
    await expectRecovered(disk);
  },
);

/** Whether a file that is open for writing can be made read-only: a superuser may write to any other. */
function forbidsWriting(directory: string): boolean {
  const path = join(directory, "probe");
  const file = openSync(path, "w");
  try {
    if (!setImmutable([path], true)) return false;
    writeSync(file, "x");
    return false;
  } catch {
    return true;
  } finally {
    setImmutable([path], false);
    closeSync(file);
  }
}

function setImmutable(paths: readonly string[], immutable: boolean): boolean {
  return spawnSync("chattr", [immutable ? "+i" : "-i", ...paths]).status === 0;
}

/**
 * No file system can be remounted read-only while a file of it is open for writing. Files can be made immutable, after which
 * every write to them fails as on a file system that the kernel made read-only.
 */
it("while its files are read-only, writes are 503, and no longer once they are not (needs chattr)", async (context) => {
  const directory = projectDirectory(schema);
  if (!forbidsWriting(directory)) context.skip("the file system does not forbid writing to open files");
  const disk = await serveDisk(directory);
  const files = [databaseOf(directory), `${databaseOf(directory)}-wal`];
  onTestFinished(() => void setImmutable(files, false));
  expect(setImmutable(files, true)).toBe(true);
  await expectRefused(disk, "read-only");
  expect(setImmutable(files, false)).toBe(true);
  await expectRecovered(disk);
});

it("on a file system that is mounted read-only it does not start, says so, and starts once it may write (needs a tmpfs)", async (context) => {
  const directory = projectOnSmallDisk(context);
  const remount = (how: string) => spawnSync("mount", ["-o", `remount,${how}`, storageOf(directory)]).status;
  svc(directory, ["schema", "apply"]);
  createAda(directory);
  expect(remount("ro")).toBe(0);
  const args = ["dist/svc/main.js", "serve", "--dir", directory, "--port", "0"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    timeout: 600_000,
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain(`the database ${databaseOf(directory)} cannot be opened: `);
  expect(remount("rw")).toBe(0);
  const server = await spawnServer(directory);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
  expect(svc(directory, ["admin", "list-users"])).toContain(ada.email);
});

afterAll(() => {
  const shown = [...slowest].map(([what, ms]) => `${what} ${(ms / 1000).toFixed(2)} s`);
  figure(
    "strength",
    "database locked by another process, disk full, file system read-only",
    `longest time to a 503: ${shown.join(", ")}; ${kept} acknowledged writes, none lost`,
  );
});
