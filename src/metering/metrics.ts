import type { Receipt } from "../platform/journal.js";
import type { RecorderState } from "./recorder.js";

/** The upper bounds of the buckets of durations, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The counts of the requests to all paths with the same first segment, such as `/api/`. */
class Area {
  /** The number of answers by method and status. */
  readonly answered = new Map<string, Map<number, number>>();
  /**
   * How many requests took at most a bucket's bound, and longer than the bound before it. The last number counts those
   * that took longer than every bound.
   */
  readonly counts = [...buckets, 0].map(() => 0);
  sumSeconds = 0;
}

/**
 * For all methods that the server does not know, and all paths outside the named areas. Otherwise clients could create
 * any number of time series.
 */
const other = "other";
/** The first segments of paths by which requests are counted. */
const areas = ["api", "auth", "admin", other];
const prefixes = areas.map((area) => `/${area}/`);

function areaOf(url: string): string {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  return areas.find((_, i) => url.startsWith(prefixes[i]!, path)) ?? other;
}

const methods = new Set(["GET", "HEAD", "QUERY", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);

/**
 * The numbers of `GET /metrics`, counted in memory since the start of the process or isolate
 * (`docs/reference/metering.md#metrics`).
 */
export class Metrics {
  readonly #areas = new Map(areas.map((name) => [name, new Area()]));
  #rowsRead = 0;
  #rowsWritten = 0;
  #rowsReturned = 0;
  #unknownReads = 0;
  #receipts = 0;
  #looks = 0;
  #events = 0;
  readonly #resets = new Map<string, number>();

  request(method: string, url: string, status: number, ms: number): void {
    const area = this.#areas.get(areaOf(url))!;
    const known = methods.has(method) ? method : other;
    const statuses = area.answered.get(known) ?? new Map<number, number>();
    area.answered.set(known, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    const seconds = ms / 1000;
    const at = buckets.findIndex((bound) => seconds <= bound);
    area.counts[at === -1 ? buckets.length : at]!++;
    area.sumSeconds += seconds;
  }

  receipt({ rowsRead, rowsWritten, rowsReturned }: Receipt): void {
    this.#receipts++;
    this.#rowsRead += rowsRead ?? 0;
    this.#rowsWritten += rowsWritten ?? 0;
    this.#rowsReturned += rowsReturned ?? 0;
    if (rowsRead === null) this.#unknownReads++;
  }

  /** A stream of changes, or a pull that waits for changes, has looked into the database. */
  looked(): void {
    this.#looks++;
  }

  /** Events were sent to the client of a stream. */
  event(): void {
    this.#events++;
  }

  /** A client has to begin its synchronisation anew. There are only a few reasons, so each may be a label. */
  reset(reason: string): void {
    this.#resets.set(reason, (this.#resets.get(reason) ?? 0) + 1);
  }

  /**
   * Prometheus's text format, version 0.0.4. `journal` is null if requests are not metered; the metrics about receipts
   * are then left out. `streams` is the number of open streams and of pulls that wait.
   */
  render(journal: RecorderState | null, streams: number): string {
    const lines: string[] = [];
    const metric = (name: string, type: string, help: string, samples: readonly (readonly [string, number])[]) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
    };
    const single = (name: string, type: string, help: string, value: number) => metric(name, type, help, [["", value]]);
    metric("svc_requests_total", "counter", "Requests answered.", [...this.#areas].flatMap(answeredOf));
    lines.push(
      "# HELP svc_request_duration_seconds From a request's arrival to its answer.",
      "# TYPE svc_request_duration_seconds histogram",
    );
    for (const area of this.#areas) lines.push(...histogram(area));
    if (journal !== null) {
      single("svc_attempts_total", "counter", "CRUD attempts metered.", this.#receipts);
      single("svc_rows_read_total", "counter", "Rows read, where known.", this.#rowsRead);
      single("svc_rows_written_total", "counter", "Rows written, where known.", this.#rowsWritten);
      single("svc_rows_returned_total", "counter", "Rows returned.", this.#rowsReturned);
      single("svc_unknown_reads_total", "counter", "Attempts whose rows read are unknown.", this.#unknownReads);
      single("svc_journal_available", "gauge", "Whether receipts are recorded.", Number(journal.available));
      single("svc_journal_waiting", "gauge", "Receipts that wait in memory.", journal.waiting);
      single("svc_journal_lost_total", "counter", "Receipts that found no place.", journal.lost);
    }
    single("svc_streams", "gauge", "Streams that are open, and pulls that wait.", streams);
    single("svc_stream_wakes_total", "counter", "Looks of streams for changes.", this.#looks);
    single("svc_stream_events_total", "counter", "Times that events were sent to a stream.", this.#events);
    metric(
      "svc_sync_resets_total",
      "counter",
      "Clients that had to begin anew.",
      [...this.#resets].map(([reason, count]) => [`{reason="${reason}"}`, count]),
    );
    return `${lines.join("\n")}\n`;
  }
}

function answeredOf([area, { answered }]: readonly [string, Area]): readonly (readonly [string, number])[] {
  return [...answered].flatMap(([method, statuses]) =>
    [...statuses].map(([status, count]) => [`{area="${area}",method="${method}",status="${status}"}`, count] as const),
  );
}

function histogram([area, { counts, sumSeconds }]: readonly [string, Area]): readonly string[] {
  let below = 0;
  const name = "svc_request_duration_seconds";
  const lines = counts.map((count, i) => {
    below += count;
    return `${name}_bucket{area="${area}",le="${buckets[i] ?? "+Inf"}"} ${below}`;
  });
  return [...lines, `${name}_sum{area="${area}"} ${sumSeconds}`, `${name}_count{area="${area}"} ${below}`];
}
