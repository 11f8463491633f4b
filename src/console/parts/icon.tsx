/** SVG paths in a square of 16 by 16 units. */
const drawings = {
  data: "M2.5 4.5h11v8h-11zM2.5 7.5h11M6.5 4.5v8",
  live: "M8 8.01M5.2 10.8a4 4 0 0 1 0-5.6M10.8 5.2a4 4 0 0 1 0 5.6M3.1 12.9a7 7 0 0 1 0-9.8M12.9 3.1a7 7 0 0 1 0 9.8",
  why: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3c.2-2.2 3.5-2.2 3.5 0 0 1.3-1.8 1.4-1.8 2.7M8 11.3v.01",
  schema: "M2.5 2.5h4v3h-4zM9.5 10.5h4v3h-4zM4.5 5.5v6.5h5M4.5 8h5M9.5 6.5h4v3h-4z",
  operations: "M9 2 3.5 9H8l-1 5 5.5-7H8z",
  users:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-5.3 9-5.3 9 0M11 7.5a2 2 0 1 0-.6-4M12 9.6c1.6.3 2.5 1.6 2.5 3.9",
  keys: "M5.5 13.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.6 8.4l5.9-5.9M11 5l2 2",
  mail: "M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5",
  requests: "M2.5 4h11M2.5 8h11M2.5 12h6",
  usage: "M2.5 2.5v11h11M5.5 11V8M8.5 11V5M11.5 11V7",
  settings:
    "M2.5 5h5M10.5 5h3M9 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM2.5 11h2M7.5 11h6M6 12.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  filter: "M2 3.5h12l-4.5 5.5v4l-3-1.5V9z",
  up: "M8 13V3.5M4 7l4-4 4 4",
  down: "M8 3v9.5M4 9l4 4 4-4",
  chevron: "M4.5 6.5 8 10l3.5-3.5",
  right: "M6.5 4.5 10 8l-3.5 3.5",
  open: "M6 3.5H3.5v9h9V10M9 3h4v4M13 3 7.5 8.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5 6.5 12 13 4.5",
  download: "M8 2.5v7.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  eye: "M1.5 8c3-6 10-6 13 0-3 6-10 6-13 0zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  out: "M6.5 2.5h-4v11h4M6 8h7.5M10.5 5l3 3-3 3",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12v.01",
  play: "M5 3l8 5-8 5z",
  stop: "M4 4h8v8H4z",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5l3-3M3 6.5l3 3",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof drawings;

/** Screen readers skip an icon: a text or a label of a button has to say the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={drawings[name]} />
    </svg>
  );
}
