import { CredentialsError, type Platform } from "./platform.js";

/** Opens one provider's sealed text; null where it does not open. */
export type OpenSealed = (sealed: string, provider: string) => Promise<string | null>;

/**
 * Reads the sealed text anew each time, so that what is installed beside the server takes effect from the next request.
 * `open` is null where the environment holds no key.
 */
export function providerCredentials(
  readSealed: (provider: string) => Promise<string | null>,
  open: OpenSealed | null,
): Platform["providerCredentials"] {
  return async (provider) => {
    const sealed = await readSealed(provider);
    if (sealed === null) return null;
    if (open === null)
      throw new CredentialsError(
        `the credentials of ${provider} need SVC_PLATFORM_SECRETS_KEY, which is not set`,
      );
    const opened = await open(sealed, provider);
    if (opened !== null) return opened;
    throw new CredentialsError(
      `the credentials of ${provider} do not open: they were sealed under another key or for another project`,
    );
  };
}
