import type { Database } from "../../platform/database.js";
import { ask } from "../../platform/query.js";
import { projectId as selectProjectId } from "../store/oauth.js";
import { openCredentials } from "./credentials.js";

/**
 * Makes a function that decrypts the credentials of a sign-in provider, which were sealed (encrypted) with `key` (32
 * bytes) for the project of this database. The function made returns null where they were sealed with another key or
 * for another project or provider, or are damaged.
 */
export function openForProject(
  database: Database,
  key: Uint8Array<ArrayBuffer>,
): (sealed: string, provider: string) => Promise<string | null> {
  let projectId: string | undefined;
  return async (sealed, provider) => {
    projectId ??= await ask(database, selectProjectId());
    return openCredentials(sealed, { key, projectId, provider });
  };
}
