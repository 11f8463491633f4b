import type { Keyring } from "../../encoding/keyring.js";
import { Refusal } from "../../http/refusal.js";
import type { Database } from "../../platform/database.js";
import { effect, run, together } from "../../platform/query.js";
import type { Config } from "../../project/config.js";
import { countRequest, moveCounter, windowEnd } from "../store/throttle.js";
import { throttleKeys } from "./throttle-keys.js";

/** The time within which requests from a client address are counted, in milliseconds: one hour. */
const windowMs = 3_600_000;

/**
 * The limit on how many registrations, resent links, password resets and changes of an email address together one
 * client address may ask for within an hour (`auth.throttle.max_registrations_per_address`). Each of them costs a hash
 * or a mail, and anybody may ask for most of them.
 */
export class RequestAllowance {
  constructor(
    private readonly database: Database,
    private readonly limits: Config["auth"]["throttle"],
    private readonly peppers: Keyring<string>,
  ) {}

  /**
   * Counts a request before it costs anything. Returns null where it may go on, and past the limit the refusal
   * `rate_limited`, with nothing counted. Where `auth.throttle.enabled` is false, nothing is counted or refused.
   * `address` is the client's IPv4 address, or the /64 network of its IPv6 address (`addressUnit`), `now` is in
   * milliseconds since the epoch.
   */
  async take(address: string, now: number): Promise<Refusal | null> {
    if (!this.limits.enabled) return null;
    const keys = await throttleKeys(this.peppers, "requests", address);
    const max = this.limits.max_registrations_per_address;
    const query = together(
      effect(...moveCounter(keys)),
      countRequest({ key: keys.current, max, windowMs }, now),
      windowEnd(keys.current),
    );
    const [, isCounted, endsAt] = await run(this.database, query);
    if (isCounted) return null;
    return new Refusal("rate_limited", "too many requests of this kind from one address", {
      headers: { "Retry-After": String(Math.max(1, Math.ceil((endsAt! - now) / 1000))) },
    });
  }
}
