import { unknownMember } from "../http/body.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { isMetered } from "../project/is-metered.js";
import type { Access } from "../tables/access/access.js";
import { type ApiRequest, accessTo, executionOf } from "../tables/routes/api-request.js";
import { rememberedOf } from "../tables/routes/remembered.js";
import type { Checkpoint } from "./checkpoint.js";
import { type PulledPage, pullPage } from "./pull.js";
import type { SharedPages } from "./shared-pages.js";
import { viewOf } from "./view.js";

/** The content of a client's request for a pull or for a stream. */
export interface ParsedPull {
  readonly tables: unknown;
  /**
   * The checkpoint to continue from: sealed from the client, or the object that a stream keeps from its previous page.
   */
  readonly checkpoint: string | Checkpoint | null;
  readonly limit: number;
  /** How many milliseconds a pull waits for changes if there are none yet. */
  readonly waitMs: number;
  /** Whether a client without a checkpoint is told only changes from now on, and not all rows first. */
  readonly fromNow: boolean;
  /**
   * Whether a stream that is already open looks again. Streams share pages, so such a look may bring the client only to
   * a moment that is already past.
   */
  readonly isStream: boolean;
}

const limitDefault = 500;
const limitMax = 1000;
const waitMsMax = 25_000;

/** Reads the JSON of a request for a pull, or for a stream if `isLive`. A stream takes `from`, a pull `wait_ms`. */
export function parsePull(body: Readonly<Record<string, unknown>>, isLive: boolean): ParsedPull | Refusal {
  const { tables, checkpoint = null, limit = limitDefault, wait_ms: waitMs = 0, from = null } = body;
  const unknown = unknownMember(body, ["tables", "checkpoint", "limit", isLive ? "from" : "wait_ms"]);
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  if (checkpoint !== null && typeof checkpoint !== "string") return badRequest("checkpoint: expected a text or null");
  if (!isIntegerIn(limit, 1, limitMax)) return badRequest(`limit: expected an integer from 1 to ${limitMax}`);
  if (!isIntegerIn(waitMs, 0, waitMsMax)) return badRequest(`wait_ms: expected an integer from 0 to ${waitMsMax}`);
  if (from !== null && from !== "now") return badRequest(`from: expected "now"`);
  return { tables, checkpoint, limit, waitMs, fromNow: from === "now", isStream: false };
}

function isIntegerIn(value: unknown, minimum: number, maximum: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum;
}

/** The lists of a first copy have no expansions. */
const noTables = { find: () => null };

/** The next page of the changes that a request asks for; a refusal if its caller may not be told them. */
export function pulledBy(
  asked: Omit<ApiRequest, "body" | "succeed">,
  { tables, ...pulling }: ParsedPull,
  shared: SharedPages,
): Promise<PulledPage | Refusal> | Refusal {
  const { services, caller, project } = asked;
  const nowMs = services.platform.clock.now();
  const view = viewOf(tables, caller, project, (table) => accessTo(asked, table, "read", nowMs));
  if (isRefusal(view)) return view;
  const names = [...new Set(view.members.map(({ table }) => table))].sort();
  const execution = executionOf(asked, names.join(), "sync", nowMs);
  const { scan_limit: scanLimit } = services.config.api;
  const { lists: prepared, briefTries } = rememberedOf(project, services.platform);
  const metered = isMetered(services.config);
  const listSource = (access: Access) => ({ access, scanLimit, metered, prepared, briefTries, tables: noTables });
  const sources = { shared, listSource };
  return pullPage(view, { ...pulling, scanLimit }, execution, services.cursors.cipher, sources);
}
