import { unconfirmedRefusal } from "../auth/callers/confirmation.js";
import { type Caller, longWorkFor } from "../auth/callers/principal.js";
import { type LinkServices, storedLinkUrl } from "../auth/links/stored-link-url.js";
import { instant } from "../auth/store/instant.js";
import type { LinkPurpose } from "../auth/store/links.js";
import { listMails, type WaitingOrPastMail } from "../auth/store/outbox.js";
import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { ask } from "../platform/query.js";
import { type ListedMail, listedMail } from "../wire/mails.js";
import { type AdminEndpoint, administrators } from "./endpoint.js";
import { type ListedEntry, newestFirst, newestFirstAnswer, newestFirstEndpoint } from "./newest-first.js";
import type { AdminRequest, AdminServices } from "./services.js";

const name = "outbox";
const states: readonly ListedMail["state"][] = ["waiting", "sent", "failed", "dropped"];

/**
 * GET /admin/api/outbox?state=: lists the mails that wait to be sent and those that have ended lately, the newest first
 * (docs/reference/auth.md#administration).
 */
export const getOutboxEndpoint: AdminEndpoint = {
  method: "GET",
  path: "/admin/api/outbox",
  summary: "Lists mails that wait, and those that have ended lately",
  callers: administrators,
  ...newestFirstEndpoint(listedMail, "state"),
  needs: "session",
  handle: getOutbox,
};

async function getOutbox({ request, services, caller }: AdminRequest): Promise<Response | Refusal> {
  const { platform, config } = services;
  const asked = await newestFirst(request, name, ["state"], services, caller);
  if (isRefusal(asked)) return asked;
  const { chosen, after, limit } = asked;
  const state = states.find((each) => each === chosen.state) ?? null;
  if (state === null && chosen.state !== undefined) return badRequest(`state: expected one of ${states.join(", ")}`);
  const page = listMails({ now: platform.clock.now(), state, after, limit: limit + 1 });
  const found = await ask(platform.database, page, longWorkFor(caller, config.api));
  const links = maySeeLinks(caller, services) ? await linksFor(services) : null;
  if (isRefusal(links)) return links;
  const mails = await Promise.all(found.map((mail) => placed(mail, links)));
  return newestFirstAnswer(mails, asked, name, services, caller);
}

/**
 * Whether the answer shows the links that mails hold: only where mails are logged instead of sent (`mail.transport`),
 * and only to administrators. By such a link one can sign in as the mail's recipient. So an API key must not see any,
 * with which it could become an administrator; nor may somebody at a console that was left open, who has not typed the
 * password lately.
 */
function maySeeLinks(caller: Caller, { config, platform }: AdminServices): boolean {
  const isAdmin = caller.kind === "user" && unconfirmedRefusal(caller, platform.clock.now()) === null;
  return config.mail.transport === "log" && isAdmin;
}

/** What is needed to compute the links of mails again. The settings are read once for all mails of the answer. */
async function linksFor({ auth }: AdminServices): Promise<LinkServices | Refusal> {
  const settings = await auth.settings();
  if (isRefusal(settings)) return settings;
  return { linkTokens: auth.linkTokens, publicBaseUrl: auth.publicBaseUrl, settings: async () => settings };
}

async function placed(mail: WaitingOrPastMail, links: LinkServices | null): Promise<ListedEntry<ListedMail>> {
  const { id, kind, recipient, createdAtMs, attempts, lastError, state, nextAttemptAtMs, endedAtMs } = mail;
  const shown = {
    id,
    purpose: kind,
    to: recipient,
    created_at: instant(createdAtMs),
    state,
    attempts,
    next_attempt_at: nextAttemptAtMs === null ? null : instant(nextAttemptAtMs),
    ended_at: endedAtMs === null ? null : instant(endedAtMs),
    last_error: lastError,
    ...(links !== null && { link: await linkOf(mail, links) }),
  };
  return { shown, place: [createdAtMs, id] };
}

/** The URL that the button of a mail leads to; null where the mail has no button, or its link can no longer be used. */
async function linkOf(mail: WaitingOrPastMail, links: LinkServices): Promise<string | null> {
  const { kind, linkId: id, actionUrl, linkHash: hash, redirectTo } = mail;
  if (id === null || hash === null) return actionUrl;
  return storedLinkUrl(links, kind as LinkPurpose, { id, hash, redirectTo });
}
