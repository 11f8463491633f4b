import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { emailKey } from "./email.js";
import { type LinkPurpose, linkLifetimeSeconds } from "./links.js";
import { newId } from "./new-id.js";
import { insertLink } from "./store/links.js";
import type { NewMail } from "./store/outbox.js";

/** A mail with a link, to be prepared by `prepareLinkMail`. */
export interface LinkMail {
  /** The address of the mail's recipient. */
  readonly email: string;
  readonly purpose: LinkPurpose;
  /**
   * Makes the statement that writes the mail to the outbox, by one of the functions of `store/outbox.ts`. The statement
   * decides whether the recipient gets a mail at all.
   */
  readonly insertMail: (mail: NewMail) => Statement;
  readonly passwordHash?: string;
  readonly role?: string | null;
  readonly redirectTo?: string | null;
}

/** The statements that write a mail and the link in it. */
export interface PreparedLinkMail {
  /**
   * The ids of the link and the mail, if the statements write them: whether they do depends on the account and on the
   * limit of mails.
   */
  readonly linkId: string;
  readonly mailId: string;
  readonly statements: readonly Statement[];
}

/**
 * Makes the statements that count a mail against the limit of mails to its address, write the mail to the outbox, and
 * store its link. They are the same whether or not the address has an account and the limit is reached, so that the
 * time they take reveals neither.
 */
export async function prepareLinkMail(
  { platform, linkTokens, mailAllowance }: AuthContext,
  { email, purpose, insertMail, passwordHash, role, redirectTo }: LinkMail,
): Promise<PreparedLinkMail> {
  const now = platform.clock.now();
  const key = emailKey(email);
  const id = newId({ platform });
  const mailId = newId({ platform });
  const statements = [
    ...(await mailAllowance.count(purpose, key, now)),
    insertMail({ id: mailId, linkId: id, emailKey: key, now }),
    ...insertLink({
      id,
      hash: await linkTokens.hashOf(await linkTokens.tokenOf(purpose, id)),
      purpose,
      mailId,
      emailKey: key,
      passwordHash: passwordHash ?? null,
      role: role ?? null,
      redirectTo: redirectTo ?? null,
      now,
      expiresAtMs: now + linkLifetimeSeconds[purpose] * 1000,
    }),
  ];
  return { linkId: id, mailId, statements };
}
