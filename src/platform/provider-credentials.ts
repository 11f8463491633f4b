import { CredentialsError, type Platform } from "./platform.js";

/**
 * Decrypts the sealed credentials of a sign-in provider. Null if they were sealed under another key or for another
 * project.
 */
export type OpenSealed = (sealed: string, provider: string) => Promise<string | null>;

/**
 * Implements `Platform.providerCredentials`. Reads the sealed text on each call, so that newly installed credentials
 * take effect without a restart. `open` is null if SVC_PLATFORM_SECRETS_KEY is not set; asking for installed
 * credentials then throws CredentialsError.
 */
export function providerCredentials(
  readSealed: (provider: string) => Promise<string | null>,
  open: OpenSealed | null,
): Platform["providerCredentials"] {
  return async (provider) => {
    const sealed = await readSealed(provider);
    if (sealed === null) return null;
    if (open === null)
      throw new CredentialsError(`the credentials of ${provider} need SVC_PLATFORM_SECRETS_KEY, which is not set`);
    const opened = await open(sealed, provider);
    if (opened !== null) return opened;
    throw new CredentialsError(
      `the credentials of ${provider} do not open: they were sealed under another key or for another project`,
    );
  };
}
