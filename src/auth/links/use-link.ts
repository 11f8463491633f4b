import { isRefusal, Refusal } from "../../http/refusal.js";
import { newId } from "../../platform/new-id.js";
import { ask, run } from "../../platform/query.js";
import type { PasswordThrottle } from "../limits/throttle.js";
import { hashPassword, ownAddressProblem, passwordProblem } from "../passwords/passwords.js";
import { completeSignIn } from "../sessions/complete-sign-in.js";
import type { SessionServices } from "../sessions/make-session.js";
import { changeEmail } from "../store/email-change.js";
import { consumeLink, type LinkPurpose, type LinkUse, liveLink, type UsedLink, userOfLink } from "../store/links.js";
import type { LinkTokens } from "./links.js";

/** What using a mailed link takes of the server. */
export interface UseLinkServices extends SessionServices {
  readonly throttle: PasswordThrottle;
  readonly linkTokens: LinkTokens;
  readonly deliverMail: () => void;
}

/** A request to use a mailed link. */
export interface LinkOpening {
  readonly purpose: LinkPurpose;
  readonly token: string;
  /** The password to set; null for links that set none. */
  readonly password: string | null;
  /** The client's IPv4 address, or the /64 network of its IPv6 address, as `addressUnit` gives it. */
  readonly address: string;
}

/**
 * Uses a mailed link. A link of the purpose `email_change` gives the user another email address. Any other link
 * confirms the user's email address, sets the password that came with the request (or else one that the link carries),
 * and ends the user's sessions; the client's IP address is then the only one that the account has signed in from, so
 * that failed passwords of strangers do not keep out somebody who has just set a new password. Refuses with
 * `invalid_token` where the link is not live. A password that is not acceptable is refused too, and leaves the link
 * unused.
 */
export async function useLink(services: UseLinkServices, opening: LinkOpening): Promise<UsedLink | Refusal> {
  const use = await prepareUse(services, opening);
  if (isRefusal(use)) return use;
  const isMove = opening.purpose === "email_change";
  const query = isMove ? changeEmail({ ...use, mailId: newId(services.platform.random) }) : consumeLink(use);
  const used = await run(services.platform.database, query);
  if (used === null) return invalidToken;
  if (isMove) services.deliverMail();
  return used;
}

/** Uses a mailed link, signs its user in and responds with their tokens. Refuses what `useLink` refuses. */
export async function signInByLink(
  services: UseLinkServices,
  opening: LinkOpening & { readonly purpose: "email_verification" | "invitation" },
): Promise<Response | Refusal> {
  const use = await prepareUse(services, opening);
  if (isRefusal(use)) return use;
  const factor = { before: consumeLink(use).statements, holder: userOfLink(use) };
  return (await completeSignIn(services, factor, 200)) ?? invalidToken;
}

async function prepareUse(
  services: UseLinkServices,
  { purpose, token, password, address }: LinkOpening,
): Promise<LinkUse | Refusal> {
  const { platform, config, linkTokens, throttle } = services;
  const problem = password === null ? null : passwordProblem(password, config.auth.password_min_length);
  if (problem !== null) return problem;
  const email = await addressOfLink(services, purpose, token);
  if (email === null) return invalidToken;
  const ownAddress = password === null ? null : ownAddressProblem(password, email);
  if (ownAddress !== null) return ownAddress;
  // The password is hashed only after the link was found to be live and the password to be acceptable: a token without
  // a live link costs no hash, and a weak password does not use the link up.
  const passwordHash =
    password === null ? null : await hashPassword(platform.passwordHasher, password, { address, isFor: "sign_in" });
  const addressKey = await throttle.addressKey(address);
  return {
    hash: await linkTokens.hashOf(token),
    purpose,
    passwordHash,
    addressKey,
    usedBy: newId(platform.random),
    now: platform.clock.now(),
  };
}

const invalidToken = new Refusal(
  "invalid_token",
  "the link is unknown, used, expired, replaced by a newer one, or for something else",
);

/**
 * The email address that the user has once the mailed link with this token is used. Null unless the link is live, and
 * was made under the current or the previous secret of the server. A token is computed from the secret and the link's
 * id, so when a secret that has leaked is replaced, the links made with it must become invalid too.
 */
export async function addressOfLink(
  { platform, linkTokens }: Pick<UseLinkServices, "platform" | "linkTokens">,
  purpose: LinkPurpose,
  token: string,
): Promise<string | null> {
  const hash = await linkTokens.hashOf(token);
  const found = await ask(platform.database, liveLink(hash, purpose, platform.clock.now()));
  if (found === null) return null;
  return (await linkTokens.tokenOfStored(purpose, { id: found.id, hash })) === null ? null : found.email;
}
