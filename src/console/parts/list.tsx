import type { ComponentChildren } from "preact";

/** `of` is what the column shows of an item. */
export interface ListColumn<T> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly isNarrow?: boolean;
  readonly of: (item: T) => ComponentChildren;
}

/** What a list shows: its items, and what each of its columns shows of them. */
export interface ListProps<T> {
  readonly label: string;
  readonly columns: readonly ListColumn<T>[];
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
}

/** A table with a row for each item. */
export function List<T>({ label, columns, items, idOf }: ListProps<T>) {
  return (
    <section class="list-frame" aria-label={label} tabIndex={0}>
      <table class="list">
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isNarrow }) => (
              <th key={title} scope="col" class={classOf(isNumber, isNarrow)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={idOf(item)}>
              {columns.map(({ title, isNumber, isNarrow, of }) => (
                <td key={title} class={classOf(isNumber, isNarrow)}>
                  {of(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function classOf(isNumber = false, isNarrow = false): string {
  return [isNumber && "number", isNarrow && "narrow"].filter(Boolean).join(" ");
}
