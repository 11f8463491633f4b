import { useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../../parts/loaded-view.js";
import { texts } from "../../texts.js";
import type { Series } from "./series.js";

/**
 * The rows read and written on each day. The chart's code is loaded when the first one is shown. For screen readers its
 * label has the number of days and the totals.
 */
export function UsageChart({ series }: { readonly series: Series }) {
  const host = useRef<HTMLDivElement>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./chart.js").then(
      ({ drawChart }) => {
        // The element is removed a little before the effect ends.
        if (!isGone && host.current !== null) end = drawChart(host.current, series);
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
  return <div ref={host} class="chart" role="img" aria-label={texts.usage.chart(series.days.length, read, written)} />;
}
