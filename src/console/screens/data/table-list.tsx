import { useState } from "preact/hooks";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { callerParameters } from "../../callers/caller-parameters.js";
import { Icon } from "../../parts/icon.js";
import { hrefOf } from "../../route.js";
import type { As } from "../../server/as.js";
import { texts } from "../../texts.js";

interface TableListProps {
  readonly tables: readonly SchemaTable[];
  readonly current: string | null;
  readonly as: As | null;
}

const searchedFrom = 12;

/** The tables as links. If there are more than 12, a field searches them by name. */
export function TableList({ tables, current, as }: TableListProps) {
  const [text, setText] = useState("");
  const shown = tables.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <nav class="table-list" aria-label={texts.data.tables}>
      {tables.length > searchedFrom && (
        <input
          class="input"
          type="search"
          aria-label={texts.data.findTable}
          placeholder={texts.data.findTable}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {shown.map(({ name, kind, rows_writable: isWritable }) => (
          <li key={name}>
            <a
              class="table-link"
              href={hrefOf("data", [name], callerParameters(as))}
              aria-current={name === current ? "true" : undefined}
            >
              <Icon name="data" />
              <span class="table-name">{name}</span>
              {(kind === "virtual" || !isWritable) && <span class="muted small">{texts.data.readOnly}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
