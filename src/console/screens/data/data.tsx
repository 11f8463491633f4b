import { useState } from "preact/hooks";
import { go, hrefOf, route } from "../../app/route.js";
import { callerOf, callerParameters } from "../../callers/caller-parameters.js";
import { type GridQuery, queryOf, queryParameters } from "../../grid/list-query.js";
import { Screen } from "../../parts/screen.js";
import { useLoaded } from "../../parts/use-loaded.js";
import { Empty, View } from "../../parts/view.js";
import type { As } from "../../server/as.js";
import { loadSchema } from "../../server/schema.js";
import type { SchemaShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";
import { TableList } from "./table-list.js";
import { TableRows } from "./table-rows.js";

/** The rows of the tables. */
export default function Data() {
  const schema = useLoaded(loadSchema, []);
  return (
    <Screen title={texts.nav.data} isFull>
      <View of={schema}>{(found) => <Tables schema={found} onReload={schema.reload} />}</View>
    </Screen>
  );
}

function Tables({ schema, onReload }: { readonly schema: SchemaShape; readonly onReload: () => void }) {
  const { rest, parameters } = route.value;
  const name = rest[0] ?? schema.tables[0]?.name;
  const table = schema.tables.find((each) => each.name === name);
  const [query, as] = [queryOf(parameters), callerOf(parameters)];
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
      <TableList tables={schema.tables} current={name ?? null} as={as} />
      {table === undefined ? (
        <Empty icon="data" title={texts.data.unknownTable(name ?? "")} />
      ) : (
        <TableRows
          key={table.name}
          schema={schema}
          table={table}
          query={query}
          as={as}
          onQuery={(next) => goTo(next, as)}
          onAs={(next) => goTo(query, next)}
          onReload={onReload}
        />
      )}
    </div>
  );
}
