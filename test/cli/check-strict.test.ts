import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Outcome, svc } from "./svc.js";

const notes = "notes: { columns: { id: { type: integer, primary_key: true } } }\n";
const rules = '[rules.notes]\nread = "public"\n';
const secret = { SVC_JWT_SECRET: "a secret of the test suite, 32 bytes and more" };

/** A project in a directory of its own. */
function project(toml: string, yaml = notes): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-strict-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  write(directory, toml, yaml);
  return directory;
}

function write(directory: string, toml: string, yaml = notes): void {
  writeFileSync(join(directory, "svc.toml"), `${toml}${rules}`);
  writeFileSync(join(directory, "svc.schema.yaml"), yaml);
}

const check = (directory: string, environment = {}) => svc(["check", "--dir", directory], "", environment);
const strict = (directory: string, environment = {}) => svc(["check", "--strict", "--dir", directory], "", environment);
const start = (directory: string, environment = {}) =>
  svc(["serve", "--port", "0", "--dir", directory], "", environment);
const linesOf = ({ stderr }: Outcome) => stderr.split("\n").filter((line) => line !== "");

/** `check` warns of each of these, and `check --strict` fails by them. */
function expectFound(directory: string, environment: object, messages: readonly string[]): void {
  const warned = check(directory, environment);
  expect(warned.status).toBe(0);
  expect(linesOf(warned)).toEqual(messages.map((message) => expect.stringContaining(`warning: ${message}`)));
  const failed = strict(directory, environment);
  expect({ status: failed.status, stdout: failed.stdout }).toEqual({ status: 2, stdout: "" });
  expect(linesOf(failed).map((line, i) => line.slice(0, messages[i]?.length))).toEqual(messages);
}

describe("svc check --strict", () => {
  it("has nothing to say of a project that is right, in an environment that is", () => {
    const directory = project("");
    expect(strict(directory, secret)).toEqual(check(directory, secret));
    expect(strict(directory, secret)).toMatchObject({ status: 0, stderr: "" });
  });

  it("names missing and short secrets, and what the *_env keys of the chosen transports name", () => {
    const http = '[mail]\ntransport = "http"\nhttp_url = "https://mail.example.com"\nhttp_token_env = "MAIL_KEY"\n';
    const server = '[database]\nurl = "libsql://db.example.com"\nauth_token_env = "DB_KEY"\n';
    expectFound(project(http + server), { SVC_JWT_SECRET: "short", SVC_PLATFORM_SECRETS_KEY: "short" }, [
      "svc.toml: auth.jwt_secret_env: SVC_JWT_SECRET has 5 bytes, and a secret has at least 32",
      "svc.toml:4: mail.http_token_env: the environment variable MAIL_KEY is not set",
      "svc.toml:7: database.auth_token_env: the environment variable DB_KEY is not set: it holds the token for libsql:",
      "environment: SVC_PLATFORM_SECRETS_KEY: expected 32 bytes in base64",
    ]);
    expectFound(project('[mail]\ntransport = "smtp"\n'), {}, [
      "svc.toml: auth.jwt_secret_env: the environment variable SVC_JWT_SECRET is not set",
      "svc.toml:1: mail.smtp_url_env: the environment variable SVC_SMTP_URL is not set",
    ]);
    const local = project('[database]\nurl = "http://127.0.0.1:9000"\n');
    expect(strict(local, secret)).toMatchObject({ status: 0, stderr: "" });
  });

  it("fails on the other warnings, too, and prints them as problems with --json", () => {
    const directory = project("", `${notes}things: { columns: { id: { type: integer, primary_key: true } } }\n`);
    expectFound(directory, secret, ["svc.schema.yaml:2: things: has no rules"]);
    const { status, stdout } = svc(["check", "--strict", "--json", "--dir", directory], "", secret);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ path: "things" }], warnings: [] });
  });
});

