import { openRemoteLibsql } from "../remote/libsql.js";
import { systemFetch } from "./system.js";
import { createWorker, environmentOf, problem } from "./worker.js";

/** The Worker on the libSQL server that `database.url` names: apart, as D1 needs no client of it in its bundle. */
export default createWorker(({ database: { url, auth_token_env } }, bindings) => {
  if (url.startsWith("file:")) throw problem("database.url", "expected the URL of a libSQL server");
  const authToken = environmentOf(bindings)[auth_token_env] || null;
  return openRemoteLibsql({ url, authToken, fetch: systemFetch });
});
