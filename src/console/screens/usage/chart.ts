import uPlot from "uplot";
import { texts } from "../../texts.js";
import { dayKey, daySeconds, type Series } from "./series.js";

const height = 240;

/** Whole numbers only, because there are no halves of rows. */
const wholeSteps = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** In seconds. */
const daySteps = [1, 2, 3, 7, 14, 28].map((days) => days * daySeconds);

/** Draws a chart as wide as the element, in the colours of the page. Returns a function that removes it. */
export function drawChart(host: HTMLElement, { days, read, written }: Series): () => void {
  let chart: uPlot | null = null;
  const draw = () => {
    chart?.destroy();
    const style = getComputedStyle(host);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: resolved(host, "var(--muted)"),
      grid: { stroke: resolved(host, "var(--line)"), width: 1 },
      ticks: { show: false },
      font: `12px ${colour("--sans")}`,
    };
    const line = (label: string, name: string, scale: string) => ({
      label,
      scale,
      stroke: resolved(host, `var(${name})`),
      width: 2,
      spanGaps: false,
      // Only for a day between two days without values, because no line leads to it from either side.
      points: { show: true, size: 6, filter: (_: uPlot, at: number) => lonely(at === 1 ? read : written) },
      value: (_: uPlot, value: number | null) => (value === null ? "–" : value.toLocaleString("en")),
    });
    chart = new uPlot(
      {
        width: host.clientWidth,
        height,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
        cursor: { points: { size: 7 } },
        scales: { rows: { range: (_, __, most) => [0, Math.max(1, most ?? 1)] } },
        axes: [
          { ...axis, space: 96, incrs: daySteps, values: (_, seconds) => seconds.map(dayKey) },
          { ...axis, scale: "rows", size: 64, incrs: wholeSteps, values: (_, values) => values.map(short) },
        ],
        series: [
          {
            label: texts.usage.day,
            value: (_, seconds) => (seconds === null ? "–" : dayKey(seconds)),
          },
          line(texts.usage.read, "--series-1", "rows"),
          line(texts.usage.written, "--series-2", "rows"),
        ],
      },
      [[...days], [...read], [...written]],
      host,
    );
  };
  draw();
  const observer = new ResizeObserver(() => chart?.setSize({ width: host.clientWidth, height }));
  observer.observe(host);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", draw);
    chart?.destroy();
  };
}

/** The indexes of values without a value before and after them. */
function lonely(values: Series["read"]): number[] {
  return [...values.keys()].filter(
    (i) => values[i] !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null,
  );
}

/** A colour of the style sheet, such as `var(--muted)`, as the value that it has now. A canvas cannot use variables. */
function resolved(host: HTMLElement, value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function short(value: number): string {
  return new Intl.NumberFormat("en", { notation: "compact" }).format(value);
}
