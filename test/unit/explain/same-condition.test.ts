import { expect, test } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Column } from "../../../src/project/model.js";
import { parseConfig } from "../../../src/project/parse-config.js";
import { parseRules } from "../../../src/project/parse-rules.js";
import type { RuleAction } from "../../../src/rules/ast.js";
import { specialiseForRole } from "../../../src/rules/specialise.js";
import { applySafe } from "../../../src/schema/apply.js";
import { loadSchemaInForce } from "../../../src/schema/in-force.js";
import { deleteStatement, updateStatement } from "../../../src/tables/sql/change.js";
import { rowCreated, rowOfTable, rowRead, rowUpdated } from "../../../src/tables/sql/explained.js";
import { insertStatement } from "../../../src/tables/sql/insert.js";
import { getStatement } from "../../../src/tables/sql/row.js";
import type { Values } from "../../../src/tables/sql/row-key.js";
import { Slot } from "../../../src/tables/sql-text/fragment.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text, default: { sql: "hex(randomblob(2))" } }
    grp: { type: text }
    level: { type: integer, default: 3 }
members:
  primary_key: [grp, user]
  columns: { grp: { type: text }, user: { type: text } }
`;
const member = (of: string) => `exists(members m where m.grp = ${of}.grp and m.user = auth.id)`;
const config = `
[rules.notes]
read = "row.owner = auth.id or ${member("row")}"
create = "new.owner = auth.id and new.level < 5 and ${member("new")}"
update = "row.owner = auth.id and new.level >= old.level and ${member("row")}"
delete = "row.owner = auth.id and not ${member("row")}"
`;

test("an explanation asks what stands in the call's own statement, letter for letter", async () => {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  await applySafe(database, schema, { now: 0 });
  const inForce = (await loadSchemaInForce(database))!;
  const { catalog } = inForce;
  const table = inForce.schema.tables.get("notes")!;
  const { rules, problems } = parseRules(parseConfig(config).config!, inForce.schema);
  expect(problems).toEqual([]);
  const ruleOf = (action: RuleAction) => specialiseForRole(rules.get(table.name)![action], "user")!;
  const of = (...names: readonly string[]): Values =>
    new Map(names.map((name): [Column, Slot] => [table.columns.get(name)!, new Slot(name)]));
  const returned = { rule: ruleOf("read"), full: [...table.columns.values()], minimal: [], preview: null };
  const key = of("id");
  const pairs = [
    [rowRead(table, key, ruleOf("read"), catalog), getStatement(table, key, ruleOf("read"), [], catalog).statement],
    [
      rowCreated(table, of("grp"), ruleOf("create"), catalog),
      insertStatement(table, of("grp"), ruleOf("create"), returned, catalog).statement,
    ],
    [
      rowUpdated(table, key, of("grp", "level"), ruleOf("update"), catalog),
      updateStatement({ table, key, patch: of("grp", "level"), rule: ruleOf("update"), returned, catalog }).statement,
    ],
    [
      rowOfTable(table, key, ruleOf("delete"), catalog),
      deleteStatement(table, key, ruleOf("delete"), catalog).statement,
    ],
  ] as const;
  for (const [{ admitted }, { text }] of pairs) {
    const asked = admitted.condition.text;
    // Of a read the whole statement is asked.
    expect(asked.includes(text) || text.includes(asked), `${asked}\n${text}`).toBe(true);
  }
  await database.close();
});
