import type { AuthContext } from "../auth/context.js";
import { MailAllowance } from "../auth/limits/mail-allowance.js";
import { RequestAllowance } from "../auth/limits/request-allowance.js";
import { PasswordThrottle } from "../auth/limits/throttle.js";
import { createLinkTokens } from "../auth/links/links.js";
import { createProviders } from "../auth/oauth/providers.js";
import type { AccessTokens } from "../auth/sessions/access-token.js";
import { isRefusal } from "../http/refusal.js";
import { createOutbox, type Outbox } from "../mail/outbox.js";
import type { ProjectSource } from "../schema/project-source.js";
import type { AppOptions } from "./app-options.js";
import { currentProject } from "./current-project.js";
import type { Keys } from "./keys.js";

/** What signing in needs, and the outbox, which it shares with the server's upkeep. */
export interface Auth {
  readonly context: AuthContext;
  readonly outbox: () => Outbox;
}

/** Makes what the handlers under `/auth` share. */
export async function createAuth(
  { platform, config, publicBaseUrl, providerEndpoints = {} }: AppOptions,
  keys: Keys,
  tokens: AccessTokens,
  projects: ProjectSource,
): Promise<Auth> {
  const { database } = platform;
  const linkTokens = await createLinkTokens(keys.link);
  const deliverDue = () => outbox().deliverDue();
  const context: AuthContext = {
    platform,
    config,
    tokens,
    successorKeys: keys.successor,
    throttle: new PasswordThrottle(database, config.auth.throttle, keys.throttle),
    mailAllowance: new MailAllowance(config.auth.throttle, keys.throttle),
    requestAllowance: new RequestAllowance(database, config.auth.throttle, keys.throttle),
    linkTokens,
    deliverMail: () => platform.defer(deliverDue),
    publicBaseUrl,
    providers: createProviders(platform, providerEndpoints),
    oauthStateKeys: keys.oauthState,
    settings: async (version) => {
      const project = await currentProject(projects, database, version);
      return isRefusal(project) ? project : { ...project.schema.auth, origins: project.schema.origins };
    },
  };
  const newOutbox = () =>
    createOutbox({
      platform,
      linkTokens,
      settings: context.settings,
      publicBaseUrl,
      from: config.mail.from,
    });
  const onlyOutbox = newOutbox();
  // The outbox keeps in memory which mails are being sent. If a runtime may cancel requests in the middle, a mail could
  // stay marked forever, so each use gets a new outbox. The lease of a mail in the database still keeps it from being
  // sent twice.
  const outbox = () => (platform.requestsVanish ? newOutbox() : onlyOutbox);
  return { context, outbox };
}
