import { fromBase64Url, toBase64Url } from "../../encoding/base64.js";
import { hashSecret } from "../../encoding/hash-secret.js";
import type { Platform } from "../../platform/platform.js";
import { ask, run } from "../../platform/query.js";
import { hasAdmin, insertSetup } from "../store/setup.js";

const tokenBytes = 32;
const lifetimeMs = 1_800_000;

/**
 * Whether the text has the form of a setup link's token, which lets the first administrator be made. Whether it is the
 * stored one is not checked.
 */
export function isSetupToken(text: string): boolean {
  return fromBase64Url(text)?.length === tokenBytes;
}

/**
 * Makes a setup link, by which the first administrator can be made in the console, once, within half an hour. Returns
 * the part of the link that follows the console's URL. Only the hash of the link's token is stored, and earlier links
 * become invalid. Null where there is an administrator already.
 */
export async function makeSetupLink({
  database,
  clock,
  random,
}: Pick<Platform, "database" | "clock" | "random">): Promise<string | null> {
  // If there is an administrator already, this read is all: a start of the server that needs no link writes nothing.
  if (await ask(database, hasAdmin())) return null;
  const token = toBase64Url(random.bytes(tokenBytes));
  const setup = insertSetup(await hashSecret(token), clock.now() + lifetimeMs);
  return (await run(database, setup)) ? `#/setup/${token}` : null;
}
