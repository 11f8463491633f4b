import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer, text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import Libsql from "libsql";
import { type Header, pack } from "tar-stream";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { entryProblem } from "../../src/cli/archive.js";
import { readInvocation } from "../../src/cli/command.js";
import { commands as exportCommands } from "../../src/cli/commands/export.js";
import { commands as importCommands } from "../../src/cli/commands/import.js";
import { progressLine } from "../../src/cli/progress.js";
import { client, dataOf, pagesOf } from "../support/client.js";
import type { TestServer } from "../support/server.js";
import { spawnServer } from "../support/spawned-server.js";

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-export-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function exampleProject(): string {
  const directory = join(temporaryDirectory(), "source");
  mkdirSync(directory);
  for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
  return directory;
}

const cli = "dist/cli/main.js";

function svc(args: readonly string[], environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...environment },
  });
  return { status, stdout, stderr };
}

/** The command inside of this process: it throws what the command line makes exit codes of. Gives what it prints. */
async function run(name: "export" | "import", ...args: string[]): Promise<string> {
  const [command] = name === "export" ? exportCommands : importCommands;
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    expect(await command!.run(readInvocation(command!, args, {})!)).toBe(0);
    return log.mock.calls.join("\n");
  } finally {
    log.mockRestore();
  }
}

/** Every path below, with the contents of files. */
function tree(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, "base64") : "not a file"];
    }),
  );
}

/** The names and contents of an archive's entries, by tar's own format: the test reads it without tar-stream. */
function entriesOf(archive: string): Map<string, Buffer> {
  const bytes = gunzipSync(readFileSync(archive));
  const found = new Map<string, Buffer>();
  for (let at = 0; bytes[at] !== 0; ) {
    const name = bytes.toString("utf8", at, bytes.indexOf(0, at));
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    found.set(name, bytes.subarray(at + 512, at + 512 + size));
    at += 512 + 512 * Math.ceil(size / 512);
  }
  return found;
}

function database(path: string): Libsql.Database {
  const opened = new Libsql(path);
  onTestFinished(() => {
    opened.close();
  });
  return opened;
}

/** The bytes of a small database. */
let sound: Buffer;

beforeAll(() => {
  const directory = mkdtempSync(join(tmpdir(), "svc-export-"));
  const made = new Libsql(join(directory, "data.db"));
  made.exec("CREATE TABLE t (x)");
  made.close();
  sound = readFileSync(join(directory, "data.db"));
  rmSync(directory, { recursive: true });
});

interface Writer {
  readonly email: string;
  readonly roomId: string;
  /** Of its last message that was acknowledged; the first is 0. */
  acknowledged: number;
}

