import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { emailKey } from "./email.js";
import { linkLifetimeSeconds } from "./links.js";
import { newId } from "./new-id.js";
import type { Caller } from "./principal.js";
import type { Condition } from "./store/condition.js";
import { insertEmailChange } from "./store/email-change.js";
import { insertEmailChangeMail, insertEmailChangeNotice } from "./store/outbox.js";

/** A change of a user's own address that is asked for. */
export interface EmailChangeRequest {
  readonly caller: Extract<Caller, { readonly kind: "user" }>;
  /** The new address. */
  readonly email: string;
  /** Matches the caller in `_users AS u` as long as it is proved whose the account is. */
  readonly owner: Condition;
}

/**
 * The statements that count the two mails of a change of address against the limits of mails, write them, and create the
 * link. They are the same whether or not somebody has the new address and the limits are reached. Where the address has
 * an account, its owner is mailed instead of a link. Whatever is mailed, an older link dies: else whether it lives would
 * tell who has an account.
 */
export async function prepareEmailChange(
  { platform, linkTokens, mailAllowance }: AuthContext,
  { caller, email, owner }: EmailChangeRequest,
): Promise<readonly Statement[]> {
  const now = platform.clock.now();
  const purpose = "email_change";
  const id = newId({ platform });
  const mailId = newId({ platform });
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
    insertEmailChangeNotice(newId({ platform }), owner, now),
  ];
}
