import { linkUrl } from "../auth/link-url.js";
import type { LinkPurpose, LinkTokens } from "../auth/links.js";
import {
  anyMailDue,
  claimMails,
  deleteMail,
  type MailKind,
  makeMailsDue,
  releaseMail,
} from "../auth/store/outbox.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Result } from "../platform/database.js";
import type { MailMessage, Platform } from "../platform/platform.js";
import type { AuthSettings } from "../project/model.js";
import { renderMail } from "./templates.js";

export interface OutboxServices {
  readonly platform: Pick<Platform, "database" | "mail" | "clock" | "log">;
  readonly linkTokens: LinkTokens;
  /** `$auth` of the schema in force. */
  readonly settings: () => Promise<AuthSettings | Refusal>;
  readonly publicBaseUrl: string;
  /** `mail.from` */
  readonly from: string;
}

/** Delivers what the outbox holds. A mail is repeated only where its delivery was not confirmed. */
export interface Outbox {
  /** Sends what is due and not in hand already; ends when that is delivered or has failed. */
  deliverDue(): Promise<void>;
  /** At start: what waited for another attempt is due now. */
  makeAllDue(): Promise<void>;
  /** Takes nothing more in hand, and waits for what is. */
  finish(): Promise<void>;
}

/** Before the second attempt; it doubles up to an hour. */
const backoffMs = 10_000;
const backoffMsMax = 3_600_000;
/** For which a mail in hand is nobody else's. */
const leaseMs = 60_000;
/** Of the lease, what has to be left before a mail is sent: the deadline of any transport, and time to note the delivery. */
const sendMs = 40_000;
/** A mail that could not be delivered for so long is given up. */
const giveUpAfterMs = 259_200_000;
/** How many are sent at once, so that one that hangs does not hold up the others. */
const mailsInHandMax = 10;

interface ClaimedMail {
  readonly id: string;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly linkId: string | null;
  readonly actionUrl: string | null;
  readonly createdAtMs: number;
  readonly attempts: number;
  readonly claimedAtMs: number;
  /** Null where the link is dead, or there is none. */
  readonly linkExpiresAtMs: number | null;
  readonly redirectTo: string | null;
}

export function createOutbox(services: OutboxServices): Outbox {
  const { platform } = services;
  const { database, clock, log } = platform;
  const inHand = new Map<string, Promise<void>>();
  /** Accepted by the transport, and still in the outbox because the storage failed then. */
  const confirmed = new Set<string>();
  let claiming: Promise<void> = Promise.resolve();
  let finishing = false;

  const remove = async (id: string): Promise<void> => {
    await database.batch([deleteMail(id)]);
    confirmed.delete(id);
  };

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    try {
      const message = await messageOf(services, mail);
      if (message !== null) {
        if (clock.now() > mail.claimedAtMs + leaseMs - sendMs) throw new Error("the database was too slow");
        await platform.mail.send(message);
        confirmed.add(mail.id);
      }
      await remove(mail.id);
    } catch (error) {
      if (confirmed.has(mail.id)) log.error("a delivered mail is still in the outbox", error);
      else await failed(mail, error);
    } finally {
      inHand.delete(mail.id);
    }
  };

  const failed = async ({ id, kind, createdAtMs, attempts }: ClaimedMail, cause: unknown): Promise<void> => {
    const givenUp = clock.now() - createdAtMs >= giveUpAfterMs;
    log.error(`a mail (${kind}) could not be delivered${givenUp ? ", and is given up" : ""}`, cause);
    const written = givenUp ? remove(id) : database.batch([releaseMail(id, attempts)]);
    await written.catch((error: unknown) => log.error("the outbox cannot be written", error));
  };

  const claim = async (): Promise<readonly ClaimedMail[]> => {
    const now = clock.now();
    const mailsMax = finishing ? 0 : mailsInHandMax - inHand.size;
    if (mailsMax === 0) return [];
    const [due] = await database.query([anyMailDue(now)]);
    if (due!.rows.length === 0) return [];
    const except = [...inHand.keys(), ...confirmed];
    const [claimed] = await database.batch([
      claimMails({ now, mailsMax, except, backoffMs, backoffMsMax, leaseMs }),
    ]);
    return claimed!.rows.map((row) => claimedMail(row, now));
  };

  /** The next mails that are due, on their way. One claim at a time, or two would fill the same places. */
  const take = async (): Promise<readonly Promise<void>[]> => {
    const taken = claiming.then(claim).then((mails) =>
      mails.map((mail) => {
        const delivered = deliver(mail);
        inHand.set(mail.id, delivered);
        return delivered;
      }),
    );
    claiming = taken.then(
      () => {},
      () => {},
    );
    return taken;
  };

  return {
    deliverDue: async () => {
      for (const id of confirmed) if (!inHand.has(id)) await remove(id);
      for (let taken = await take(); taken.length > 0; taken = await take()) await Promise.all(taken);
    },
    makeAllDue: async () => {
      await database.batch([makeMailsDue(clock.now())]);
    },
    finish: async () => {
      finishing = true;
      await claiming;
      await Promise.all(inHand.values());
    },
  };
}

function claimedMail(row: Result["rows"][number], claimedAtMs: number): ClaimedMail {
  const [id, kind, recipient, linkId, actionUrl, createdAtMs, attempts, linkExpiresAtMs, redirectTo] = row;
  return {
    id: id as string,
    kind: kind as MailKind,
    recipient: recipient as string,
    linkId: linkId as string | null,
    actionUrl: actionUrl as string | null,
    createdAtMs: createdAtMs as number,
    attempts: attempts as number,
    claimedAtMs,
    linkExpiresAtMs: linkExpiresAtMs as number | null,
    redirectTo: redirectTo as string | null,
  };
}

/** Null where the link that the mail announces is dead: used, expired or replaced by a newer one. */
async function messageOf(
  { linkTokens, settings, publicBaseUrl, from }: OutboxServices,
  { kind, recipient, linkId, actionUrl, linkExpiresAtMs, redirectTo }: ClaimedMail,
): Promise<MailMessage | null> {
  if (linkId === null) return renderMail({ kind, from, to: recipient, actionUrl, expiresAtMs: null });
  if (linkExpiresAtMs === null) return null;
  const pages = await settings();
  if (isRefusal(pages)) throw new Error(pages.message);
  const purpose = kind as LinkPurpose;
  const token = await linkTokens.tokenOf(purpose, linkId);
  const url = linkUrl(pages, publicBaseUrl, { purpose, token, redirectTo });
  return renderMail({ kind, from, to: recipient, actionUrl: url, expiresAtMs: linkExpiresAtMs });
}