describe("an export while the server writes", () => {
  const password = "correct horse";
  const secretsKey = Buffer.alloc(32, 7).toString("base64");
  const google = { client_id: "the client of google", client_secret: "the secret of google" };

  async function served(directory: string) {
    const { url, end } = await spawnServer(directory);
    onTestFinished(async () => {
      expect(await end("SIGTERM")).toBe(0);
    });
    const request: TestServer["request"] = (path, init) => fetch(`${url}${path}`, init);
    const server = { request } as TestServer;
    const signedIn = async (path: string, email: string) => {
      const { access_token, user } = dataOf<{ access_token: string; user: { id: string } }>(
        await client(server).post(path, { email, password }),
      );
      return { id: user.id, ...client(server, { Authorization: `Bearer ${access_token}` }) };
    };
    return { signedIn };
  }

  type Caller = Awaited<ReturnType<Awaited<ReturnType<typeof served>>["signedIn"]>>;

  async function roomOf(caller: Caller): Promise<string> {
    const { id } = dataOf<{ id: string }>(
      await caller.post("/api/rooms", { owner_id: caller.id, name: caller.id }),
    );
    dataOf(await caller.post("/api/room_members", { room_id: id, user_id: caller.id }));
    return id;
  }

  /** One message after the other, each once its predecessor was acknowledged. */
  async function write(caller: Caller, writer: Writer, until: () => boolean): Promise<void> {
    while (!until()) {
      const body = String(writer.acknowledged + 1);
      dataOf(await caller.post("/api/messages", { room_id: writer.roomId, author_id: caller.id, body }));
      writer.acknowledged++;
    }
  }

  const messagesOf = async (caller: Caller) =>
    (await pagesOf(caller, "/api/messages?limit=1000&sort=id")).flatMap(({ data }) => data);

  it("holds every acknowledged row, no gap, no secret, and is served elsewhere", async () => {
    const directory = exampleProject();
    const schema = join(directory, "svc.schema.yaml");
    writeFileSync(
      schema,
      readFileSync(schema, "utf8").replace(
        "$auth:\n",
        '$auth:\n  providers: [google]\n  redirect_urls: ["http://localhost:5173/cb"]\n',
      ),
    );
    const credentials = join(directory, "..", "google.json");
    writeFileSync(credentials, JSON.stringify(google));
    const installed = svc(
      ["auth", "provider", "set", "google", "--credentials", credentials, "--dir", directory],
      { SVC_PLATFORM_SECRETS_KEY: secretsKey },
    );
    expect(installed).toMatchObject({ status: 0, stderr: "" });
    const sealed = join(directory, ".svc/secrets/auth-providers/google.json.sealed");

    const source = await served(directory);
    const callers = await Promise.all(
      ["a", "b", "c"].map((name) => source.signedIn("/auth/register", `${name}@example.com`)),
    );
    const writers = await Promise.all(
      callers.map(async (caller, i) => ({
        email: `${"abc"[i]}@example.com`,
        roomId: await roomOf(caller),
        acknowledged: -1,
      })),
    );
    const writeAll = (until: (writer: Writer) => boolean) =>
      Promise.all(callers.map((caller, i) => write(caller, writers[i]!, () => until(writers[i]!))));
    await writeAll(({ acknowledged }) => acknowledged >= 5);

    let stopped = false;
    const writing = writeAll(() => stopped);
    const archive = join(directory, "..", "project.tar.gz");
    const before = writers.map(({ acknowledged }) => acknowledged);
    const exporting = spawn(process.execPath, [cli, "export", "--out", archive, "--dir", directory]);
    const printed = text(exporting.stdout);
    const complained = text(exporting.stderr);
    const status = await new Promise((resolve) => exporting.once("close", resolve));
    stopped = true;
    await writing;
    expect({ status, stderr: await complained }).toEqual({ status: 0, stderr: "" });
    expect(await printed).toMatch(
      /^exported \S+project\.tar\.gz: svc\.toml, svc\.schema\.yaml, data\.db \(\d+ bytes\), \d+ bytes packed\n$/,
    );
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, "..")).sort()).toEqual(["google.json", "project.tar.gz", "source"]);

    const entries = entriesOf(archive);
    expect([...entries.keys()]).toEqual(["svc.toml", "svc.schema.yaml", "data.db"]);
    expect(entries.get("svc.toml")!.equals(readFileSync("svc.toml"))).toBe(true);
    const bytes = gunzipSync(readFileSync(archive));
    const { ciphertext } = sealedParts(readFileSync(sealed, "utf8"));
    for (const secret of [google.client_id, google.client_secret, secretsKey, password, ciphertext])
      expect(bytes.includes(secret)).toBe(false);

    const copy = join(directory, "..", "copy");
    const imported = svc(["import", archive, "--dir", copy]);
    expect(imported).toMatchObject({ status: 0, stderr: "" });
    expect(imported.stdout).toContain(`svc auth provider set google --credentials FILE --dir ${copy}`);
    expect(imported.stdout).toContain("set SVC_PLATFORM_SECRETS_KEY");
    expect(readdirSync(join(copy, ".svc"))).toEqual(["data.db"]);
    expect(statSync(join(copy, ".svc/data.db")).mode & 0o777).toBe(0o600);

    const target = await served(copy);
    for (const [i, writer] of writers.entries()) {
      const there = await messagesOf(await target.signedIn("/auth/login", writer.email));
      const here = await messagesOf(callers[i]!);
      expect(there.map(({ body }) => body)).toEqual(there.map((_, n) => String(n)));
      expect(there.length).toBeGreaterThan(before[i]!);
      expect(there).toEqual(here.slice(0, there.length));
    }
  });

  /** The longest run of base64 in it. */
  function sealedParts(sealedText: string) {
    const [ciphertext] = sealedText.match(/[\w+/=-]{16,}/g)!.sort((a, b) => b.length - a.length);
    return { ciphertext: ciphertext! };
  }
});

