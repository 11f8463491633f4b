import type { Statement } from "../platform/database.js";
import type { AuthContext } from "./context.js";
import { emailKey } from "./email.js";
import { type LinkPurpose, linkLifetimeSeconds } from "./links.js";
import { newId } from "./sessions.js";
import { insertLink } from "./store/links.js";
import type { NewMail } from "./store/outbox.js";

export interface LinkMail {
  /** Of the recipient. */
  readonly email: string;
  readonly purpose: LinkPurpose;
  /** Who is mailed, in one of the store's rules. */
  readonly insertMail: (mail: NewMail) => Statement;
  readonly passwordHash?: string;
  readonly role?: string | null;
  readonly redirectTo?: string | null;
}

export interface PreparedLinkMail {
  /** Of the link and the mail, should there be any. */
  readonly linkId: string;
  readonly mailId: string;
  readonly statements: readonly Statement[];
}

/**
 * The statements that count a mail, write it to the outbox and make the link that it announces. They are the same
 * whether or not there is an account, and whether or not the allowance is used up; only the rows that they find differ.
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
    await mailAllowance.count(purpose, key, now),
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
