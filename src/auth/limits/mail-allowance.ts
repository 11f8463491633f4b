import type { Keyring } from "../../encoding/keyring.js";
import type { Statement } from "../../platform/database.js";
import type { Config } from "../../project/config.js";
import { countMail, moveCounter } from "../store/throttle.js";
import { throttleKeys } from "./throttle-keys.js";

/** The time within which mails to an address are counted, in milliseconds: one hour. */
export const mailWindowMs = 3_600_000;

/**
 * Limits how many mails of a kind are sent to an address within an hour (`auth.throttle.max_mails_per_address`). Each
 * kind is counted by itself, so that many mails of one kind do not block those of another. The counters are stored
 * under hashes made with a secret of the server, which do not reveal addresses; they go on counting when that secret is
 * replaced. An address without an account is counted under another key, so that mails requested before its owner
 * registers do not count against the later account.
 */
export class MailAllowance {
  constructor(
    private readonly limits: Config["auth"]["throttle"],
    private readonly peppers: Keyring<string>,
  ) {}

  /**
   * Makes the statements that count one mail. They go into the batch directly in front of the statement that writes the
   * mail. That statement writes only where `changes() = 1`, which holds exactly if the mail is within the limit. `now`
   * is in milliseconds since the epoch.
   */
  async count(kind: string, emailKey: string, now: number): Promise<readonly Statement[]> {
    const keys = await throttleKeys(this.peppers, "mail", kind, emailKey);
    const unknownKeys = await throttleKeys(this.peppers, "mail to nobody", kind, emailKey);
    const mail = {
      key: keys.current,
      unknownKey: unknownKeys.current,
      emailKey,
      max: this.limits.enabled ? this.limits.max_mails_per_address : Number.MAX_SAFE_INTEGER,
      windowMs: mailWindowMs,
    };
    return [...moveCounter(keys), ...moveCounter(unknownKeys), countMail(mail, now)];
  }
}