describe("the snapshot", () => {
  it("keeps the rowids of tables without a primary key, and what refers to them", async () => {
    const directory = exampleProject();
    const legacy = join(directory, "..", "legacy.db");
    const made = database(legacy);
    made.exec(`PRAGMA journal_mode=WAL;
      CREATE TABLE notes (body TEXT);
      CREATE TABLE indexed (body TEXT UNIQUE);
      CREATE VIRTUAL TABLE found USING fts5(body, content='notes', content_rowid='rowid');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO notes SELECT 'note' || i FROM n;
      INSERT INTO indexed SELECT body FROM notes;
      DELETE FROM notes WHERE rowid % 3 = 0;
      DELETE FROM indexed WHERE rowid % 3 = 0;
      INSERT INTO notes (rowid, body) VALUES (5000000000, 'far');
      INSERT INTO found (found) VALUES ('rebuild');`);
    writeFileSync(join(directory, "svc.toml"), '[database]\nurl = "file:../legacy.db"\n');
    writeFileSync(join(directory, "svc.schema.yaml"), "");
    const archive = join(directory, "..", "out.tar.gz");
    await run("export", "--out", archive, "--dir", directory);

    const place = join(directory, "..", "elsewhere", "copy");
    await expect(run("import", archive, "--dir", place)).rejects.toThrow(
      /elsewhere\/legacy\.db: see --outside/,
    );
    expect(existsSync(join(directory, "..", "elsewhere"))).toBe(false);
    await run("import", archive, "--dir", place, "--outside");
    const copy = database(join(directory, "..", "elsewhere", "legacy.db"));
    for (const table of ["notes", "indexed"]) {
      const all = `SELECT rowid, body FROM ${table} ORDER BY rowid`;
      expect(copy.prepare(all).raw(true).all([])).toEqual(made.prepare(all).raw(true).all([]));
    }
    const match = "SELECT rowid, body FROM found WHERE found MATCH 'note7 OR far' ORDER BY rowid";
    expect(copy.prepare(match).raw(true).all([])).toEqual([
      [7, "note7"],
      [5000000000, "far"],
    ]);
    copy.exec("INSERT INTO found (found, rank) VALUES ('integrity-check', 1)");
  });

  it("is not taken of a database that is not there yet, and none is made", async () => {
    const directory = exampleProject();
    const archive = join(directory, "..", "out.tar.gz");
    const exported = svc(["export", "--out", archive, "--dir", directory]);
    expect(exported).toMatchObject({ status: 0, stderr: "" });
    expect(exported.stdout).toContain("there is no database yet");
    expect([...entriesOf(archive).keys()]).toEqual(["svc.toml", "svc.schema.yaml"]);
    expect(readdirSync(directory).sort()).toEqual(["svc.schema.yaml", "svc.toml"]);
    const copy = join(directory, "..", "copy");
    await run("import", archive, "--dir", copy);
    expect(readdirSync(copy).sort()).toEqual(["svc.schema.yaml", "svc.toml"]);
  });
});

