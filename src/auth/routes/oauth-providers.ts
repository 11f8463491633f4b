import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import { data, list, object, text } from "../../wire/schema.js";
import type { AuthRequest } from "../context.js";
import { type AuthEndpoint, providerName } from "../endpoint.js";
import { callbackUrl } from "../oauth/providers.js";

/**
 * GET /auth/oauth/providers: the sign-in providers that `$auth` declares and that have credentials which can be used,
 * each with the callback URL to register there.
 */
export const listProvidersEndpoint: AuthEndpoint = {
  method: "GET",
  path: "/auth/oauth/providers",
  summary: "Sign-in providers that are offered",
  answers: { 200: data(list(object({ provider: providerName, callback_url: text }))) },
  errors: [403, 503],
  needs: "nothing",
  handle: listProviders,
};

async function listProviders({ context }: AuthRequest): Promise<Response | Refusal> {
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const data = [];
  for (const provider of new Set(settings.providers))
    if ((await context.providers.connect(provider)) !== null)
      data.push({ provider, callback_url: callbackUrl(context.publicBaseUrl, provider) });
  return json({ data });
}
