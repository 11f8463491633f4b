import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import Libsql from "libsql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readInvocation } from "../../src/cli/command.js";
import { commands } from "../../src/cli/commands/check.js";

// Projects as people get them wrong, and what `svc check` says of each: exit code, standard output and error, in
// expected.txt. UPDATE_GOLDEN=1 writes them anew; whoever does that reads them as the owner of the project would.
const golden = "test/cli/check";

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function svc(directory: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/svc/main.js", ...args, "--dir", directory], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...environment },
  });
  return { status, stdout, stderr };
}

/** As `svc` with `check` alone, in this process, which spares a start of Node for each project. */
async function check(directory: string): Promise<Outcome> {
  const printed = { stdout: "", stderr: "" };
  const keep = (stream: "stdout" | "stderr") => (line: string) => {
    printed[stream] += `${line}\n`;
  };
  const spies = [
    vi.spyOn(console, "log").mockImplementation(keep("stdout")),
    vi.spyOn(console, "error").mockImplementation(keep("stderr")),
  ];
  try {
    const invocation = readInvocation(commands[0]!, ["--dir", directory], { PATH: process.env.PATH });
    return { status: await commands[0]!.run(invocation!), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function transcript(directory: string): Promise<string> {
  const { status, stdout, stderr } = await check(directory);
  const text = `exit code ${status}\n--- stdout\n${stdout}--- stderr\n${stderr}`;
  return text.replaceAll(resolve(directory), "<DIR>");
}

describe("svc check", () => {
  const projects = readdirSync(golden, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it.each(projects)("of %s says what to do, and where", async (name) => {
    const directory = join(golden, name);
    const file = join(directory, "expected.txt");
    const actual = await transcript(directory);
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(file, actual);
    expect(actual).toBe(readFileSync(file, "utf8"));
  });
});

/** A project in a directory of its own. */
function project(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-check-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const notes = "notes: { columns: { id: { type: integer, primary_key: true } } }\n";

describe("svc check of blobs in tables that keep history", () => {
  const tables = "notes: { history: 30d, columns: { id: { type: integer, primary_key: true }, b: { type: blob } } }\n";
  const rules = '[rules.notes]\nread = "public"\n';
  const d1 = { "wrangler.jsonc": '{\n  "d1_databases": [{ "binding": "DB" }]\n}\n' };

  it.each([
    ["beside a Worker with D1", d1, "", 1],
    ["beside a Worker with a libSQL server", d1, '[database]\nurl = "libsql://db.example.com"\n', 0],
    ["beside another Worker", { "wrangler.toml": 'name = "d1_databases"\n' }, "", 0],
    ["under Node", {}, "", 0],
  ])("%s", (_, files, database, warnings) => {
    const directory = project({ ...files, "svc.toml": `${database}${rules}`, "svc.schema.yaml": tables });
    const { stdout } = svc(directory, ["check", "--json"]);
    const found = JSON.parse(stdout).warnings.filter(({ path }: { path: string }) => path === "notes.columns.b");
    expect(found).toHaveLength(warnings);
  });
});

describe("svc check --json", () => {
  it("prints problems on standard output alone", () => {
    const directory = project({ "svc.toml": "\n[server]\nport = -1\n", "svc.schema.yaml": notes });
    const { status, stdout, stderr } = svc(directory, ["check", "--json"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      problems: [{ file: "svc.toml", line: 3, path: "server.port", message: "must not be under 0, got -1" }],
      warnings: [],
      lists: [],
      syncs: [],
    });
  });

  it("prints warnings, whose line is null where the file has none", () => {
    const directory = project({ "svc.toml": '[rules.notes]\nread = "public"\n', "svc.schema.yaml": notes });
    const { status, stdout, stderr } = svc(directory, ["check", "--json"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      problems: [],
      warnings: [
        {
          file: "svc.toml",
          line: null,
          path: "auth.jwt_secret_env",
          message: expect.stringContaining("the environment variable SVC_JWT_SECRET is not set"),
        },
      ],
      lists: [{ table: "notes", by: "all", ways: [], missing: [] }],
      syncs: [
        {
          table: "notes",
          keepsHistory: false,
          problem: "it keeps no history: say how long in svc.schema.yaml, as in history: 30d",
        },
      ],
    });
  });

  it("has nothing to say of a project that is right, in an environment that is", () => {
    const directory = project({ "svc.toml": '[rules.notes]\nread = "public"\n', "svc.schema.yaml": notes });
    const environment = { SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more" };
    expect(svc(directory, ["check", "--json"], environment)).toEqual({
      status: 0,
      stdout:
        '{"problems":[],"warnings":[],"lists":[{"table":"notes","by":"all","ways":[],"missing":[]}],"syncs":[{"table":"notes","keepsHistory":false,"problem":"it keeps no history: say how long in svc.schema.yaml, as in history: 30d"}]}\n',
      stderr: "",
    });
  });
});

describe("svc check of lists", () => {
  const schema = `
members:
  primary_key: [room, user]
  columns: { room: { type: integer }, user: { type: text } }
notes:
  columns: { id: { type: integer, primary_key: true }, room: { type: integer }, owner: { type: text } }
  indexes: [{ columns: [owner] }]
`;
  const rule = "row.owner = auth.id or exists(members m where m.room = row.room and m.user = auth.id)";
  const linesOf = (yaml: string, read: string) => {
    const directory = project({
      "svc.toml": `[rules.notes]\nread = "${read}"\n[rules.members]\nread = "row.user = auth.id"`,
      "svc.schema.yaml": yaml,
    });
    return svc(directory, ["check"]).stdout.split("\n").slice(2, -1);
  };

  it.each([
    ["auth.email_verified and row.owner = auth.id", "  notes: by notes.owner"],
    ["auth.email_verified and (auth.role = 'admin' or row.owner = auth.id)", "  notes: by notes.owner"],
    ["now() > 5 and row.owner = auth.id", "  notes: by notes.owner"],
    ["not auth.email_verified or row.owner = auth.id", "  notes: by notes.owner"],
  ])("judges %s as the server does", (read, line) => {
    expect(linesOf(schema, read)).toContain(line);
  });

  it("under api.require_ways a table without a way stops the start, and its schema is not applied", () => {
    const toml = `auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of this test, 32 bytes long" }
api.require_ways = true
[rules.notes]
read = "row.owner = auth.id"
[rules.members]
read = "row.user = auth.id"
`;
    const directory = project({ "svc.toml": toml, "svc.schema.yaml": schema });
    const problem =
      "svc.toml:6: rules.members.read: api.require_ways: lists of members have no way to the rows that a user may read; an index on members (user) would\n";
    expect(svc(directory, ["serve", "--port", "0"])).toMatchObject({ status: 2, stderr: problem });
    for (const command of ["build", "bootstrap"])
      expect(svc(directory, ["worker", command])).toEqual({ status: 2, stdout: "", stderr: problem });
    const refused = svc(directory, ["schema", "apply"]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("an index on members (user) would");
    const served = schema.replace(/(user: \{ type: text \} \}\n)/, "$1  indexes: [{ columns: [user] }]\n");
    writeFileSync(join(directory, "svc.schema.yaml"), served);
    expect(svc(directory, ["schema", "apply"])).toMatchObject({ status: 0 });
    expect(svc(directory, ["check"])).toMatchObject({ status: 0 });
  });

  it("names the indexes with which the rows would be reached from the caller", () => {
    expect(linesOf(schema, rule)).toEqual([
      "  members: by asking the rule of each row, which tells of the rows of others; with an index on members (user), from the caller",
      "  notes: by asking the rule of each row, which tells of the rows of others; with an index on members (user) and on notes (room), from the caller",
    ]);
    const served = schema
      .replace("{ room: { type: integer }, user: { type: text } }\n", "$&  indexes: [{ columns: [user] }]\n")
      .replace("[{ columns: [owner] }]", "[{ columns: [owner] }, { columns: [room] }]");
    expect(linesOf(served, rule)).toEqual([
      "  members: by members.user",
      "  notes: by members.user, then notes.room; or by notes.owner",
    ]);
    expect(linesOf(served, "row.owner != auth.id")[1]).toBe(
      "  notes: by asking the rule of each row, which tells of the rows of others",
    );
  });
});

describe("an exists that no index serves", () => {
  const rule = (where: string) =>
    `[rules.notes]\nread = "exists(members m where ${where})"\n[rules.members]\nread = "deny"\n`;
  const environment = { SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more" };

  it("is no warning where a table of the file cannot be made anew, as virtual ones cannot", () => {
    const directory = project({
      "svc.toml": rule("m.note = row.id"),
      "svc.schema.yaml": `${notes}members: { primary_key: [note, usr], columns: { note: { type: integer }, usr: { type: text } } }
found: { virtual: true, columns: { body: { type: text } } }
`,
    });
    const { status, stderr } = svc(directory, ["check"], environment);
    expect(status).toBe(0);
    expect(stderr).not.toContain("no index serves");
  });

  it("is judged by what the database says of its collations, once it is there", () => {
    const directory = project({ "svc.toml": rule("row.title = m.name") });
    mkdirSync(join(directory, ".svc"));
    const database = new Libsql(join(directory, ".svc/data.db"));
    database.exec("CREATE TABLE members (name TEXT COLLATE NOCASE PRIMARY KEY, plain TEXT UNIQUE)");
    database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT)");
    database.close();
    const done = { status: 0, stderr: "" };
    expect(svc(directory, ["schema", "pull", "--from", join(directory, ".svc/data.db")])).toMatchObject({
      status: 0,
    });
    expect(svc(directory, ["check"], environment)).toMatchObject(done);
    expect(svc(directory, ["schema", "apply"])).toMatchObject(done);
    expect(svc(directory, ["check"], environment)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("no index serves exists(members m …)"),
    });
    writeFileSync(join(directory, "svc.toml"), rule("m.plain = auth.id"));
    expect(svc(directory, ["check"], environment)).toMatchObject(done);
  });
});

describe("a start that fails", () => {
  const serve = ["serve", "--port", "0"];

  it("names file, line and remedy of a mistake in the files", () => {
    const directory = project({
      "svc.toml": '[rules.notes]\n\nread = "row.ide = 1"\n',
      "svc.schema.yaml": notes,
    });
    expect(svc(directory, serve)).toEqual({
      status: 2,
      stdout: "",
      stderr: [
        "svc.toml:3: rules.notes.read: line 1, column 1 of the rule: unknown column row.ide of table notes; did you mean id?",
        "    row.ide = 1",
        "    ^",
        "",
      ].join("\n"),
    });
  });

  it("names every place that holds something else, and changes nothing there", () => {
    const remedy = (name: string) => `name a directory for this alone, such as .svc/${name}`;
    const directory = project({
      "svc.toml":
        '[database]\nurl = "file:svc.schema.yaml"\n[usage]\njournal_dir = "."\n[mail]\nlog_dir = ".svc"\nfrom = 1\n',
      "svc.schema.yaml": notes,
    });
    mkdirSync(join(directory, "src"));
    const lines = [
      "svc.toml:7: mail.from: expected string, got 1",
      "svc.toml:2: database.url: svc.schema.yaml is a file of the project itself: name another, such as file:.svc/data.db",
      `svc.toml:4: usage.journal_dir: the project is in ${directory}: ${remedy("usage")}`,
      `svc.toml:6: mail.log_dir: everything that the server keeps is in .svc: ${remedy("mail")}`,
    ];
    for (const command of [serve, ["check"]]) {
      const { status, stderr } = svc(directory, command);
      expect({ status, lines: stderr.trimEnd().split("\n").sort() }).toEqual({
        status: 2,
        lines: lines.sort(),
      });
    }
    expect(readdirSync(directory).sort()).toEqual(["src", "svc.schema.yaml", "svc.toml"]);
  });

  it("names all of its surroundings that cannot be read", () => {
    const tls = '[server]\ntls_cert = "cert.pem"\ntls_key = "key.pem"\n';
    const directory = project({ "svc.toml": tls, "svc.schema.yaml": notes });
    const { status, stdout, stderr } = svc(directory, serve, { SVC_GATEWAY_URL: "example.com" });
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr.split("\n").map((line) => line.slice(0, 60))).toEqual([
      "svc.toml: auth.jwt_secret_env: the environment variable SVC_",
      "svc.toml:2: server.tls_cert: cert.pem cannot be read (ENOENT",
      "svc.toml:3: server.tls_key: key.pem cannot be read (ENOENT)",
      "environment: SVC_GATEWAY_URL: expected an absolute http(s) U",
      "",
    ]);
  });

  it.each([
    ["allow_insecure_dev_secret = true\n", "svc.toml:1: auth.dev_secret: not set, though"],
    [
      'allow_insecure_dev_secret = true\ndev_secret = "short"\n',
      "svc.toml:3: auth.dev_secret: it has 5 bytes, and a secret has at least 32: ",
    ],
    ["", "svc.toml:1: auth.jwt_secret_env: the environment variable SVC_JWT_SECRET is not set: "],
    [
      'jwt_previous_secret_env = "SVC_JWT_SECRET"\n',
      "svc.toml:2: auth.jwt_previous_secret_env: names the variable of the current secret: ",
    ],
  ])("and of what it misses in its surroundings", (auth, message) => {
    const directory = project({ "svc.toml": `[auth]\n${auth}`, "svc.schema.yaml": notes });
    const outcome = svc(directory, serve);
    expect({ ...outcome, stderr: outcome.stderr.slice(0, message.length) }).toEqual({
      status: 2,
      stdout: "",
      stderr: message,
    });
  });
});

describe("the previous secret", () => {
  const secret = "a secret of the test suite, 32 bytes and more";
  const short = "svc.toml:1: auth.jwt_previous_secret_env: SVC_JWT_PREVIOUS_SECRET has 5 bytes, and a secret has ";
  const same =
    "svc.toml:1: auth.jwt_previous_secret_env: SVC_JWT_PREVIOUS_SECRET and SVC_JWT_SECRET hold the same secret: ";
  const insecure =
    "svc.toml:1: auth.jwt_previous_secret_env: SVC_JWT_PREVIOUS_SECRET is set, though auth.allow_insecure_dev_secret is: ";
  const development = `allow_insecure_dev_secret = true\ndev_secret = "${secret}"\n`;

  it.each([
    ["too short", "", { SVC_JWT_SECRET: secret, SVC_JWT_PREVIOUS_SECRET: "short" }, [short]],
    ["the current one", "", { SVC_JWT_SECRET: secret, SVC_JWT_PREVIOUS_SECRET: secret }, [same]],
    ["beside the development secret", development, { SVC_JWT_PREVIOUS_SECRET: `${secret}!` }, [insecure]],
    [
      "all of that at once, and other things are wrong, too",
      development,
      { SVC_JWT_SECRET: "short", SVC_JWT_PREVIOUS_SECRET: "short", SVC_GATEWAY_URL: "x" },
      [
        "svc.toml:1: auth.jwt_secret_env: SVC_JWT_SECRET has 5 bytes, and a secret has ",
        short,
        same,
        insecure,
        "environment: SVC_GATEWAY_URL: ",
      ],
    ],
  ])("that is %s stops the start", (_, auth, environment, problems) => {
    const directory = project({ "svc.toml": `[auth]\n${auth}`, "svc.schema.yaml": notes });
    const { status, stdout, stderr } = svc(directory, ["serve", "--port", "0"], environment);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    const lines = stderr.trimEnd().split("\n");
    expect(lines.map((line, i) => line.slice(0, problems[i]?.length))).toEqual(problems);
  });

  it.each([undefined, ""])("is none where its variable is %j", (previous) => {
    const directory = project({ "svc.toml": "", "svc.schema.yaml": notes });
    const environment = {
      SVC_JWT_SECRET: secret,
      ...(previous !== undefined && { SVC_JWT_PREVIOUS_SECRET: previous }),
    };
    expect(svc(directory, ["check"], environment).stderr).not.toContain("jwt_previous_secret_env");
  });
});

describe("a start", () => {
  const environment = { SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more" };

  /** Standard error of a start that ends because its port is taken. */
  async function startedOn(directory: string): Promise<string> {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const { status, stderr } = svc(directory, ["serve", "--port", String(port)], environment);
    expect(status).toBe(1);
    expect(stderr).toContain("EADDRINUSE");
    return stderr;
  }

  it("trusts no address that nobody has to confirm", () => {
    const rules = [
      "[rules.notes]",
      'read = "exists(members m where m.email = auth.email)"',
      "update = \"auth.email_verified and auth.email = 'ada@example.com'\"",
      "delete = \"auth.email is not null and (auth.role = 'admin' or not (auth.email_verified or auth.email = 'a@b.c'))\"",
      "[rules.notes.columns.id]",
      "read = \"auth.email = 'ada@example.com'\"",
      "[rules.members]",
      'read = "public"',
      "",
    ].join("\n");
    const members = "members: { columns: { email: { type: text, primary_key: true } } }";
    const warningsWith = (settings: string) => {
      const schema = `${settings}\n${notes}\n${members}\n`;
      const { stderr } = svc(project({ "svc.toml": rules, "svc.schema.yaml": schema }), ["check"], environment);
      return stderr.split("\n").flatMap((line) => /^warning: (svc.toml:\d+: \S+) auth.email may/.exec(line)?.[1] ?? []);
    };
    const expected = [
      "svc.toml:2: rules.notes.read:",
      "svc.toml:4: rules.notes.delete:",
      "svc.toml:6: rules.notes.columns.id.read:",
    ];
    expect(warningsWith("")).toEqual(expected);
    expect(warningsWith("$auth: { email_verification: { required: true } }")).toEqual([]);
    expect(warningsWith("$auth: { registration: invite }")).toEqual([]);
  });

  it("warns of comparisons that decide nothing, as check does, and goes on", async () => {
    const rules = ['[rules.notes]\nread = "row.id = null"', "delete = \"auth.role = 'editor'\"", ""].join("\n");
    const directory = project({ "svc.toml": rules, "svc.schema.yaml": notes });
    const expected = [
      "warning: svc.toml:2: rules.notes.read: row.id = null is never TRUE: write row.id is null",
      "warning: svc.toml:3: rules.notes.delete: auth.role is 'user' or 'admin', never 'editor'",
    ];
    expect(svc(directory, ["check"], environment)).toEqual({
      status: 0,
      stdout: "no problems\n",
      stderr: `${expected.join("\n")}\n`,
    });
    expect((await startedOn(directory)).split("\n").slice(0, 2)).toEqual(expected);
  });

  it("warns once of an exists that no index serves, as check does, and no longer when one does", async () => {
    const members = (index: string) =>
      `members: { columns: { id: { type: integer, primary_key: true }, usr: { type: text } }${index} }\n`;
    const directory = project({
      "svc.toml": `[rules.notes]
read = "exists(members m where m.usr = auth.id) or exists(members m where m.usr = auth.id)"
[rules.members]
read = "deny"
`,
      "svc.schema.yaml": notes + members(""),
    });
    const { stderr } = svc(directory, ["check"], environment);
    expect(stderr).toBe(
      "warning: svc.toml:2: rules.notes.read: no index serves exists(members m …): it reads all of members for each row; add indexes: [{ columns: [usr] }] to members\n",
    );
    expect((await startedOn(directory)).split(/^/m).filter((line) => line.includes("no index"))).toEqual([stderr]);
    writeFileSync(join(directory, "svc.schema.yaml"), notes + members(", indexes: [{ columns: [usr] }]"));
    expect(await startedOn(directory)).not.toContain("no index");
  });
});
