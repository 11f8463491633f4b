import { type Caller, longWorkFor, principalOf } from "../auth/callers/principal.js";
import { parseQueryString } from "../http/query-string.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import { Tally } from "../metering/tally.js";
import { Memo } from "../platform/memo.js";
import type { Column } from "../project/model.js";
import { plainTable } from "../project/plain-table.js";
import { TRUE } from "../rules/fold.js";
import { plainCatalogTable } from "../schema/catalog.js";
import { nothingUnsupported } from "../schema/physical/unsupported.js";
import type { ColumnType } from "../sqlite/column-type.js";
import { systemColumnName, systemTableName } from "../sqlite/names.js";
import { BriefTries } from "../tables/execution/brief-tries.js";
import { listResponse } from "../tables/list/list-response.js";
import type { ListAccess, PreparedList } from "../tables/list/prepare-list.js";
import { noPlanChecks } from "../tables/plan/plan-check.js";
import { systemPage } from "../wire/pages.js";
import type { JsonSchema, WireSchema } from "../wire/schema.js";
import { inQuery, readErrors } from "./endpoint.js";
import type { AdminServices } from "./services.js";

/**
 * Makes a list that administrators may read of one of the server's own tables, such as that of the users. It takes the
 * query parameters and cursors of lists of the project's tables. The table has to be WITHOUT ROWID. `columns` are the
 * columns that are shown, with their types; the first is the primary key, a text. They are the members of `Item`, the
 * type of an item of the list.
 */
export function systemList<Item>(name: string, columns: Readonly<Record<keyof Item & string, ColumnType>>): ListAccess {
  const shown = new Map(Object.entries<ColumnType>(columns).map(([column, type]) => [column, columnOf(column, type)]));
  const [key] = shown.values();
  const table = plainTable(systemTableName(name), shown, [key!.name]);
  return {
    // With `key: null` the SQL that is made for a request is not kept for later ones, because these lists are rarely
    // read.
    key: null,
    table,
    readable: table.columns,
    rule: TRUE,
    preview: null,
    catalog: {
      tables: new Map([[table.name, plainCatalogTable(table)]]),
      // The number of bytes in a page of the list is not limited, because the rows are small.
      answerBytesMax: Number.MAX_SAFE_INTEGER,
      pageBytesMax: Number.MAX_SAFE_INTEGER,
      imageBytesMax: null,
      statementsMax: null,
      unsupported: nothingUnsupported,
      hasMixedTexts: false,
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
    managed: null,
    renamedFrom: null,
  };
}

/**
 * Makes the parameters, the answer and the errors of an endpoint that answers such a list. `item` is the schema of one
 * item.
 */
export const systemListOf = (item: WireSchema) => ({
  parameters: [
    ...["where", "filter"].map((name) => ({
      ...inQuery(name, { type: "object" }),
      style: "deepObject",
      explode: true,
    })),
    ...["select", "sort", "limit", "offset", "cursor"].map((name) => inQuery(name)),
  ] satisfies JsonSchema[],
  answers: { 200: systemPage(item) },
  errors: readErrors,
});

/**
 * What a list asks for the tables whose rows it could add by following references. It finds none, as the server's own
 * tables have no references.
 */
const noTables = { find: () => null };
const nothingPrepared = new Memo<PreparedList | Refusal | null>(0);

/** Answers a request for a list that `systemList` has made. What the request costs is not recorded. */
export async function listSystemRows(
  request: Request,
  access: ListAccess,
  { platform, config, cursors }: AdminServices,
  caller: Caller,
): Promise<Response | Refusal> {
  const parameters = parseQueryString(request.url);
  if (isRefusal(parameters)) return parameters;
  const { database, clock } = platform;
  const source = {
    access,
    scanLimit: config.api.scan_limit,
    metered: false,
    prepared: nothingPrepared,
    // `BriefTries` remembers which tables were slow to read. With a new one for each request nothing is remembered,
    // because the rows of these lists are small.
    briefTries: new BriefTries(clock),
    tables: noTables,
  };
  const execution = {
    database,
    tally: new Tally(),
    plans: noPlanChecks,
    values: new Map(),
    nowMs: clock.now(),
    longWork: () => longWorkFor(caller, config.api),
  };
  const binding = { principal: principalOf(caller), table: access.table.name, schemaVersion: 0 };
  return listResponse(parameters, source, execution, { ...cursors, binding }, async () => "");
}
