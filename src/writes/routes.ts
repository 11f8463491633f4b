import type { Context } from "hono";
import { byMethod } from "../http/by-method.js";
import { type ApiServices, answered } from "../tables/routes/api-request.js";
import type { ServiceEndpoints } from "../tables/routes/routes.js";
import { batch } from "./batch.js";
import { push } from "./push.js";

/** The endpoints `batch` and `push`, for several writes that belong together, by their paths' last segment. */
export function writesEndpoints(services: ApiServices): ServiceEndpoints {
  return new Map([
    ["batch", byMethod({ POST: (c: Context) => answered(services, c, batch) })],
    ["push", byMethod({ POST: (c: Context) => answered(services, c, push) })],
  ]);
}
