import { serve, type TestProject, type TestServer } from "../server.js";
import { schema } from "./flow.js";
import { type OpenIdDouble, openIdDouble } from "./openid-double.js";

export const doubleCredentials = { client_id: "the client", client_secret: "the provider's own secret" };

/** A server whose Google is the hand-made double, and which has credentials for GitHub too. */
export async function serveWithDouble(
  project: Partial<TestProject> = {},
): Promise<{ readonly provider: OpenIdDouble; readonly server: TestServer }> {
  const provider = await openIdDouble(doubleCredentials.client_id);
  const credentials = JSON.stringify(doubleCredentials);
  const server = await serve({
    schema: schema(),
    credentials: { google: credentials, github: credentials },
    providerEndpoints: { google: provider.endpoints },
    ...project,
  });
  return { provider, server };
}
