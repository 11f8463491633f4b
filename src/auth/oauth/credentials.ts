import * as v from "valibot";
import { fromBase64Url, toBase64Url } from "../../encoding/base64.js";
import { aesKey, open, seal } from "../../encoding/secret-keys.js";
import { CredentialsError } from "../../platform/platform.js";
import type { Problem } from "../../problems/problem.js";
import type { AuthSettings } from "../../project/model.js";
import { valibotProblems } from "../../project/valibot-problems.js";

/** The name of a provider of social sign-in (docs/guides/sign-in-providers.md). */
export type OAuthProvider = AuthSettings["providers"][number];

/** All providers of social sign-in that the server knows. */
export const oauthProviders: readonly OAuthProvider[] = ["google", "apple", "github"];

/** Whether the value is the name of a provider of social sign-in that the server knows. */
export function isOAuthProvider(name: unknown): name is OAuthProvider {
  return oauthProviders.some((provider) => provider === name);
}

const filled = v.pipe(v.string(), v.nonEmpty("expected some text"));

/** The schema, for valibot, by which credentials for Google and GitHub are checked. */
export const clientSecretCredentials = v.strictObject({ client_id: filled, client_secret: filled });

/**
 * The schema, for valibot, by which credentials for Apple are checked: `private_key_p8` is the key that client secrets
 * are signed with.
 */
export const appleCredentials = v.strictObject({
  client_id: filled,
  team_id: filled,
  key_id: filled,
  private_key_p8: v.pipe(
    v.string(),
    v.regex(/^\s*-----BEGIN PRIVATE KEY-----[\s\w+/=]+-----END PRIVATE KEY-----\s*$/, "expected a PKCS #8 PEM"),
  ),
});

/** The credentials for sign-in with Apple. */
export type AppleCredentials = v.InferOutput<typeof appleCredentials>;

const schemas = {
  google: clientSecretCredentials,
  apple: appleCredentials,
  github: clientSecretCredentials,
} as const;

/**
 * All problems of a sign-in provider's credentials, given as the text of a JSON file; none where they are usable.
 * Messages never hold a value of the file.
 */
export function credentialProblems(provider: OAuthProvider, text: string, file: string): readonly Problem[] {
  const json = parseJson(text);
  if (json === null) return [{ file, path: "", message: "not valid JSON" }];
  const { success, issues } = v.safeParse(schemas[provider], json.value);
  return success ? [] : valibotProblems(file, issues.map(withoutValue));
}

/** Parses a sign-in provider's credentials. Throws CredentialsError if they are not JSON or do not fit `schema`. */
export function parseCredentials<const S extends v.GenericSchema>(
  provider: OAuthProvider,
  schema: S,
  text: string,
): v.InferOutput<S> {
  const result = v.safeParse(schema, parseJson(text)?.value);
  if (!result.success) throw new CredentialsError(`the credentials of ${provider} are incomplete`);
  return result.output;
}

function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function withoutValue(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  const known = /^(undefined|null|boolean|number|string|Object|Array)$/.test(issue.received);
  return known ? issue : { ...issue, received: "another value" };
}

/**
 * What the sealed (encrypted) credentials of a sign-in provider are bound to: they open only with the same key, for the
 * same project and provider.
 */
export interface SealBinding {
  /** The AES-256 key for sealed credentials, 32 bytes: `SVC_PLATFORM_SECRETS_KEY`. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** The random id of the project whose credentials are sealed. */
  readonly projectId: string;
  readonly provider: string;
}

const format = "svc1.";

/** Encrypts a sign-in provider's credentials as the text of a `.json.sealed` file. `iv` is 12 random bytes. */
export async function sealCredentials(
  text: string,
  binding: SealBinding,
  iv: Uint8Array<ArrayBuffer>,
): Promise<string> {
  return format + toBase64Url(await seal(await aesKey(binding.key), text, associatedData(binding), iv));
}

/**
 * Decrypts the text of a `.json.sealed` file. Null where the key, the project or the provider is not the one that it
 * was sealed for, or the text is damaged.
 */
export async function openCredentials(sealed: string, binding: SealBinding): Promise<string | null> {
  const bytes = sealed.startsWith(format) ? fromBase64Url(sealed.slice(format.length).trim()) : null;
  return bytes === null ? null : open(await aesKey(binding.key), bytes, associatedData(binding));
}

function associatedData({ projectId, provider }: SealBinding): string {
  return JSON.stringify(["svc auth provider", projectId, provider]);
}
