import { useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../../parts/view.js";
import { texts } from "../../texts.js";
import type { Series } from "./series.js";

/** Rows read and written by days, as a chart. Its code is loaded with the first one; the same figures stand in a table. */
export function UsageChart({ series }: { readonly series: Series }) {
  const host = useRef<HTMLDivElement>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./chart.js").then(
      ({ drawChart }) => {
        if (!isGone) end = drawChart(host.current!, series);
      },
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      end();
    };
  }, [JSON.stringify(series)]);
  const read = series.read.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const written = series.written.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  if (isFailed) return <Failure error={new Error(texts.app.codeMissing)} onRetry={() => location.reload()} />;
  return (
    <div
      ref={host}
      class="chart"
      role="img"
      aria-label={texts.usage.chart(series.days.length, read, written)}
    />
  );
}