describe("svc export refuses", () => {
  it("a file that exists, unless it is told to overwrite it", async () => {
    const directory = exampleProject();
    const archive = join(directory, "..", "out.tar.gz");
    writeFileSync(archive, "mine", { mode: 0o644 });
    expect(svc(["export", "--out", archive, "--dir", directory])).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("exists: see --force"),
    });
    expect(readFileSync(archive, "utf8")).toBe("mine");
    await run("export", "--out", archive, "--force", "--dir", directory);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    await expect(run("export", "--out", directory, "--force", "--dir", directory)).rejects.toThrow(
      "is not a file",
    );
  });

  it("a database on a server, a project that is not right, and no --out, and leaves nothing", async () => {
    const directory = exampleProject();
    const above = join(directory, "..");
    const archive = join(above, "out.tar.gz");
    expect(svc(["export", "--dir", directory]).status).toBe(2);
    writeFileSync(join(directory, "svc.toml"), '[database]\nurl = "libsql://db.example.com"\n');
    expect(svc(["export", "--out", archive, "--dir", directory])).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining("turso db export"),
    });
    writeFileSync(join(directory, "svc.toml"), "[nothing]\n");
    expect(svc(["export", "--out", archive, "--dir", directory]).status).toBe(2);
    writeFileSync(join(directory, "svc.toml"), '[database]\nurl = "file:data.db"\n');
    writeFileSync(join(directory, "data.db"), "no database ".repeat(1000));
    await expect(run("export", "--out", archive, "--dir", directory)).rejects.toThrow("not a database");
    expect(readdirSync(above)).toEqual(["source"]);
  });
});

describe("svc import", () => {
  it("takes what another tar has packed, into a directory that is made", async () => {
    const above = temporaryDirectory();
    for (const name of ["svc.toml", "svc.schema.yaml"]) writeFileSync(join(above, name), "");
    writeFileSync(join(above, "data.db"), sound);
    const files = ["data.db", "svc.schema.yaml", "svc.toml"];
    expect(spawnSync("tar", ["-czf", "a.tar.gz", ...files], { cwd: above }).status).toBe(0);
    await run("import", join(above, "a.tar.gz"), "--dir", join(above, "deep", "copy"));
    expect(readFileSync(join(above, "deep/copy/.svc/data.db")).equals(sound)).toBe(true);
  });

  it("tells what no archive holds, by what the files ask for", async () => {
    const above = temporaryDirectory();
    const directory = join(above, "source");
    mkdirSync(directory);
    const config = [
      '[auth]\njwt_secret_env = "CHAT_SECRET"',
      '[mail]\ntransport = "smtp"\nsmtp_url_env = "CHAT_SMTP"',
      '[server]\ntls_cert = "cert.pem"\ntls_key = "key.pem"',
    ];
    writeFileSync(join(directory, "svc.toml"), config.join("\n"));
    writeFileSync(
      join(directory, "svc.schema.yaml"),
      '$auth: { providers: [google, apple], redirect_urls: ["https://app.example.com/cb"] }\n',
    );
    const archive = join(above, "a.tar.gz");
    await run("export", "--out", archive, "--dir", directory);
    const printed = await run("import", archive, "--dir", join(above, "copy"));
    const [head, ...lines] = printed.split("\n").slice(1);
    expect(head).toBe("still to be done:");
    expect(lines.map((line) => line.trim().replace(/:.*/, ""))).toEqual([
      "set CHAT_SECRET",
      "set CHAT_SMTP",
      "set SVC_PLATFORM_SECRETS_KEY",
      `svc auth provider set google --credentials FILE --dir ${join(above, "copy")}`,
      `svc auth provider set apple --credentials FILE --dir ${join(above, "copy")}`,
      "put cert.pem in place",
      "put key.pem in place",
    ]);
  });
});

