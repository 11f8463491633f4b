import { type LinkServices, storedLinkUrl } from "../auth/links/stored-link-url.js";
import type { LinkPurpose } from "../auth/store/links.js";
import {
  anyMailDue,
  type ClaimedMail,
  claimMails,
  endMail,
  type MailEnd,
  makeMailsDue,
  releaseMail,
} from "../auth/store/outbox.js";
import type { MailMessage, Platform } from "../platform/platform.js";
import { ask, run } from "../platform/query.js";
import { renderMail } from "./templates.js";

/** What the outbox needs. */
export interface OutboxServices extends LinkServices {
  readonly platform: Pick<Platform, "database" | "mail" | "clock" | "log">;
  /** `mail.from` of svc.toml. */
  readonly from: string;
}

/**
 * Delivers the mails of the table `_outbox`. A mail is sent a second time only if the transport did not confirm the
 * first. `docs/reference/auth.md#mails-and-their-limits`
 */
export interface Outbox {
  /** Sends the mails that are due and not being sent already. Resolves when each is delivered or has failed. */
  deliverDue(): Promise<void>;
  /** Makes all mails due that wait for their next attempt. Called when the server starts. */
  makeAllDue(): Promise<void>;
  /** Begins no further mail, and resolves when those that are being sent are delivered or have failed. */
  finish(): Promise<void>;
}

/** The wait before the second attempt. It doubles with each further attempt, up to an hour. */
const backoffMs = 10_000;
const backoffMsMax = 3_600_000;
/** No other process takes a claimed mail before this lease has ended. */
const leaseMs = 60_000;
/**
 * A claimed mail is handed to the transport only if the claim still holds for the longest that a transport takes (30
 * seconds), and the time to remove the mail. Otherwise another process could send the mail as well.
 */
const sendMs = 40_000;
/** A mail that could not be delivered for three days leaves the outbox as failed, and the log says so. */
const giveUpAfterMs = 259_200_000;
/** Several mails are sent at once, so that a delivery that hangs does not hold up the others. */
const mailsInHandMax = 10;

/** A claimed mail, and when this process has claimed it. */
type MailInHand = ClaimedMail & { readonly claimedAtMs: number };

/**
 * Makes the outbox of one process. Deliveries that fail are logged and tried again later; they do not make its
 * functions reject.
 */
export function createOutbox(services: OutboxServices): Outbox {
  const { platform } = services;
  const { database, clock, log } = platform;
  const inHand = new Map<string, Promise<void>>();
  /**
   * Mails that the transport has accepted, but that could not be removed because the storage failed. They are not sent
   * again.
   */
  const confirmed = new Set<string>();
  let claiming: Promise<void> = Promise.resolve();
  let finishing = false;

  const end = async (id: string, how: MailEnd, error: string | null = null): Promise<void> => {
    await database.batch(endMail(id, how, clock.now(), error));
    confirmed.delete(id);
  };

  const deliver = async (mail: MailInHand): Promise<void> => {
    try {
      const message = await messageOf(services, mail);
      if (message !== null) {
        if (clock.now() > mail.claimedAtMs + leaseMs - sendMs) throw new Error("the database was too slow");
        await platform.mail.send(message);
        confirmed.add(mail.id);
      }
      await end(mail.id, message === null ? "dropped" : "sent");
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
    const error = inWords(cause);
    const written = givenUp ? end(id, "failed", error) : database.batch([releaseMail(id, attempts, error)]);
    await written.catch((error: unknown) => log.error("the outbox cannot be written", error));
  };

  const claim = async (): Promise<readonly MailInHand[]> => {
    const now = clock.now();
    const mailsMax = finishing ? 0 : mailsInHandMax - inHand.size;
    if (mailsMax === 0) return [];
    if (!(await ask(database, anyMailDue(now)))) return [];
    const except = [...inHand.keys(), ...confirmed];
    const due = claimMails({ now, mailsMax, except, backoffMs, backoffMsMax, leaseMs });
    return (await run(database, due)).map((mail) => ({ ...mail, claimedAtMs: now }));
  };

  /**
   * Claims the next due mails and starts to send them. Claims run one after the other, because two at once could
   * together exceed `mailsInHandMax`.
   */
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
      for (const id of confirmed) if (!inHand.has(id)) await end(id, "sent");
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

/** Null if the mail's link is used, expired or replaced by a newer one: then nothing is sent. */
async function messageOf(
  services: OutboxServices,
  { kind, recipient, linkId, actionUrl, linkExpiresAtMs, redirectTo, linkHash }: ClaimedMail,
): Promise<MailMessage | null> {
  const { from } = services;
  if (linkId === null) return renderMail({ kind, from, to: recipient, actionUrl, expiresAtMs: null });
  if (linkExpiresAtMs === null || linkHash === null) return null;
  const link = { id: linkId, hash: linkHash, redirectTo };
  const url = await storedLinkUrl(services, kind as LinkPurpose, link);
  if (url === null) throw new Error("its link was made under a secret that is not set any more");
  return renderMail({ kind, from, to: recipient, actionUrl: url, expiresAtMs: linkExpiresAtMs });
}

const errorLengthMax = 200;

/** What went wrong, as one short line of visible ASCII characters. */
function inWords(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replace(/[^\x20-\x7e]+/g, " ").slice(0, errorLengthMax);
}
