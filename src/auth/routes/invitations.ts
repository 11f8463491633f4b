import type { RequestBody } from "../../http/body.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { newId } from "../../platform/new-id.js";
import { effect, run, together } from "../../platform/query.js";
import { data, nullOr, openObject, role, text } from "../../wire/schema.js";
import { type SentInvitation, sentInvitation } from "../../wire/users.js";
import { readAuthBody, readTokenAndPassword } from "../body.js";
import { backendRefusal } from "../callers/backend-refusal.js";
import { principalOf } from "../callers/principal.js";
import type { AuthRequest, CallerRequest } from "../context.js";
import { emailKey, isEmail } from "../email.js";
import { type AuthEndpoint, bodyErrors, keys, signedIn, throttledErrors } from "../endpoint.js";
import { email, secret } from "../fields.js";
import { mailWindowMs } from "../limits/mail-allowance.js";
import { prepareLinkMail } from "../links/link-mail.js";
import { isAllowedDestination } from "../links/link-url.js";
import { linkLifetimeSeconds } from "../links/links.js";
import { signInByLink } from "../links/use-link.js";
import { forgetRegistration } from "../store/links.js";
import { insertInvitationMail } from "../store/outbox.js";
import { insertInvitedUser, invitee, setInviter } from "../store/users.js";

const tooManyMails = new Refusal("rate_limited", "too many invitations were sent to the address within an hour", {
  headers: { "Retry-After": String(mailWindowMs / 1000) },
});

interface Invitation {
  readonly email: string;
  /**
   * The role that the user gets on accepting. Null: they keep the role that is stored with the user, which is `user`
   * for one who is created by the invitation.
   */
  readonly role: "user" | "admin" | null;
  readonly redirectTo: string | null;
}

/** POST /auth/users/invite: invites a user by mail, for a `project:backend` key. */
export const inviteEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/users/invite",
  summary: "Mails an invitation",
  callers: keys,
  takes: openObject({ email, role: nullOr(role), redirect_to: nullOr(text) }, "role", "redirect_to"),
  answers: {
    201: data(sentInvitation),
  },
  errors: [...throttledErrors, 409],
  events: ["invitation_sent", null],
  needs: "caller first",
  handle: invite,
};

async function invite(given: CallerRequest): Promise<Response | Refusal> {
  return backendRefusal(given.caller) ?? inviteUser(given);
}

/**
 * Invites a user by mail; whether the caller may do so was checked before. A new user, or one who has not accepted yet,
 * is mailed a link that sets a password, and older links become invalid. A user who has an account already is mailed
 * only the URL that the invitation leads to; their role and password stay. A disabled user is refused.
 */
export async function inviteUser({
  body,
  context,
  caller,
}: Pick<CallerRequest, "body" | "context" | "caller">): Promise<Response | Refusal> {
  const { platform } = context;
  const invitation = await readInvitation(body);
  if (isRefusal(invitation)) return invitation;
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const { email, role, redirectTo } = invitation;
  if (redirectTo !== null && !isAllowedDestination(redirectTo, settings, context.publicBaseUrl))
    return badRequest(
      "redirect_to: expected an absolute https URL, in its normal form, on the origin of $auth.invitation_url or one of $origins; http is for loopback addresses while the server is at one",
    );
  const actionUrl = redirectTo ?? (settings.invitationUrl || null);
  const user = {
    id: newId(context.platform.random),
    email,
    emailKey: emailKey(email),
    createdAtMs: platform.clock.now(),
  };
  const mail = await prepareLinkMail(context, {
    email,
    purpose: "invitation",
    insertMail: (mail) => insertInvitationMail(mail, actionUrl),
    role,
    redirectTo,
  });
  const store = effect(
    insertInvitedUser(user),
    ...mail.statements,
    ...forgetRegistration(mail.linkId),
    setInviter(mail.linkId, principalOf(caller)),
  );
  const [, invited] = await run(platform.database, together(store, invitee(user.emailKey, mail.mailId)));
  const { isPending } = invited;
  if (invited.disabled) return new Refusal("conflict", "the user is disabled");
  if (!invited.isMailed) return tooManyMails;
  context.deliverMail();
  const sent: SentInvitation = {
    email: invited.email,
    role: (isPending && role) || invited.role,
    existing_user: !isPending,
    expires_in: isPending ? linkLifetimeSeconds.invitation : null,
  };
  return json({ data: sent }, 201);
}

async function readInvitation(sent: RequestBody): Promise<Invitation | Refusal> {
  const body = await readAuthBody(sent);
  if (isRefusal(body)) return body;
  const { email, role = null, redirect_to: redirectTo = null } = body;
  if (typeof email !== "string" || !isEmail(email)) return badRequest("email: expected local@domain.tld");
  if (role !== null && role !== "user" && role !== "admin") return badRequest("role: expected user or admin");
  if (redirectTo !== null && typeof redirectTo !== "string") return badRequest("redirect_to: expected a string");
  return { email, role, redirectTo };
}

/** POST /auth/invitations/accept: sets the password of an invited user, confirms the address and signs the user in. */
export const acceptInvitationEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/invitations/accept",
  summary: "Accepts an invitation: sets the password, and signs in",
  takes: (password) => openObject({ token: secret, password }),
  answers: signedIn,
  errors: bodyErrors,
  events: ["sign_in", "sign_in_failed"],
  needs: "nothing",
  handle: acceptInvitation,
};

async function acceptInvitation({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const body = await readTokenAndPassword(sent);
  if (isRefusal(body)) return body;
  return signInByLink(context, { purpose: "invitation", ...body, address });
}