describe("svc import refuses", () => {
  const toml = { name: "svc.toml", content: "" };
  const schema = { name: "svc.schema.yaml", content: "" };

  type Entry = Partial<Header> & { readonly name: string; readonly content?: string | Buffer };

  async function tar(...entries: readonly Entry[]): Promise<Buffer> {
    const archive = pack();
    for (const { content, ...header } of entries) {
      if (content === undefined) archive.entry(header);
      else archive.entry(header, content);
    }
    archive.finalize();
    return gzipSync(await buffer(archive as never));
  }

  /** The refusal, after which the directory, and what is beside it, is as it was. */
  async function refusal(archive: Buffer, inside: Record<string, string> = {}): Promise<Error> {
    const above = temporaryDirectory();
    const file = join(above, "archive.tar.gz");
    writeFileSync(file, archive);
    const directory = join(above, "target");
    for (const [name, content] of Object.entries(inside)) {
      mkdirSync(join(directory, name, ".."), { recursive: true });
      writeFileSync(join(directory, name), content);
    }
    const before = tree(above);
    const error = await run("import", file, "--dir", directory).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(tree(above)).toEqual(before);
    expect(error).toBeInstanceOf(Error);
    return error!;
  }

  it.each<[string, Entry[], RegExp]>([
    ["a path out of it", [{ name: "../x", content: "" }], /"..\/x" is none of/],
    ["an absolute path", [{ name: "/tmp/x", content: "" }], /"\/tmp\/x" is none of/],
    ["another spelling of a name", [{ name: "./data.db", content: "" }], /is none of/],
    ["a log beside the database", [{ name: "data.db-wal", content: "" }], /is none of/],
    ["secrets", [{ name: ".svc/secrets/x", content: "" }], /is none of/],
    ["a symbolic link", [{ name: "data.db", type: "symlink", linkname: "/etc/passwd" }], /is a symlink/],
    ["a hard link", [{ name: "data.db", type: "link", linkname: "svc.toml" }], /is a link/],
    ["a directory", [{ name: "data.db", type: "directory" }], /is a directory/],
    ["a device", [{ name: "data.db", type: "character-device" }], /is a character-device/],
    ["a name twice", [schema], /"svc.schema.yaml" is in it twice/],
    ["a text of megabytes", [], /at most are read/],
    ["what is no database", [{ name: "data.db", content: "text ".repeat(999) }], /no sound SQLite database/],
    ["an empty database file", [{ name: "data.db", content: "" }], /no sound SQLite database: it is empty/],
  ])("%s", async (_, entries, problem) => {
    const first = entries.length > 0 ? toml : { name: "svc.toml", content: "#".repeat(4_194_305) };
    const error = await refusal(await tar(first, schema, ...entries));
    expect(error).toMatchObject({ name: "RefusedError", message: expect.stringMatching(problem) });
  });

  it.each<[string, (whole: Buffer) => Buffer | Promise<Buffer>, RegExp]>([
    ["plain text", () => Buffer.from("hello".repeat(100)), /no \.tar\.gz/],
    ["nothing at all", () => Buffer.alloc(0), /no svc\.toml|no \.tar\.gz/],
    ["gzip of no tar", () => gzipSync("hello".repeat(1000)), /no \.tar\.gz/],
    ["an archive that ends early", (whole) => whole.subarray(0, whole.length - 20), /cut off/],
    ["tar that ends early", (whole) => gzipSync(gunzipSync(whole).subarray(0, 2000)), /cut off/],
    ["a damaged archive", (whole) => flipped(whole, whole.length - 6), /damaged/],
    ["an archive without one of the files", () => tar(toml), /holds no svc\.schema\.yaml/],
  ])("%s", async (_, change, problem) => {
    const whole = await tar(toml, schema, { name: "data.db", content: sound });
    const error = await refusal(await change(whole));
    expect(error).toMatchObject({ name: "RefusedError", message: expect.stringMatching(problem) });
  });

  function flipped(bytes: Buffer, at: number): Buffer {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 1;
    return copy;
  }

  it("a database that is damaged inside", async () => {
    const damaged = Buffer.from(sound);
    damaged.fill(0x55, 4096, 4200);
    const error = await refusal(await tar(toml, schema, { name: "data.db", content: damaged }));
    expect(error.message).toMatch(/no sound SQLite database/);
  });

  it.each([
    ["svc.toml"],
    ["svc.schema.yaml"],
    [".svc/data.db"],
    [".svc/data.db-wal"],
    [".svc/data.db-shm"],
    [".svc/data.db-journal"],
  ])("a directory that has %s, and leaves it", async (name) => {
    const whole = await tar(toml, schema, { name: "data.db", content: sound });
    const error = await refusal(whole, { [name]: "mine", "notes.txt": "mine too" });
    expect(error).toMatchObject({ name: "RefusedError", message: expect.stringContaining(`${name} exists`) });
  });

  it.each([
    ["file:../other.db", /leads out of .*other\.db: see --outside/],
    ["file:/tmp/other.db", /leads out of .* to \/tmp\/other\.db: see --outside/],
    ["file:.svc/%2e%2e/%2e%2e/other.db", /see --outside/],
    ["file:.", /exists/],
    ["file:svc.toml", /EEXIST/],
    ["file:svc.toml/data.db", /EEXIST/],
    ["file:%00", /database\.url: what it has after % makes no path/],
    ["file:%ff", /database\.url: what it has after % makes no path/],
    ["libsql://db.example.com", /no place there/],
  ])("a database at %s", async (url, problem) => {
    const content = `[database]\nurl = "${url}"\n`;
    const entries = [{ ...toml, content }, schema, { name: "data.db", content: sound }];
    expect((await refusal(await tar(...entries))).message).toMatch(problem);
  });

  it("files that are not right, with every problem, and exit code 2", async () => {
    const wrong = await tar({ ...toml, content: "[nope]" }, { ...schema, content: "x: { y: 1 }" });
    expect(await refusal(wrong)).toMatchObject({
      name: "ProblemsError",
      message: expect.stringMatching(/svc\.toml.*: nope: [\s\S]*svc\.schema\.yaml.*: x\.y: /),
    });
    const above = temporaryDirectory();
    writeFileSync(join(above, "wrong.tar.gz"), wrong);
    expect(svc(["import", join(above, "wrong.tar.gz"), "--dir", above]).status).toBe(2);
    expect(svc(["import", join(above, "none.tar.gz"), "--dir", above])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("ENOENT"),
    });
    expect(svc(["import"]).status).toBe(2);
    expect(readdirSync(above)).toEqual(["wrong.tar.gz"]);
  });

  it("a directory where a link to nowhere has the name", async () => {
    const above = temporaryDirectory();
    writeFileSync(join(above, "a.tar.gz"), await tar(toml, schema));
    symlinkSync("/nowhere", join(above, "svc.toml"));
    await expect(run("import", join(above, "a.tar.gz"), "--dir", above)).rejects.toThrow("exists");
  });

  it("a database may be larger than a text", () => {
    const header = { name: "data.db", type: "file", size: 2 ** 40 } as Header;
    expect(entryProblem(header, new Set())).toBeNull();
    expect(entryProblem({ ...header, name: "svc.toml" }, new Set())).toContain("1099511627776 bytes");
  });
});

