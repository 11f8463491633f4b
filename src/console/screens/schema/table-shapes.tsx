import type { SchemaColumn, SchemaTable, ServedSchema, TableAction } from "../../../wire/schema-in-force.js";
import { defaultText } from "../../grid/row-form.js";
import { Badge } from "../../parts/badge.js";
import { List } from "../../parts/list.js";
import { hrefOf, route } from "../../route.js";
import { texts } from "../../texts.js";

/** All tables, and one of them with its columns, indexes and rules. */
export function TableShapes({ schema }: { readonly schema: ServedSchema }) {
  const [, name] = route.value.rest;
  const table = schema.tables.find((each) => each.name === name) ?? schema.tables[0]!;
  return (
    <div class="two">
      <nav class="table-list" aria-label={texts.data.tables}>
        <ul>
          {schema.tables.map((each) => (
            <li key={each.name}>
              <a
                class="table-link"
                href={hrefOf("schema", ["tables", each.name])}
                aria-current={each === table ? "true" : undefined}
              >
                <span class="table-name">{each.name}</span>
                <span class="muted small">{each.columns.length}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Shape table={table} />
    </div>
  );
}

function Shape({ table }: { readonly table: SchemaTable }) {
  const { name, columns, indexes, unique, triggers } = table;
  return (
    <section class="pane" aria-label={name}>
      <div class="pane-head">
        <h2 class="mono">{name}</h2>
        {table.history !== "none" && <Badge kind="accent">{texts.schema.history(table.history)}</Badge>}
        {table.search.length > 0 && <Badge>{texts.schema.search(table.search.join(", "))}</Badge>}
        {!table.rows_writable && <Badge kind="warn">{texts.data.readOnly}</Badge>}
        <a class="button small" href={hrefOf("data", [name])}>
          {texts.schema.openRows}
        </a>
      </div>
      <List
        label={texts.data.columns}
        items={columns}
        idOf={(column) => column.name}
        columns={[
          { title: texts.schema.column, of: (column) => <span class="mono strong">{column.name}</span> },
          { title: texts.schema.type, of: ({ type }) => <span class="mono">{type}</span> },
          { title: texts.schema.facts, of: (column) => <ColumnFacts table={table} column={column} /> },
          ...(Object.keys(table.column_rules).length > 0
            ? [
                {
                  title: texts.schema.rules,
                  of: (column: SchemaColumn) => <ColumnRules table={table} column={column} />,
                },
              ]
            : []),
        ]}
      />
      <h3>{texts.schema.rules}</h3>
      <dl class="facts rules">
        {(Object.keys(texts.why.actions) as TableAction[])
          .filter((action) => action !== "history" || table.history !== "none")
          .map((action) => {
            const rule = table.rules[action];
            return (
              <div class="fact" key={action}>
                <dt>{action}</dt>
                <dd>
                  {rule === null || rule === undefined ? (
                    <Badge kind="warn">{texts.operations.denied}</Badge>
                  ) : (
                    <code>{rule.text}</code>
                  )}{" "}
                  <a class="small" href={hrefOf("why", [], { table: name, action })}>
                    {texts.requests.why}
                  </a>
                </dd>
              </div>
            );
          })}
      </dl>
      <Extras
        title={texts.schema.indexes}
        items={[
          ...unique.map((names) => `unique (${names.join(", ")})`),
          ...indexes.map(
            (index) =>
              `${index.unique ? "unique " : ""}(${index.columns.join(", ")})${index.where ? ` where ${index.where}` : ""}`,
          ),
        ]}
      />
      <Extras title={texts.schema.triggers} items={triggers.map(({ sql }) => sql)} />
    </section>
  );
}

function Extras({ title, items }: { readonly title: string; readonly items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain-list">
        {items.map((item) => (
          <li key={item}>
            <code>{item}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function ColumnFacts({ table, column }: { readonly table: SchemaTable; readonly column: SchemaColumn }) {
  const { references, check, managed, generated } = column;
  const otherwise = defaultText(column);
  return (
    <span class="badges">
      {table.primary_key.includes(column.name) && <Badge kind="accent">{texts.data.key}</Badge>}
      {column.not_null && <Badge>{texts.data.needed}</Badge>}
      {managed && <Badge>{texts.data.managed(managed)}</Badge>}
      {generated && <Badge>{texts.data.generated}</Badge>}
      {references && (
        <Badge>
          → {references.table}.{references.column} ({references.on_delete.replaceAll("_", " ")})
        </Badge>
      )}
      {otherwise !== null && !managed && <Badge>{texts.data.defaultOf(otherwise)}</Badge>}
      {check !== null && <Badge>{check}</Badge>}
    </span>
  );
}

function ColumnRules({ table, column }: { readonly table: SchemaTable; readonly column: SchemaColumn }) {
  const rules = table.column_rules[column.name];
  return (
    <span class="badges">
      {rules?.read && <code>read: {rules.read.text}</code>}
      {rules?.write && <code>write: {rules.write.text}</code>}
    </span>
  );
}
