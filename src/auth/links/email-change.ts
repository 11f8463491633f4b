import type { Statement } from "../../platform/database.js";
import { newId } from "../../platform/new-id.js";
import type { Caller } from "../callers/principal.js";
import { emailKey } from "../email.js";
import type { Condition } from "../store/condition.js";
import { insertEmailChange } from "../store/email-change.js";
import { insertEmailChangeMail, insertEmailChangeNotice } from "../store/outbox.js";
import type { LinkMailServices } from "./link-mail.js";
import { linkLifetimeSeconds } from "./links.js";

/** A user's request to change the email address of their own account. */
export interface EmailChangeRequest {
  readonly caller: Extract<Caller, { readonly kind: "user" }>;
  /** The new address of the account. */
  readonly email: string;
  /**
   * A condition on `_users AS u` that matches the caller's row, as long as the caller's proof holds that the account is
   * theirs.
   */
  readonly owner: Condition;
}

/**
 * Makes the statements for a change of a user's email address: they write a mail with a link to the new address and a
 * notice to the present one, count both against the limits of mails, and store the link. Where the new address has
 * another account, its owner gets a mail without a link instead. The statements are the same in any case, and an older
 * link always becomes invalid, so that neither the time nor the older link tells who has an account.
 */
export async function prepareEmailChange(
  { platform, linkTokens, mailAllowance }: LinkMailServices,
  { caller, email, owner }: EmailChangeRequest,
): Promise<readonly Statement[]> {
  const now = platform.clock.now();
  const purpose = "email_change";
  const id = newId(platform.random);
  const mailId = newId(platform.random);
  const key = emailKey(email);
  const link = {
    id,
    hash: await linkTokens.hashOf(await linkTokens.tokenOf(purpose, id)),
    mailId,
    userId: caller.id,
    sessionId: caller.sessionId,
    email,
    emailKey: key,
    now,
    expiresAtMs: now + linkLifetimeSeconds[purpose] * 1000,
  };
  return [
    ...(await mailAllowance.count(purpose, key, now)),
    insertEmailChangeMail({ id: mailId, linkId: id, email, emailKey: key, now }, owner),
    ...insertEmailChange(link, owner),
    ...(await mailAllowance.count("email_change_notice", emailKey(caller.email), now)),
    insertEmailChangeNotice(newId(platform.random), owner, now),
  ];
}
