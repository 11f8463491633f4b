import type { Receipt } from "../platform/journal.js";
import type { RecorderState } from "./recorder.js";

/** Seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

interface Latency {
  /** For each bucket those that it is the first to hold; the last is for what none does. */
  readonly counts: number[];
  sumSeconds: number;
}

/** The parts of the interface that requests are counted by: not paths, of which there may be any number. */
const areas = ["api", "auth", "admin"] as const;

function areaOf(url: string): string {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  return areas.find((area) => url.startsWith(`/${area}/`, path)) ?? "other";
}

/** Since the start of the process or the isolate, which is where they are kept. */
export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #latencies = new Map<string, Latency>();
  #rowsRead = 0;
  #rowsWritten = 0;
  #rowsReturned = 0;
  #unknownReads = 0;
  #receipts = 0;

  request(method: string, url: string, status: number, ms: number): void {
    const area = areaOf(url);
    const known = /^(GET|HEAD|POST|PATCH|PUT|DELETE|OPTIONS)$/.test(method) ? method : "other";
    const key = `area="${area}",method="${known}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const latency = this.#latencies.get(area) ?? { counts: [...buckets, 0].map(() => 0), sumSeconds: 0 };
    const seconds = ms / 1000;
    const at = buckets.findIndex((bound) => seconds <= bound);
    latency.counts[at === -1 ? buckets.length : at]!++;
    latency.sumSeconds += seconds;
    this.#latencies.set(area, latency);
  }

  receipt({ rowsRead, rowsWritten, rowsReturned }: Receipt): void {
    this.#receipts++;
    this.#rowsRead += rowsRead ?? 0;
    this.#rowsWritten += rowsWritten ?? 0;
    this.#rowsReturned += rowsReturned ?? 0;
    if (rowsRead === null) this.#unknownReads++;
  }

  /** Prometheus's text format, version 0.0.4. `journal` is null where nothing is metered. */
  render(journal: RecorderState | null): string {
    const lines: string[] = [];
    const metric = (
      name: string,
      type: string,
      help: string,
      samples: readonly (readonly [string, number])[],
    ) => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [labels, value] of samples) lines.push(`${name}${labels} ${value}`);
    };
    const single = (name: string, type: string, help: string, value: number) =>
      metric(name, type, help, [["", value]]);
    const requests = [...this.#requests].map(([key, count]) => [`{${key}}`, count] as const);
    metric("svc_requests_total", "counter", "Requests answered.", requests);
    lines.push(
      "# HELP svc_request_duration_seconds From a request's arrival to its answer.",
      "# TYPE svc_request_duration_seconds histogram",
    );
    for (const [area, latency] of this.#latencies) lines.push(...histogram(area, latency));
    if (journal !== null) {
      single("svc_attempts_total", "counter", "CRUD attempts metered.", this.#receipts);
      single("svc_rows_read_total", "counter", "Rows read, where known.", this.#rowsRead);
      single("svc_rows_written_total", "counter", "Rows written, where known.", this.#rowsWritten);
      single("svc_rows_returned_total", "counter", "Rows returned.", this.#rowsReturned);
      single(
        "svc_unknown_reads_total",
        "counter",
        "Attempts whose rows read are unknown.",
        this.#unknownReads,
      );
      single("svc_journal_available", "gauge", "Whether receipts are recorded.", Number(journal.available));
      single("svc_journal_waiting", "gauge", "Receipts that wait in memory.", journal.waiting);
      single("svc_journal_lost_total", "counter", "Receipts that found no place.", journal.lost);
    }
    return `${lines.join("\n")}\n`;
  }
}

function histogram(area: string, { counts, sumSeconds }: Latency): readonly string[] {
  let below = 0;
  const name = "svc_request_duration_seconds";
  const lines = counts.map((count, i) => {
    below += count;
    return `${name}_bucket{area="${area}",le="${buckets[i] ?? "+Inf"}"} ${below}`;
  });
  return [...lines, `${name}_sum{area="${area}"} ${sumSeconds}`, `${name}_count{area="${area}"} ${below}`];
}
