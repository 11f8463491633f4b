import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { type ApiRequest, accessTo, executionOf } from "../tables/api-request.js";
import type { Checkpoint } from "./checkpoint.js";
import { type PulledPage, pullPage } from "./pull.js";
import type { SharedPages } from "./shared-pages.js";
import { viewOf } from "./view.js";

/** What a client asks for with a pull or a stream, as it is sent. */
export interface AskedPull {
  readonly tables: unknown;
  /**
   * Where the client is: a sealed text, as clients send it, or the checkpoint of a stream's page before; null for none.
   */
  readonly checkpoint: string | Checkpoint | null;
  readonly limit: number;
  /** For how many milliseconds a pull whose answer would have no changes waits for one. */
  readonly waitMs: number;
  /** Whether a client without a checkpoint is told only what comes from now on. */
  readonly fromNow: boolean;
  /**
   * Whether this is a further look of an open stream: it shares its pages with others, and may be brought to an earlier
   * moment than now.
   */
  readonly isStream: boolean;
}

const limitDefault = 500;
const limitMax = 1000;
const waitMsMax = 25_000;

/** Reads the JSON of a pull or of a stream. `isLive`: it is that of a stream, which takes `from` and no `wait_ms`. */
export function parsePull(body: Readonly<Record<string, unknown>>, isLive: boolean): AskedPull | Refusal {
  const {
    tables,
    checkpoint = null,
    limit = limitDefault,
    wait_ms: waitMs = 0,
    from = null,
    ...others
  } = body;
  const [unknown] = [
    ...Object.keys(others),
    ...(isLive && "wait_ms" in body ? ["wait_ms"] : []),
    ...(!isLive && "from" in body ? ["from"] : []),
  ];
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  if (checkpoint !== null && typeof checkpoint !== "string")
    return badRequest("checkpoint: expected a text or null");
  if (!isIntegerIn(limit, 1, limitMax)) return badRequest(`limit: expected an integer from 1 to ${limitMax}`);
  if (!isIntegerIn(waitMs, 0, waitMsMax))
    return badRequest(`wait_ms: expected an integer from 0 to ${waitMsMax}`);
  if (from !== null && from !== "now") return badRequest(`from: expected "now"`);
  return { tables, checkpoint, limit, waitMs, fromNow: from === "now", isStream: false };
}

function isIntegerIn(value: unknown, minimum: number, maximum: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum;
}

/** The next page of what the caller of a request asks for; a refusal where it may not be told. */
export function pulledBy(
  asked: ApiRequest,
  { tables, ...pulling }: AskedPull,
  shared: SharedPages,
): Promise<PulledPage | Refusal> | Refusal {
  const { services, caller, project } = asked;
  const nowMs = services.platform.clock.now();
  const view = viewOf(tables, caller, project, (table) => accessTo(asked, table, "read", nowMs));
  if (isRefusal(view)) return view;
  const names = view.tables.map(({ name }) => name).sort();
  const execution = executionOf(asked, names.join(), "sync", nowMs);
  const { scan_limit: scanLimit } = services.config.api;
  return pullPage(view, { ...pulling, scanLimit }, execution, services.cursors.cipher, shared);
}
