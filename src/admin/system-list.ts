import { type Caller, principalOf } from "../auth/principal.js";
import type { Refusal } from "../http/refusal.js";
import { Tally } from "../metering/tally.js";
import { Memo } from "../platform/memo.js";
import type { Column, Table } from "../project/model.js";
import type { Expression } from "../rules/ast.js";
import type { Catalog } from "../schema/catalog.js";
import { noTriggers } from "../schema/triggers-reached.js";
import { nothingUnsupported } from "../schema/unsupported.js";
import type { Affinity, ColumnType } from "../sqlite/column-type.js";
import { systemColumnName, systemTableName } from "../sqlite/names.js";
import { type ListResponseContext, listResponse } from "../tables/list/list-response.js";
import { noPlanChecks } from "../tables/plan-check.js";
import type { AdminServices } from "./services.js";

/** A table of the server's own as administrators list it: with the parameters and cursors of specification 4.3. */
export interface SystemList {
  readonly table: Table;
  readonly catalog: Catalog;
}

/** Of a table WITHOUT ROWID. `columns` are those that may be shown; the first is the primary key, a text. */
export function systemList(name: string, columns: Readonly<Record<string, ColumnType>>): SystemList {
  const tableName = systemTableName(name);
  const entries = Object.entries(columns).map(([key, type]) => [key, columnOf(key, type)] as const);
  return {
    table: {
      name: tableName,
      columns: new Map(entries),
      primaryKey: [entries[0]![1].name],
      unique: [],
      indexes: [],
      strict: true,
      virtual: false,
      renamedFrom: null,
    },
    catalog: {
      // Rows of the server's own are small.
      answerBytesMax: Number.MAX_SAFE_INTEGER,
      unsupported: nothingUnsupported,
      hasMixedTexts: false,
      tables: new Map([
        [
          tableName,
          {
            rowid: null,
            affinities: new Map<string, Affinity>(),
            mixedTexts: new Map<string, Affinity>(),
            exactColumns: new Set<string>(),
            hasOwnersSql: false,
            checks: [],
            foreignKeys: [],
            collations: new Map<string, string>(),
            indexes: [
              {
                name: "",
                columns: [{ name: entries[0]![1].name, descending: false }],
                unique: true,
                isTable: true,
              },
            ],
            triggers: { insert: noTriggers, update: noTriggers, delete: noTriggers },
          },
        ],
      ]),
    },
  };
}

function columnOf(name: string, type: ColumnType): Column {
  return {
    name: systemColumnName(name),
    type,
    notNull: false,
    default: null,
    check: null,
    references: null,
    renamedFrom: null,
  };
}

/** The console asks now and then. */
const noMemo = new Memo<never>(0);

const everyRow: Expression = { kind: "literal", value: true };

/** GET of a list, cursors included. */
export function listSystemRows(
  request: Request,
  { table, catalog }: SystemList,
  { platform, config, cursors }: AdminServices,
  caller: Caller,
): Promise<Response | Refusal> {
  const { database, clock } = platform;
  const context: ListResponseContext = {
    database,
    table,
    catalog,
    access: {
      key: null,
      rule: everyRow,
      readRule: everyRow,
      readable: table.columns,
      mayWrite: () => false,
      writeOnlyKey: false,
    },
    scanLimit: config.api.scan_limit,
    metered: false,
    attempt: { succeed: async () => "" },
    tally: new Tally(),
    plans: noPlanChecks,
    lists: noMemo,
    given: new Map(),
    cursors,
    nowMs: clock.now(),
  };
  return listResponse(request, context, {
    principal: principalOf(caller),
    table: table.name,
    schemaVersion: 0,
  });
}
