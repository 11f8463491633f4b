import { openRemoteLibsql } from "../remote/libsql.js";
import { systemFetch } from "./system.js";
import { createWorker, environmentOf, problem } from "./worker.js";

/**
 * The entry module of a Worker with the libSQL server that `database.url` names. It is separate from index.ts, so that
 * the Worker on D1 does not bundle the libSQL client.
 */
export default createWorker(({ database: { url, auth_token_env } }, bindings) => {
  if (url.startsWith("file:")) throw problem("database.url", "expected the URL of a libSQL server");
  const authToken = environmentOf(bindings)[auth_token_env] || null;
  return openRemoteLibsql({ url, authToken, fetch: systemFetch });
});
