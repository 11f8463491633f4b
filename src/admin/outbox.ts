import { unconfirmedRefusal } from "../auth/confirmation.js";
import type { LinkPurpose } from "../auth/links.js";
import { type Caller, longWorkFor } from "../auth/principal.js";
import { instant } from "../auth/store/instant.js";
import { listMails, type MailsAsked } from "../auth/store/outbox.js";
import { type LinkServices, storedLinkUrl } from "../auth/stored-link-url.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { newestFirst, newestFirstAnswer, type Placed } from "./newest-first.js";
import type { AdminRequest, AdminServices } from "./services.js";

const name = "outbox";
const states: readonly NonNullable<MailsAsked["state"]>[] = ["waiting", "sent", "failed", "dropped"];

/** GET /admin/api/outbox?state=: lists mails, the newest first (docs/reference/auth.md#administration). */
export async function getOutbox({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const asked = await newestFirst(request, name, ["state"], services, caller);
  if (isRefusal(asked)) return asked;
  const { chosen, after, limit } = asked;
  const state = states.find((each) => each === chosen.state) ?? null;
  if (state === null && chosen.state !== undefined)
    return badRequest(`state: expected one of ${states.join(", ")}`);
  const statement = listMails({ now: platform.clock.now(), state, after, limit: limit + 1 });
  const [found] = await platform.database.query([statement], longWorkFor(caller, config.api));
  const links = maySeeLinks(caller, services) ? await linksFor(services) : null;
  if (isRefusal(links)) return links;
  const mails = await Promise.all(found!.rows.map((row) => placed(row as MailRow, links)));
  return newestFirstAnswer(mails, asked, name, services, caller);
}

/** A row of the result of `listMails`. */
type MailRow = readonly [
  id: string,
  kind: string,
  recipient: string,
  linkId: string | null,
  actionUrl: string | null,
  createdAtMs: number,
  attempts: number,
  lastError: string | null,
  state: string,
  nextAttemptAtMs: number | null,
  endedAtMs: number | null,
  linkHash: string | null,
  redirectTo: string | null,
];

/**
 * Whether the links of mails are shown: where mails are not really sent, and then to administrators. Whoever has a link
 * becomes its user. So a key must not become an administrator, nor a passer-by at a console that was left open set a new
 * password.
 */
function maySeeLinks(caller: Caller, { config, platform }: AdminServices): boolean {
  const isAdmin = caller.kind === "user" && unconfirmedRefusal(caller, platform.clock.now()) === null;
  return config.mail.transport === "log" && isAdmin;
}

/** What is needed to make links of mails again, with settings that are read once for all of them. */
async function linksFor({ auth }: AdminServices): Promise<LinkServices | Refusal> {
  const settings = await auth.settings();
  if (isRefusal(settings)) return settings;
  return { linkTokens: auth.linkTokens, publicBaseUrl: auth.publicBaseUrl, settings: async () => settings };
}

async function placed(row: MailRow, links: LinkServices | null): Promise<Placed> {
  const [id, purpose, to, , , createdAtMs, attempts, lastError, state, nextAtMs, endedAtMs] = row;
  const shown = {
    id,
    purpose,
    to,
    created_at: instant(createdAtMs),
    state,
    attempts,
    next_attempt_at: nextAtMs === null ? null : instant(nextAtMs),
    ended_at: endedAtMs === null ? null : instant(endedAtMs),
    last_error: lastError,
    ...(links !== null && { link: await linkOf(row, links) }),
  };
  return { shown, place: [createdAtMs, id] };
}

/** The URL that the button of a mail leads to; null where it has none, or its link is no longer valid. */
async function linkOf(row: MailRow, links: LinkServices): Promise<string | null> {
  const [, purpose, , id, actionUrl, , , , , , , hash, redirectTo] = row;
  if (id === null || hash === null) return actionUrl;
  return storedLinkUrl(links, purpose as LinkPurpose, { id, hash, redirectTo });
}
