import type { Statement } from "../platform/database.js";
import type { Config } from "../project/config.js";
import { hashSecret } from "./api-key.js";
import { countMail } from "./store/throttle.js";

/** One hour. */
export const mailWindowMs = 3_600_000;

/**
 * How many mails of a kind an address is sent in one hour (`max_mails_per_address`): asking for one kind in somebody's
 * name keeps no other from them. Addresses are hashed with `pepper`. An address
 * without an account is counted apart, so that asking for mails in a stranger's name costs them nothing once they register.
 */
export class MailAllowance {
  constructor(
    private readonly limits: Config["auth"]["throttle"],
    private readonly pepper: string,
  ) {}

  /** For the batch that writes the mail, right before the statement that does: that one asks for `changes() = 1`. */
  async count(kind: string, emailKey: string, now: number): Promise<Statement> {
    return countMail({
      key: await this.key("mail", kind, emailKey),
      unknownKey: await this.key("mail to nobody", kind, emailKey),
      emailKey,
      max: this.limits.enabled ? this.limits.max_mails_per_address : Number.MAX_SAFE_INTEGER,
      now,
      windowMs: mailWindowMs,
    });
  }

  private key(...parts: readonly string[]): Promise<string> {
    return hashSecret(JSON.stringify([this.pepper, ...parts]));
  }
}
