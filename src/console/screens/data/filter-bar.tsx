import { useEffect, useState } from "preact/hooks";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { type FilterCondition, type GridQuery, operatorsOf } from "../../grid/list-query.js";
import { Select } from "../../parts/field.js";
import { Icon } from "../../parts/icon.js";
import { Menu } from "../../parts/menu.js";
import { Text } from "../../parts/text.js";
import { texts } from "../../texts.js";

interface FilterBarProps {
  readonly table: SchemaTable;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
}

/** The search field and the conditions of the filter. */
export function FilterBar({ table, query, onQuery }: FilterBarProps) {
  const { conditions } = query;
  return (
    <div class="filter-bar">
      {table.search.length > 0 && (
        <SearchField value={query.search} onSearch={(search) => onQuery({ ...query, search })} />
      )}
      {conditions.map((condition, i) => (
        <span class="chip" key={`${condition.column} ${i}`}>
          <span class="chip-text">
            <b>{condition.column}</b> {texts.filters.operators[condition.operator]}{" "}
            {condition.operator !== "is_null" && <Text value={condition.value} />}
            {condition.operator === "is_null" && (condition.value === "false" ? texts.filters.no : texts.filters.yes)}
          </span>
          <button
            type="button"
            class="chip-remove"
            aria-label={texts.filters.remove(condition.column)}
            onClick={() => onQuery({ ...query, conditions: conditions.filter((_, other) => other !== i) })}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <Menu icon="filter" text={texts.filters.add}>
        {(close) => (
          <NewCondition
            table={table}
            onAdd={(condition) => {
              close();
              onQuery({ ...query, conditions: [...conditions, condition] });
            }}
          />
        )}
      </Menu>
    </div>
  );
}

function SearchField({ value, onSearch }: { readonly value: string; readonly onSearch: (text: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <input
      class="input search"
      type="search"
      aria-label={texts.filters.search}
      placeholder={texts.filters.search}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onChange={() => onSearch(text)}
    />
  );
}

function NewCondition({
  table,
  onAdd,
}: {
  readonly table: SchemaTable;
  readonly onAdd: (condition: FilterCondition) => void;
}) {
  const [column, setColumn] = useState(table.columns[0]!.name);
  const type = table.columns.find(({ name }) => name === column)!.type;
  const possible = operatorsOf(type);
  const [chosen, setOperator] = useState(possible[0]!);
  const operator = possible.includes(chosen) ? chosen : possible[0]!;
  const [value, setValue] = useState("");
  const isChoice = operator === "is_null" || type === "boolean";
  const add = (event: Event) => {
    event.preventDefault();
    onAdd({ column, operator, value: isChoice && value !== "false" ? "true" : value });
  };
  return (
    <form class="condition-form" onSubmit={add}>
      <Select
        label={texts.filters.column}
        value={column}
        options={table.columns.map(({ name }) => [name, name] as const)}
        onChange={setColumn}
      />
      <Select
        label={texts.filters.comparison}
        value={operator}
        options={possible.map((name) => [name, texts.filters.operators[name]] as const)}
        onChange={setOperator}
      />
      {isChoice ? (
        <Select
          label={texts.filters.value}
          value={value === "false" ? "false" : "true"}
          options={[
            ["true", operator === "is_null" ? texts.filters.yes : "true"],
            ["false", operator === "is_null" ? texts.filters.no : "false"],
          ]}
          onChange={setValue}
        />
      ) : (
        <div class="field">
          <label for="condition-value">{texts.filters.value}</label>
          <input
            id="condition-value"
            class="input"
            value={value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
          {operator === "in" && <p class="hint">{texts.filters.inHint}</p>}
        </div>
      )}
      <button type="submit" class="button main">
        {texts.filters.apply}
      </button>
    </form>
  );
}
