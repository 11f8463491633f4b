import { isRefusal, type Refusal } from "../../http/refusal.js";
import { json } from "../../http/respond.js";
import type { AuthRequest } from "../context.js";
import { callbackUrl } from "../oauth/providers.js";

/**
 * GET /auth/oauth/providers: the sign-in providers that `$auth` declares and that have credentials which can be used,
 * each with the callback URL to register there.
 */
export async function listProviders({ context }: AuthRequest): Promise<Response | Refusal> {
  const settings = await context.settings();
  if (isRefusal(settings)) return settings;
  const data = [];
  for (const provider of new Set(settings.providers))
    if ((await context.providers.connect(provider)) !== null)
      data.push({ provider, callback_url: callbackUrl(context.publicBaseUrl, provider) });
  return json({ data });
}
