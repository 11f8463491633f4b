import { isRefusal, Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { newId } from "../../platform/new-id.js";
import { HasherBusyError, type HashTurn } from "../../platform/platform.js";
import { constant, count, data, object, openObject, ref } from "../../wire/schema.js";
import { readEmailAndPassword } from "../body.js";
import type { AuthContext, AuthRequest } from "../context.js";
import { emailKey } from "../email.js";
import { type AuthEndpoint, bodyErrors } from "../endpoint.js";
import { email } from "../fields.js";
import { prepareLinkMail } from "../links/link-mail.js";
import { linkLifetimeSeconds } from "../links/links.js";
import { hashPassword, ownAddressProblem, passwordProblem } from "../passwords/passwords.js";
import { completeSignIn } from "../sessions/complete-sign-in.js";
import { disputePasswords } from "../store/links.js";
import { insertRegistrationMail } from "../store/outbox.js";
import { insertUser, type NewUser, userWithPassword } from "../store/users.js";

/**
 * POST /auth/register: creates a user with the role `user`, whatever role the body asks for, and opens a session. Where
 * addresses have to be confirmed, it opens no session but mails a link.
 */
export const registerEndpoint: AuthEndpoint = {
  method: "POST",
  path: "/auth/register",
  summary: "Creates a user of role user, and signs in unless the address has to be confirmed first",
  takes: (password) => openObject({ email, password }),
  answers: {
    201: ref("svc.tokens"),
    202: data(
      object({
        verification_required: constant(true),
        user: ref("svc.tokenUser"),
        verification_expires_in: count,
      }),
    ),
  },
  errors: [...bodyErrors, 409, 429],
  events: ["registration", "registration_failed"],
  needs: "nothing",
  handle: register,
};

async function register({ body: sent, context, address }: AuthRequest): Promise<Response | Refusal> {
  const { platform, config } = context;
  const body = await readEmailAndPassword(sent);
  if (isRefusal(body)) return body;
  const turn: HashTurn = { address, isFor: "registration" };
  // Whether the password hasher has room for one more password is checked before the database is asked anything, so
  // that a flood of registrations costs the database nothing.
  if (!platform.passwordHasher.hasRoomFor(turn)) throw new HasherBusyError("no registration would be hashed");
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  if (settings.registration !== "public")
    return new Refusal("registration_closed", "registration is not open to the public");
  const problem =
    passwordProblem(body.password, config.auth.password_min_length) ?? ownAddressProblem(body.password, body.email);
  if (problem !== null) return problem;
  const tooMany = await context.requestAllowance.take(address, platform.clock.now());
  if (tooMany !== null) return tooMany;
  const passwordHash = await hashPassword(platform.passwordHasher, body.password, turn);
  const user = {
    id: newId(context.platform.random),
    email: body.email,
    emailKey: emailKey(body.email),
    passwordHash,
    role: "user",
    emailVerified: false,
    registrationUnconfirmed: settings.emailVerification.required,
    createdAtMs: platform.clock.now(),
    createdBy: null,
  } as const;
  return settings.emailVerification.required ? registerUnverified(context, user) : signUp(context, user);
}

async function signUp(context: AuthContext, user: NewUser): Promise<Response | Refusal> {
  const factor = {
    before: insertUser(user).statements,
    holder: userWithPassword(user.id, user.passwordHash),
  };
  return (await completeSignIn(context, factor, 201)) ?? taken;
}

const taken = new Refusal("conflict", "the address is registered already");

/**
 * Registers a user where addresses have to be confirmed. The answer and the statements are the same for an address that
 * is new, registered and unconfirmed, or confirmed. The id in the answer is random each time: with a real one, a caller
 * could insert a row that refers to it, and the foreign key would show whether the user is new.
 */
async function registerUnverified(context: AuthContext, user: NewUser): Promise<Response> {
  const { email, role, passwordHash } = user;
  const mail = await prepareLinkMail(context, {
    email,
    purpose: "email_verification",
    insertMail: insertRegistrationMail,
    passwordHash,
  });
  await context.platform.database.batch([
    ...insertUser(user).statements,
    ...mail.statements,
    disputePasswords(mail.linkId, user.emailKey),
  ]);
  context.deliverMail();
  const data = {
    verification_required: true,
    user: { id: newId(context.platform.random), email, role },
    verification_expires_in: linkLifetimeSeconds.email_verification,
  };
  return json({ data }, 202);
}
