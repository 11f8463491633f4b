import { withFacts } from "../../http/answer-facts.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { effect, run, together } from "../../platform/query.js";
import { constant, count, data, nullOr, object, openObject } from "../../wire/schema.js";
import { readEmailAndOptionalPassword, readToken } from "../body.js";
import { notAUser } from "../callers/not-a-user.js";
import type { AuthRequest, CallerRequest } from "../context.js";
import { type AuthEndpoint, bodyErrors, throttledErrors, users } from "../endpoint.js";
import { email, presentedPassword, secret } from "../fields.js";
import { prepareEmailChange } from "../links/email-change.js";
import { linkLifetimeSeconds } from "../links/links.js";
import { useLink } from "../links/use-link.js";
import { asOwner, type OwnerProof } from "../passwords/as-owner.js";
import { matchesUser } from "../store/users.js";

/**
 * POST /auth/email: asks to change the caller's email address. A link that completes the change is mailed to the new
 * address, and a notice to the present one. Where another account has the new address, its owner is mailed without a
 * link; the answer and the statements are the same. The body has to have the password; where the account has none, the
 * caller has to have signed in within the last five minutes.
 */
export const requestEmailChangeEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/email",
  summary: "Mails a link that changes the own address",
  callers: users,
  takes: openObject({ email, password: nullOr(presentedPassword) }, "password"),
  answers: { 202: data(object({ accepted: constant(true), verification_expires_in: count })) },
  errors: throttledErrors,
  events: ["email_change_requested", "email_change_failed"],
  needs: "caller first",
  handle: requestEmailChange,
};

async function requestEmailChange({
  body: sent,
  context,
  caller,
  address,
}: CallerRequest): Promise<Response | Refusal> {
  const { database, clock } = context.platform;
  if (caller.kind !== "user") return notAUser(caller);
  const body = await readEmailAndOptionalPassword(sent);
  if (isRefusal(body)) return body;
  const { email, password } = body;
  if (email === caller.email) return badRequest("email: it is the account's address already");
  const tooMany = await context.requestAllowance.take(address, clock.now());
  if (tooMany !== null) return tooMany;
  return asOwner(context, { caller, password, address }, async ({ owner, forgive, refusal }: OwnerProof) => {
    const change = await prepareEmailChange(context, { caller, email, owner });
    const query = together(effect(...change, ...forgive), matchesUser(owner));
    const [, isOwner] = await run(database, query);
    if (!isOwner) return refusal;
    context.deliverMail();
    const data = { accepted: true, verification_expires_in: linkLifetimeSeconds.email_change };
    return json({ data }, 202);
  });
}

/**
 * POST /auth/email/confirm with the `token` of the mailed link: changes the account's email address to the one that the
 * link was mailed to. Every session ends but the one that has asked for the change, and a mail to the old address says
 * that it was changed.
 */
export const confirmEmailChangeEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/email/confirm",
  summary: "Changes the address to the one that the link was mailed to",
  takes: openObject({ token: secret }),
  answers: { 200: data(object({ email_updated: constant(true) })) },
  errors: bodyErrors,
  events: ["email_changed", "link_refused"],
  needs: "nothing",
  handle: confirmEmailChange,
};

async function confirmEmailChange({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const token = await readToken(sent);
  if (isRefusal(token)) return token;
  const used = await useLink(context, { purpose: "email_change", token, password: null, address });
  if (isRefusal(used)) return used;
  return withFacts(json({ data: { email_updated: true } }), { principal: { kind: "user", id: used.userId } });
}