describe("what a start in this environment fails by", () => {
  it("a port that is none", () => {
    const environment = { ...secret, PORT: "80a" };
    const message = "environment: PORT: expected a number from 0 to 65535, got 80a";
    const directory = project("");
    expectFound(directory, environment, [message]);
    expect(svc(["serve", "--dir", directory], "", environment)).toEqual({
      status: 2,
      stdout: "",
      stderr: `${message}\n`,
    });
  });

  it("an address of the console that is the server's own", () => {
    const directory = project('[server]\nport = 18787\n[console]\nlisten = "127.0.0.1:18787"\n');
    const message = "svc.toml:4: console.listen: the server itself listens at 127.0.0.1:18787";
    expectFound(directory, secret, [message]);
    expect(svc(["serve", "--dir", directory], "", secret)).toEqual({ status: 2, stdout: "", stderr: `${message}\n` });
  });

  it("files that are no certificate and key", () => {
    const directory = project('[server]\ntls_cert = "cert.pem"\ntls_key = "key.pem"\n');
    for (const file of ["cert.pem", "key.pem"]) writeFileSync(join(directory, file), "no certificate\n");
    const message =
      "svc.toml:2: server.tls_cert: cert.pem and key.pem are not a certificate and its key, both in PEM (";
    expectFound(directory, secret, [message]);
    const started = start(directory, secret);
    expect(started).toMatchObject({ status: 2, stdout: "" });
    expect(started.stderr).toContain(message);
  });

  it("directories that are none, or cannot be written", () => {
    const directory = project('[usage]\njournal_dir = "file/usage"\n[mail]\nlog_dir = "closed/mail"\n');
    writeFileSync(join(directory, "file"), "");
    mkdirSync(join(directory, "closed"));
    chmodSync(join(directory, "closed"), 0o500);
    const closed = `svc.toml:4: mail.log_dir: ${join(directory, "closed")} cannot be written by this user`;
    expectFound(directory, secret, [
      `svc.toml:2: usage.journal_dir: ${join(directory, "file")} is not a directory`,
      // Nothing is closed to root.
      ...(process.getuid?.() === 0 ? [] : [closed]),
    ]);
  });

  it("a database that is none", () => {
    const directory = project("");
    mkdirSync(join(directory, ".svc"));
    const file = join(directory, ".svc/data.db");
    writeFileSync(file, "no database ".repeat(100));
    expectFound(directory, secret, [`svc.toml: database.url: the database ${file} cannot be opened`]);
    expect(start(directory, secret)).toMatchObject({ status: 1, stdout: "" });
  });

  it("a database of a later release", () => {
    const directory = project("");
    expect(svc(["schema", "apply", "--dir", directory]).status).toBe(0);
    const database = new Libsql(join(directory, ".svc/data.db"));
    database.exec("INSERT INTO _migrations SELECT version + 100, '99.0.0', applied_at FROM _migrations LIMIT 1");
    database.close();
    expectFound(directory, secret, ["svc.toml: database.url: "]);
    expect(start(directory, secret)).toMatchObject({ status: 2, stdout: "" });
  });

  it("rules that fit the file's schema, which waits, and not the one in force", () => {
    const directory = project("");
    expect(svc(["schema", "apply", "--dir", directory]).status).toBe(0);
    const things = "things: { columns: { id: { type: integer, primary_key: true } } }\n";
    writeFileSync(join(directory, "svc.toml"), '[rules.things]\nread = "public"\n');
    writeFileSync(join(directory, "svc.schema.yaml"), things);
    expectFound(directory, secret, [
      "svc.schema.yaml: not in force in the database, as 1 of its steps waits for you: see svc schema plan",
      "svc.toml:1: rules.things: a start fails until svc schema apply: unknown table things; there is only notes",
    ]);
    expect(start(directory, secret)).toMatchObject({ status: 2, stdout: "" });
    // Steps that a start applies are no reason to warn.
    write(directory, '[rules.things]\nread = "public"\n', `${notes}${things}`);
    expect(check(directory, secret)).toMatchObject({ status: 0, stderr: "" });
    write(directory, '[schema]\nauto_apply = false\n[rules.things]\nread = "public"\n', `${notes}${things}`);
    expect(linesOf(check(directory, secret))).toHaveLength(2);
  });
});
