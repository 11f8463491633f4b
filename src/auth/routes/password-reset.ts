import { withFacts } from "../../http/answer-facts.js";
import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { constant, data, object, openObject } from "../../wire/schema.js";
import { readEmail, readTokenAndPassword } from "../body.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, accepted, bodyErrors } from "../endpoint.js";
import { email, secret } from "../fields.js";
import { answerLinkRequest } from "../links/link-mail.js";
import { useLink } from "../links/use-link.js";
import { insertPasswordResetMail } from "../store/outbox.js";

/**
 * POST /auth/password-reset/request: mails a link that resets the password. The answer and the statements are the same
 * whether or not the address has an account.
 */
export const requestPasswordResetEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/password-reset/request",
  summary: "Mails a link that sets a password",
  takes: openObject({ email }),
  answers: accepted,
  errors: [...bodyErrors, 429],
  events: ["link_requested", null],
  needs: "nothing",
  handle: requestPasswordReset,
};

async function requestPasswordReset({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const email = await readEmail(sent);
  if (isRefusal(email)) return email;
  const insertMail = insertPasswordResetMail;
  return answerLinkRequest(context, { email, purpose: "password_reset", insertMail }, address);
}

/**
 * POST /auth/password-reset/confirm with the `token` of a mailed link and `password`: sets the new password and ends
 * every session of the user. A disabled user stays disabled.
 */
export const confirmPasswordResetEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/password-reset/confirm",
  summary: "Sets a password, and ends every session",
  takes: (password) => openObject({ token: secret, password }),
  answers: { 200: data(object({ password_updated: constant(true) })) },
  errors: bodyErrors,
  events: ["password_reset", "link_refused"],
  needs: "nothing",
  handle: confirmPasswordReset,
};

async function confirmPasswordReset({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const body = await readTokenAndPassword(sent);
  if (isRefusal(body)) return body;
  const used = await useLink(context, { purpose: "password_reset", ...body, address });
  if (isRefusal(used)) return used;
  return withFacts(json({ data: { password_updated: true } }), {
    principal: { kind: "user", id: used.userId },
  });
}
