import { useState } from "preact/hooks";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { hrefOf } from "../../route.js";
import { texts } from "../../texts.js";
import { type Box, boxWidth, drawingOf, headHeight, lineHeight } from "./layout.js";

/** The tables and their foreign keys as a diagram. A box links to the table's columns and rules. */
export function Picture({ tables }: { readonly tables: readonly SchemaTable[] }) {
  const [active, setActive] = useState<string | null>(null);
  const { boxes, arrows, width, height } = drawingOf(tables);
  return (
    <section class="picture" tabIndex={0} aria-label={texts.schema.drawing}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={texts.schema.drawn(tables.length)}
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" class="arrow-head" />
          </marker>
        </defs>
        {arrows.map(({ from, to, column, path }) => (
          <path
            key={`${from}.${column}`}
            class={active === from || active === to ? "arrow active" : "arrow"}
            d={path}
            marker-end="url(#arrow)"
          >
            <title>{`${from}.${column} → ${to}`}</title>
          </path>
        ))}
        {boxes.map((box) => (
          <TableBox key={box.table.name} box={box} onActive={setActive} />
        ))}
      </svg>
    </section>
  );
}

function TableBox({ box, onActive }: { readonly box: Box; readonly onActive: (name: string | null) => void }) {
  const { table, x, y, height } = box;
  const { name, columns, primary_key: key } = table;
  return (
    <a
      href={hrefOf("schema", ["tables", name])}
      class="table-box"
      onMouseEnter={() => onActive(name)}
      onMouseLeave={() => onActive(null)}
      onFocus={() => onActive(name)}
      onBlur={() => onActive(null)}
    >
      <rect class="box" x={x} y={y} width={boxWidth} height={height} rx="8" />
      <text class="box-name" x={x + 12} y={y + 22}>
        {name}
      </text>
      <path class="box-line" d={`M${x} ${y + headHeight}h${boxWidth}`} />
      {columns.map((column, i) => {
        const line = y + headHeight + i * lineHeight + 16;
        return (
          <g key={column.name}>
            <text class={key.includes(column.name) ? "box-column key" : "box-column"} x={x + 12} y={line}>
              {column.name.length > 18 ? `${column.name.slice(0, 17)}…` : column.name}
            </text>
            <text class="box-type" x={x + boxWidth - 12} y={line} text-anchor="end">
              {column.type}
            </text>
          </g>
        );
      })}
    </a>
  );
}
