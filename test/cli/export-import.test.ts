import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
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
import { buffer, text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import Libsql from "libsql";
import { type Header, pack } from "tar-stream";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { readInvocation } from "../../src/cli/command.js";
import { commands as exportCommands } from "../../src/cli/commands/export.js";
import { commands as importCommands } from "../../src/cli/commands/import.js";
import { client, dataOf, pagesOf } from "../support/client.js";
import type { TestServer } from "../support/server.js";
import { spawnServer } from "../support/spawned-server.js";
import { cli, svc } from "./svc.js";

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
    const { id } = dataOf<{ id: string }>(await caller.post("/api/rooms", { owner_id: caller.id, name: caller.id }));
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
    const installed = svc(["auth", "provider", "set", "google", "--credentials", credentials, "--dir", directory], "", {
      SVC_PLATFORM_SECRETS_KEY: secretsKey,
    });
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
    await expect(run("import", archive, "--dir", place)).rejects.toThrow(/elsewhere\/legacy\.db: see --outside/);
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

  it("is taken of rows that a CHECK would not let in, and import takes them", async () => {
    const directory = exampleProject();
    mkdirSync(join(directory, ".svc"));
    const made = database(join(directory, ".svc/data.db"));
    made.exec(`CREATE TABLE t (x CHECK (x > 0));
      PRAGMA ignore_check_constraints=ON;
      INSERT INTO t VALUES (-1);`);
    const archive = join(directory, "..", "out.tar.gz");
    await run("export", "--out", archive, "--dir", directory);
    const copy = join(directory, "..", "copy");
    await run("import", archive, "--dir", copy);
    const there = database(join(copy, ".svc/data.db"));
    expect(there.prepare("SELECT x FROM t").raw(true).all([])).toEqual([[-1]]);
  });

  it("leaves nothing when a signal ends it, also beside the database", async () => {
    const directory = exampleProject();
    const beside = join(directory, ".svc");
    mkdirSync(beside);
    // Enough rows for the signal to come while they are read.
    const made = new Libsql(join(beside, "data.db"));
    made.exec(`PRAGMA journal_mode=WAL;
      CREATE TABLE t (x);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
        INSERT INTO t SELECT randomblob(1000) FROM n;`);
    made.close();
    expect(readdirSync(beside)).toEqual(["data.db"]);
    const archive = join(directory, "..", "out.tar.gz");
    // It sends the signal to itself, as another process might be held up until it has ended.
    const preload = `import { watch } from "node:fs";
      watch(${JSON.stringify(beside)}).unref().once("change", () => process.kill(process.pid, "SIGINT"));`;
    const exporting = spawn(process.execPath, [
      ...["--import", `data:text/javascript,${encodeURIComponent(preload)}`],
      ...[cli, "export", "--out", archive, "--dir", directory],
    ]);
    const [, signal] = await once(exporting, "exit");
    expect(signal).toBe("SIGINT");
    expect(readdirSync(beside)).toEqual(["data.db"]);
    expect(readdirSync(join(directory, ".."))).toEqual(["source"]);
  });

  it.skipIf(process.getuid?.() === 0)("needs a directory that it can write to, and says so", async () => {
    const directory = exampleProject();
    mkdirSync(join(directory, ".svc"));
    const made = new Libsql(join(directory, ".svc/data.db"));
    made.exec("PRAGMA journal_mode=WAL; CREATE TABLE t (x)");
    made.close();
    chmodSync(join(directory, ".svc"), 0o500);
    onTestFinished(() => chmodSync(join(directory, ".svc"), 0o700));
    const out = join(directory, "..", "out.tar.gz");
    await expect(run("export", "--out", out, "--dir", directory)).rejects.toThrow(/and its directory/);
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

describe("svc export makes the folders of --out", () => {
  it.each([{ force: [] }, { force: ["--force"] }])("and removes them if it fails: $force", async ({ force }) => {
    const directory = exampleProject();
    const above = join(directory, "..");
    const archive = join(above, "backups/today/out.tar.gz");
    writeFileSync(join(directory, "svc.toml"), '[database]\nurl = "file:data.db"\n');
    writeFileSync(join(directory, "data.db"), "no database ".repeat(1000));
    await expect(run("export", "--out", archive, "--dir", directory, ...force)).rejects.toThrow("not a database");
    expect(readdirSync(above)).toEqual(["source"]);
    writeFileSync(join(directory, "data.db"), sound);
    await run("export", "--out", archive, "--dir", directory, ...force);
    expect([...entriesOf(archive).keys()]).toContain("data.db");
    expect(statSync(join(above, "backups")).mode & 0o777).toBe(0o700);
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
    mkdirSync(join(directory, ".svc"));
    writeFileSync(join(directory, ".svc/data.db"), sound);
    await run("export", "--out", archive, "--force", "--dir", directory);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    expect([...entriesOf(archive).keys()]).toContain("data.db");
    await expect(run("export", "--out", directory, "--force", "--dir", directory)).rejects.toThrow("is not a file");
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

describe("svc export keeps what is there", () => {
  /** The refusal, after which everything is as it was. */
  async function refusal(directory: string, out: string): Promise<string> {
    const before = tree(join(directory, ".."));
    const error = await run("export", "--out", out, "--force", "--dir", directory).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(tree(join(directory, ".."))).toEqual(before);
    expect(error).toBeInstanceOf(Error);
    return error!.message;
  }

  it.each<[string, string, (directory: string) => void, RegExp]>([
    ["is missing", "file:data.db", () => {}, /may hold a database, and the project has none/],
    ["is a link to nowhere", "file:data.db", (at) => symlinkSync("/no/volume", join(at, "data.db")), /link to nowhere/],
    [
      "is behind one",
      "file:vol/a/b.db",
      (at) => symlinkSync("/no/volume", join(at, "vol")),
      /vol is a link to nowhere/,
    ],
    ["is in no directory", "file:notes.txt/data.db", (at) => writeFileSync(join(at, "notes.txt"), ""), /ENOTDIR/],
    ["is a directory", "file:.", () => {}, /is not a file/],
    ["is on a volume that is not there", "file:/no/volume/data.db", () => {}, /no directory \/no\/volume, /],
  ])("when the database %s", async (_, url, arrange, problem) => {
    const directory = exampleProject();
    writeFileSync(join(directory, "svc.toml"), `[database]\nurl = "${url}"\n`);
    arrange(directory);
    const archive = join(directory, "..", "backup.tar.gz");
    writeFileSync(archive, "the good one");
    expect(await refusal(directory, archive)).toMatch(problem);
  });

  it("but takes a directory behind a link for one that has no database yet", async () => {
    const directory = exampleProject();
    mkdirSync(join(directory, "..", "volume"));
    symlinkSync("../volume", join(directory, ".svc"));
    const printed = await run("export", "--out", join(directory, "..", "a.tar.gz"), "--dir", directory);
    expect(printed).toContain("there is no database yet");
  });

  it.each([
    "svc.toml",
    "svc.schema.yaml",
    ".svc/data.db",
    ".svc/data.db-wal",
    ".svc/data.db-shm",
    ".svc/data.db-journal",
    "alias.toml",
    "linked/data.db",
    "linked/data.db-wal",
    "volume/real.db",
    "volume/real.db-wal",
  ])("when --out is %s, which is the project's own", async (out) => {
    const directory = exampleProject();
    mkdirSync(join(directory, ".svc"));
    mkdirSync(join(directory, "volume"));
    writeFileSync(join(directory, "volume/real.db"), sound);
    symlinkSync("../volume/real.db", join(directory, ".svc/data.db"));
    symlinkSync(".svc", join(directory, "linked"));
    linkSync(join(directory, "svc.toml"), join(directory, "alias.toml"));
    expect(await refusal(directory, join(directory, out))).toContain("is a file of the project itself");
  });

  it("when svc.toml is larger than an import reads", async () => {
    const directory = exampleProject();
    writeFileSync(join(directory, "svc.toml"), "#".repeat(4_194_305));
    expect(await refusal(directory, join(directory, "..", "a.tar.gz"))).toBe(
      'import would not take the archive: "svc.toml" has 4194305 bytes, and 4194304 at most are read',
    );
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

  it("an archive that ends early, and never leaves a file that was still being made", async () => {
    const whole = gunzipSync(await tar(toml, schema, { name: "data.db", content: sound }));
    const begun = gzipSync(whole.subarray(0, 1600));
    for (let round = 0; round < 100; round++) expect((await refusal(begun)).message).toMatch(/cut off/);
  });

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
  ])("a directory that has %s, and leaves it, whatever is in the archive", async (name) => {
    const inside = { [name]: "mine", "notes.txt": "mine too" };
    const refused = { name: "RefusedError", message: expect.stringContaining(`${name} exists`) };
    const whole = await tar(toml, schema, { name: "data.db", content: sound });
    expect(await refusal(whole, inside)).toMatchObject(refused);
    expect(await refusal(await tar(toml, schema), inside)).toMatchObject(refused);
  });

  it("a place outside of the directory, also where the archive has no database", async () => {
    const content = '[database]\nurl = "file:../other.db"\n';
    expect((await refusal(await tar({ ...toml, content }, schema))).message).toContain("see --outside");
  });

  it("other places outside of the directory, all at once, and takes them with --outside", async () => {
    const content = [
      '[usage]\njournal_dir = "../journal"',
      '[mail]\nlog_dir = "/tmp/mail"',
      '[server]\ntls_cert = "../cert.pem"\ntls_key = "../key.pem"',
    ].join("\n");
    const archive = await tar({ ...toml, content }, schema);
    const { message } = await refusal(archive);
    expect(message.split("\n").map((line) => line.replace(/leads out of \S+, to \S*\//, "→ "))).toEqual([
      "usage.journal_dir → journal: see --outside",
      "mail.log_dir → mail: see --outside",
      "server.tls_cert → cert.pem: see --outside",
      "server.tls_key → key.pem: see --outside",
    ]);
    const above = temporaryDirectory();
    writeFileSync(join(above, "a.tar.gz"), archive);
    await run("import", join(above, "a.tar.gz"), "--dir", join(above, "copy"), "--outside");
    expect(readdirSync(above).sort()).toEqual(["a.tar.gz", "copy"]);
  });

  it("places that hold something else in the directory, wherever it is, with --outside too", async () => {
    const above = temporaryDirectory();
    const copy = join(above, "copy");
    const content = `[usage]\njournal_dir = "${copy}"\n[mail]\nlog_dir = ".."\n`;
    writeFileSync(join(above, "a.tar.gz"), await tar({ ...toml, content }, schema));
    for (const flags of [[], ["--outside"]])
      await expect(run("import", join(above, "a.tar.gz"), "--dir", copy, ...flags)).rejects.toMatchObject({
        name: "ProblemsError",
        message: expect.stringMatching(/usage\.journal_dir: the project is in .*\n.*mail\.log_dir: the project is/),
      });
    expect(readdirSync(above)).toEqual(["a.tar.gz"]);
  });

  it("an archive that goes on after its end", async () => {
    const whole = gunzipSync(await tar(toml, schema));
    const late = (bytes: number) => gzipSync(Buffer.concat([whole, Buffer.alloc(bytes)]));
    expect((await refusal(late(2_097_152))).message).toContain("it goes on for 1048576 bytes after its end");
    const above = temporaryDirectory();
    writeFileSync(join(above, "a.tar.gz"), late(524_288));
    await run("import", join(above, "a.tar.gz"), "--dir", join(above, "copy"));
  });

  it("a database that the disk has no room for, before it is there", async () => {
    const texts = gunzipSync(await tar(toml, schema)).subarray(0, 1024);
    const archive = pack();
    archive.entry({ name: "data.db", size: 2 ** 50 });
    const [header] = await once(archive, "data");
    archive.destroy();
    const error = await refusal(gzipSync(Buffer.concat([texts, header as Buffer, Buffer.alloc(1024)])));
    expect(error.message).toMatch(/it has a file of 1125899906842624 bytes, and \d+ are free in/);
  });

  it.each([
    ["file:../other.db", /leads out of .*other\.db: see --outside/],
    ["file:/tmp/other.db", /leads out of .* to \/tmp\/other\.db: see --outside/],
    ["file:.svc/%2e%2e/%2e%2e/other.db", /see --outside/],
    ["file:.", /exists/],
    ["file:svc.toml", /svc\.toml:2: database\.url: svc\.toml is a file of the project itself: name another/],
    ["file:svc.toml/data.db", /svc\.toml:2: database\.url: svc\.toml is a file of the project itself/],
    ["file:%00", /svc\.toml:2: database\.url: what it has after % makes no path/],
    ["file:%ff", /svc\.toml:2: database\.url: what it has after % makes no path/],
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
});

describe("a person who waits", () => {
  /** What is written to the terminal meanwhile. */
  async function shown(work: () => Promise<unknown>): Promise<string> {
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      await work();
      return write.mock.calls.map(([chunk]) => chunk).join("");
    } finally {
      write.mockRestore();
      process.stderr.isTTY = isTTY;
    }
  }

  it("sees lines of one length, each over the one before it, up to the end", async () => {
    const directory = exampleProject();
    mkdirSync(join(directory, ".svc"));
    writeFileSync(join(directory, ".svc/data.db"), sound);
    const archive = join(directory, "..", "a.tar.gz");
    const exporting = await shown(() => run("export", "--out", archive, "--dir", directory));
    expect(exporting).toMatch(/^(\rsnapshot: {7}0\.0 MB .{3} %)+\n(\rarchive: {7}0\.0 MB .{3} %)+\n$/);
    expect(exporting).toMatch(/100 %\n\rarchive[^\n]*\r[^\n]*100 %\n$/);
    const copy = join(directory, "..", "copy");
    expect(await shown(() => run("import", archive, "--dir", copy))).toMatch(/^\runpack[^\n]*\r[^\n]*100 %\n$/);
  });

  it("has a line of their own for what went wrong", async () => {
    const directory = exampleProject();
    mkdirSync(join(directory, ".svc"));
    writeFileSync(join(directory, ".svc/data.db"), "no database ".repeat(1000));
    const archive = join(directory, "..", "a.tar.gz");
    const failing = await shown(() =>
      expect(run("export", "--out", archive, "--dir", directory)).rejects.toThrow("not a database"),
    );
    expect(failing).toMatch(/%\n$/);
  });
});
