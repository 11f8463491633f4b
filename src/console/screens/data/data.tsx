import type { SchemaTable, ServedSchema } from "../../../wire/schema-in-force.js";
import { callerFrom, callerParameters } from "../../callers/caller-parameters.js";
import { type GridQuery, queryOf, queryParameters } from "../../grid/list-query.js";
import { Badge } from "../../parts/badge.js";
import { Empty, LoadedView } from "../../parts/loaded-view.js";
import { Screen } from "../../parts/screen.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { go, hrefOf, route } from "../../route.js";
import type { As } from "../../server/as.js";
import { loadSchema } from "../../server/schema.js";
import { texts } from "../../texts.js";
import { TableList } from "./table-list.js";
import { TableRows } from "./table-rows.js";

/** The rows of the tables. */
export default function Data() {
  const schema = useLoaded(loadSchema, []);
  const table = schema.value === null ? undefined : shownTable(schema.value);
  return (
    <Screen title={table?.name ?? texts.nav.data} more={table && <TableFacts table={table} />} isFull>
      <LoadedView of={schema}>{(found) => <Tables schema={found} />}</LoadedView>
    </Screen>
  );
}

/** The table that the address names, or else the first one. */
function shownTable({ tables }: ServedSchema): SchemaTable | undefined {
  const named = route.value.rest[0];
  return named === undefined ? tables[0] : tables.find(({ name }) => name === named);
}

function Tables({ schema }: { readonly schema: ServedSchema }) {
  const { rest, parameters } = route.value;
  const table = shownTable(schema);
  const [query, as] = [queryOf(parameters), callerFrom(parameters)];
  const goTo = (next: GridQuery, nextAs: As | null) => {
    const all = queryParameters(next);
    for (const [key, value] of Object.entries(callerParameters(nextAs))) all.set(key, value);
    go(hrefOf("data", [table!.name], all));
  };
  if (schema.tables.length === 0)
    return (
      <Empty icon="schema" title={texts.data.noTables}>
        <p>{texts.data.noTablesHelp}</p>
        <a class="button main" href={hrefOf("schema", ["edit"])}>
          {texts.data.makeTable}
        </a>
      </Empty>
    );
  return (
    <div class="data">
      <TableList tables={schema.tables} current={table?.name ?? null} as={as} />
      {table === undefined ? (
        <Empty icon="data" title={texts.data.unknownTable(rest[0] ?? "")} />
      ) : (
        <TableRows
          key={table.name}
          table={table}
          query={query}
          as={as}
          onQuery={(next) => goTo(next, as)}
          onAs={(next) => goTo(query, next)}
        />
      )}
    </div>
  );
}

function TableFacts({ table }: { readonly table: SchemaTable }) {
  const { name, history, kind, rows_writable: isWritable } = table;
  return (
    <>
      {history !== "none" && <Badge kind="accent">{texts.schema.history(history)}</Badge>}
      {(kind === "virtual" || !isWritable) && <Badge kind="warn">{texts.data.readOnly}</Badge>}
      <a class="small" href={hrefOf("schema", ["tables", name])}>
        {texts.nav.schema}
      </a>
    </>
  );
}
