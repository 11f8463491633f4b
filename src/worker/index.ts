import { type D1Binding, openD1 } from "./d1.js";
import { createWorker, problem } from "./worker.js";

/** The entry module for a D1 database, which wrangler.toml has to bind as `DB`. */
export default createWorker(({ database }, { DB }) => {
  if (!database.url.startsWith("file:"))
    throw problem("database.url", "a libSQL server is for dist/worker/libsql/index.js, as main in wrangler.toml");
  if (DB === undefined) throw problem("database.url", "a Worker needs a D1 database, bound as DB in wrangler.toml");
  return openD1(DB as D1Binding);
});
