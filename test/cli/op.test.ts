import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { svc as commandLine } from "./svc.js";

const schema = `
counters: { columns: { id: { type: text, primary_key: true }, n: { type: integer, not_null: true } } }
$operations:
  count:
    params: { id: text, by: { type: integer, default: 1, check: "by > 0" } }
    allow: "auth.role = 'admin'"
    steps:
      - { sql: "insert into counters (id, n) values (:id, :by) on conflict (id) do update set n = n + excluded.n where n < 5", expect: 1 }
      - { sql: "select n from counters where id = :id", returns: one }
`;

test("svc op runs an operation on the project's database, as a key or as a user", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-op-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.toml"), "");
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  const svc = (input: string, ...args: readonly string[]) => commandLine([...args, "--dir", directory], input);
  const op = (...args: readonly string[]) => svc("", "op", ...args);
  expect(svc("", "schema", "apply")).toMatchObject({ status: 0 });
  for (const [email, role] of [
    ["root@example.com", "admin"],
    ["ada@example.com", "user"],
  ] as const)
    expect(
      svc("correct horse", "admin", "create-user", "--email", email, "--role", role, "--password-stdin"),
    ).toMatchObject({ status: 0 });

  expect(op("count", "--json", '{"id":"a"}')).toEqual({ status: 0, stdout: '{"n":1}\n', stderr: "" });
  const asRoot = op("count", "--json", '{"id":"a","by":4}', "--as", "root@example.com");
  expect(asRoot).toEqual({ status: 0, stdout: '{"n":5}\n', stderr: "" });
  const refused: readonly (readonly [args: readonly string[], status: number, words: string])[] = [
    [["count", "--json", '{"id":"a"}', "--as", "ada@example.com"], 1, "the rule of this operation"],
    [["count", "--json", '{"id":"a"}', "--as", "anonymous"], 1, "sign in"],
    [["count", "--json", '{"id":"a"}', "--as", "eve@example.com"], 1, "there is no user eve@example.com"],
    [["count", "--json", '{"id":"a"}'], 1, "step 0: a step of the operation did not find what it expects"],
    [["count", "--json", '{"id":"a","by":0}'], 1, "by: the value breaks a check"],
    [["count"], 1, "parameter id is missing"],
    [["counts"], 1, "there is no operation counts; did you mean count?"],
    [["count", "--json", "["], 2, "--json: "],
    [["count", "--json", "[]"], 2, "--json: expected a JSON object"],
    [[], 2, "expected NAME"],
  ];
  for (const [args, status, words] of refused) {
    const outcome = op(...args);
    expect(outcome).toMatchObject({ status, stdout: "" });
    expect(outcome.stderr).toContain(words);
  }
});
