import { isRefusal, type Refusal } from "../../http/refusal.js";
import { openObject } from "../../wire/schema.js";
import { readEmail, readToken } from "../body.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, accepted, bodyErrors, signedIn } from "../endpoint.js";
import { email, secret } from "../fields.js";
import { answerLinkRequest } from "../links/link-mail.js";
import { signInByLink } from "../links/use-link.js";
import { insertVerificationMail, type NewMail } from "../store/outbox.js";

/**
 * POST /auth/email-verification/resend: mails a new link to confirm the address, if it has an account that has not
 * confirmed it and the project wants addresses confirmed. The answer and the statements are the same whether or not the
 * address has an account.
 */
export const resendVerificationEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/email-verification/resend",
  summary: "Mails the link that confirms an address once more",
  takes: openObject({ email }),
  answers: accepted,
  errors: [...bodyErrors, 429],
  events: ["link_requested", null],
  needs: "nothing",
  handle: resendVerification,
};

async function resendVerification({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const email = await readEmail(sent);
  if (isRefusal(email)) return email;
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const insertMail = (mail: NewMail) => insertVerificationMail(mail, settings.emailVerification);
  return answerLinkRequest(context, { email, purpose: "email_verification", insertMail }, address);
}

/**
 * POST /auth/email-verification/confirm with the `token` of a mailed link: confirms the address and signs its user in.
 */
export const confirmVerificationEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/email-verification/confirm",
  summary: "Confirms an address, and signs in",
  takes: openObject({ token: secret }),
  answers: signedIn,
  errors: bodyErrors,
  events: ["sign_in", "sign_in_failed"],
  needs: "nothing",
  handle: confirmVerification,
};

async function confirmVerification({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const token = await readToken(sent);
  if (isRefusal(token)) return token;
  return signInByLink(context, { purpose: "email_verification", token, password: null, address });
}