describe("what is unfinished", () => {
  it("goes when a signal ends the command", async () => {
    const above = temporaryDirectory();
    const script = `
      import { leavingNothing } from ${JSON.stringify(pathToFileURL("dist/cli/unfinished.js").href)};
      import { writeFileSync } from "node:fs";
      await leavingNothing(async (made) => {
        made.directory(${JSON.stringify(join(above, "a", "b"))});
        writeFileSync(made.temporary(${JSON.stringify(join(above, "a"))}) + "/secret", "");
        console.log("made");
        await new Promise((resolve) => setInterval(resolve, 2 ** 30));
      });`;
    const working = spawn(process.execPath, ["--input-type=module", "-e", script]);
    const ended = new Promise((resolve) => working.once("exit", (_, signal) => resolve(signal)));
    for await (const _ of createInterface(working.stdout)) {
      expect(readdirSync(join(above, "a"))).toHaveLength(2);
      working.kill("SIGINT");
    }
    expect(await ended).toBe("SIGINT");
    expect(readdirSync(above)).toEqual([]);
  });

  it("is told in lines of one length", () => {
    expect(progressLine("archive", 1_250_000, 5_000_000)).toBe("archive:       1.3 MB  25 %");
    expect(progressLine("archive", 9, 0)).toBe("archive:       0.0 MB 100 %");
    expect(progressLine("archive", 7e12, 5e12)).toBe("archive: 7000000.0 MB 100 %");
  });
});
