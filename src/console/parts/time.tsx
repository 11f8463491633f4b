import { texts } from "../texts.js";

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** How long ago or how far ahead a time is: `5 minutes ago`. */
function agoText(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  const found = units.find(([, size]) => Math.abs(seconds) >= size);
  return found === undefined ? texts.app.justNow : relative.format(Math.trunc(seconds / found[1]), found[0]);
}

/** Shows how long ago a time was. The tooltip has the exact time. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="muted">–</span>;
  return (
    <time dateTime={at} title={at}>
      {agoText(Date.parse(at), Date.now())}
    </time>
  );
}
