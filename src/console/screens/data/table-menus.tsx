import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import type { GridQuery } from "../../grid/list-query.js";
import { csvOf, jsonOf } from "../../grid/rows-as-text.js";
import { listRequestOf } from "../../grid/use-rows.js";
import { Button } from "../../parts/button.js";
import { Checkbox } from "../../parts/field.js";
import { Menu } from "../../parts/menu.js";
import { notify } from "../../parts/notify.js";
import { saveFile } from "../../parts/save-file.js";
import type { As } from "../../server/as.js";
import type { TableRow } from "../../server/table-row.js";
import { clientTable } from "../../server/tables.js";
import { texts } from "../../texts.js";

interface ColumnsMenuProps {
  readonly table: SchemaTable;
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (hidden: ReadonlySet<string>) => void;
}

/** Checkboxes for the columns that the grid shows. */
export function ColumnsMenu({ table, hidden, onChange }: ColumnsMenuProps) {
  const change = (name: string, isShown: boolean) => {
    const next = new Set(hidden);
    if (isShown) next.delete(name);
    else if (next.size + 1 < table.columns.length) next.add(name);
    onChange(next);
  };
  return (
    <Menu icon="columns" label={texts.data.columns}>
      {() => (
        <fieldset class="checks">
          <legend>{texts.data.columns}</legend>
          {table.columns.map(({ name }) => (
            <Checkbox
              key={name}
              label={name}
              isChecked={!hidden.has(name)}
              onChange={(isShown) => change(name, isShown)}
            />
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

interface DownloadMenuProps {
  readonly table: SchemaTable;
  readonly columns: readonly SchemaColumn[];
  readonly query: GridQuery;
  readonly as: As | null;
}

const downloadedRowsMax = 100_000;

/** Saves up to about 100,000 rows that the query finds as a CSV or JSON file, with whole values. */
export function DownloadMenu({ table, columns, query, as }: DownloadMenuProps) {
  const names = columns.map(({ name }) => name);
  const load = async (): Promise<readonly TableRow[]> => {
    const asked = listRequestOf(query, table);
    if ("wrong" in asked) return [];
    const rows: TableRow[] = [];
    const list = { ...asked.list, select: names, limit: 1000, total: "none" } as object;
    for await (const page of clientTable(table.name, { as }).pages(list)) {
      for (const row of page.data) rows.push(row);
      if (rows.length >= downloadedRowsMax) break;
    }
    if (rows.length >= downloadedRowsMax) notify(texts.data.downloadCut(downloadedRowsMax));
    return rows;
  };
  const save = async (kind: "csv" | "json", close: () => void) => {
    const rows = await load();
    if (kind === "csv") saveFile(`${table.name}.csv`, "text/csv", csvOf(names, rows));
    else saveFile(`${table.name}.json`, "application/json", jsonOf(rows));
    close();
  };
  return (
    <Menu icon="download" label={texts.data.download}>
      {(close) => (
        <div class="menu-items">
          <Button kind="quiet" onPress={() => save("csv", close)}>
            {texts.data.asCsv}
          </Button>
          <Button kind="quiet" onPress={() => save("json", close)}>
            {texts.data.asJson}
          </Button>
          <p class="hint">{texts.data.csvHint}</p>
        </div>
      )}
    </Menu>
  );
}
