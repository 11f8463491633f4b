import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, it, onTestFinished } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import type { Explanation } from "../../../src/wire/explanation.js";
import { client, dataOf } from "../../support/client.js";
import { member } from "../../support/people.js";
import { serve } from "../../support/server.js";

/** Tables of another program: values without a type, a collation, a key of either type. */
const ddl = `
CREATE TABLE notes (code VARCHAR(10) PRIMARY KEY, owner NUMERIC, kind TEXT COLLATE NOCASE, body);
CREATE TABLE members (owner, name TEXT);
INSERT INTO notes VALUES ('7', 12, 'Open', 1), ('x', '12.0', 'closed', 'a'), ('08', 'ada', NULL, x'00');
INSERT INTO members VALUES (12, 'ada'), ('ada', 'ADA');
`;
const config = `
[rules.notes]
read = "row.owner = '12' or row.kind = 'OPEN'"
create = "new.kind in ('open', 'closed') and new.owner != '12'"
update = "row.kind = 'open' or new.kind = 'CLOSED' or exists(members m where m.owner = old.owner and m.name = auth.id)"
delete = "row.owner = auth.id and row.kind is null"
columns.code.write = "public"
`;

it("tables of another program are explained as they are served", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-explain-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "data.db");
  const legacy = new Libsql(path);
  legacy.exec(ddl);
  legacy.close();
  const opened = openLibsql({ path, synchronous: "normal", commandLine: true });
  const { text } = await pullSchema(opened);
  await opened.close();
  const server = await serve({ schema: text, config, path });
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const ada = client(server, (await member(server, "ada")).bearer);
  const keys = ["7", "x", "08", "none"];
  const values = [{ kind: "OPEN" }, { kind: "closed", owner: "ada" }, { owner: "bob" }, { body: "AAE=" }];
  const calls = [
    ...keys.map((key) => ["read", { key }, () => ada.get(`/api/notes/${key}`)] as const),
    ...values.map(
      (each, i) =>
        [
          "create",
          { values: { code: `n${i}`, ...each } },
          () => ada.post("/api/notes", { code: `n${i}`, ...each }),
        ] as const,
    ),
    ...keys.flatMap((key) =>
      values.map((each) => ["update", { key, values: each }, () => ada.patch(`/api/notes/${key}`, each)] as const),
    ),
    ...keys.map((key) => ["delete", { key }, () => ada.delete(`/api/notes/${key}`)] as const),
  ];
  const seen = new Set<number>();
  for (const [action, question, call] of calls) {
    const body = { as: { user: "ada" }, action, table: "notes", ...question };
    const asked = await root.post("/admin/api/explain", body);
    const { allowed, refusal, terms } = dataOf<Explanation>(asked);
    const answer = await call();
    seen.add(answer.status);
    const said = allowed ? [200, 201] : [refusal!.status];
    expect(said, `${JSON.stringify(body)} ${answer.text}`).toContain(answer.status);
    if (refusal?.status !== 404) expect(terms.filter(({ unfinished }) => unfinished)).toEqual([]);
  }
  expect([...seen].sort()).toEqual([200, 201, 403, 404]);
  const list = await root.post("/admin/api/explain", {
    as: { user: "ada" },
    action: "read",
    table: "notes",
    query: { where: { kind: "open" } },
  });
  const { meta } = (await ada.get("/api/notes?where[kind]=open")).body as { meta: { total: number } };
  expect(dataOf<Explanation>(list).counts!.allowed).toBe(meta.total);
});
