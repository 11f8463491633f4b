import { openRemoteLibsql } from "../remote/libsql.js";
import { systemFetch } from "./system.js";
import { createWorker, environmentOf, problem } from "./worker.js";

/**
 * The entry module for the libSQL server that `database.url` names. It is apart from index.ts, so that a Worker with D1
 * does not contain the libSQL client.
 */
export default createWorker(({ database: { url, auth_token_env } }, bindings) => {
  if (url.startsWith("file:")) throw problem("database.url", "expected the URL of a libSQL server");
  const authToken = environmentOf(bindings)[auth_token_env] || null;
  return openRemoteLibsql({ url, authToken, fetch: systemFetch });
});
