import type { Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import type { Statement } from "../../platform/database.js";
import { newId } from "../../platform/new-id.js";
import type { Platform } from "../../platform/platform.js";
import { emailKey } from "../email.js";
import type { MailAllowance } from "../limits/mail-allowance.js";
import type { RequestAllowance } from "../limits/request-allowance.js";
import { insertLink, type LinkPurpose } from "../store/links.js";
import type { NewMail } from "../store/outbox.js";
import { type LinkTokens, linkLifetimeSeconds } from "./links.js";

/** What preparing a mail with a link takes of the server. */
export interface LinkMailServices {
  readonly platform: Platform;
  readonly linkTokens: LinkTokens;
  readonly mailAllowance: MailAllowance;
}

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
  { platform, linkTokens, mailAllowance }: LinkMailServices,
  { email, purpose, insertMail, passwordHash, role, redirectTo }: LinkMail,
): Promise<PreparedLinkMail> {
  const now = platform.clock.now();
  const key = emailKey(email);
  const id = newId(platform.random);
  const mailId = newId(platform.random);
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

/**
 * Answers a request for a mail with a link. The answer and the statements are the same whether or not the address has
 * an account. Refuses with 429 where too many such requests came from the client's address.
 */
export async function answerLinkRequest(
  context: LinkMailServices & {
    readonly requestAllowance: RequestAllowance;
    readonly deliverMail: () => void;
  },
  mail: LinkMail,
  address: string,
): Promise<Response | Refusal> {
  const { database, clock } = context.platform;
  const tooMany = await context.requestAllowance.take(address, clock.now());
  if (tooMany !== null) return tooMany;
  const { statements } = await prepareLinkMail(context, mail);
  await database.batch(statements);
  context.deliverMail();
  return json({ data: { accepted: true } }, 202);
}
