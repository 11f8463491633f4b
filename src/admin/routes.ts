import type { Context } from "hono";
import type { Caller } from "../auth/principal.js";
import { refuse } from "../http/by-method.js";
import { Refusal, responseOf } from "../http/refusal.js";
import { router } from "../http/router.js";
import { adminRefusal } from "./authorize.js";
import { postExplain } from "./explain.js";
import { getOperations } from "./operations.js";
import { applySchema, planSchema } from "./schema.js";
import { getServiceKeys, postServiceKey, removeServiceKey } from "./service-keys.js";
import type { AdminHandler, AdminServices } from "./services.js";
import { getUsage } from "./usage.js";
import { getUsers, patchUser, postUser, removeUser, revokeAllSessions, revokeUserSessions } from "./users.js";

type Env = { Variables: { caller: Caller } };

/** The answer where the id in the path has a NUL character, which no stored id has. */
const nothingThere = new Refusal("not_found", "no such resource");

/** The routes under /admin/api (docs/reference/http.md#endpoints). They expect the caller in `c.var.caller`. */
export function adminRoutes(services: AdminServices) {
  const routes = router<Env>();
  const endpoints: readonly (readonly [method: string, path: string, handle: AdminHandler])[] = [
    ["POST", "/schema/plan", planSchema],
    ["POST", "/schema/apply", applySchema],
    ["GET", "/users", getUsers],
    ["POST", "/users", postUser],
    ["PATCH", "/users/:id", patchUser],
    ["DELETE", "/users/:id", removeUser],
    ["POST", "/users/:id/revoke-sessions", revokeUserSessions],
    ["POST", "/revoke-sessions", revokeAllSessions],
    ["GET", "/service-keys", getServiceKeys],
    ["POST", "/service-keys", postServiceKey],
    ["DELETE", "/service-keys/:id", removeServiceKey],
    ["GET", "/usage", getUsage],
    ["GET", "/operations", getOperations],
    ["POST", "/explain", postExplain],
  ];
  for (const [method, path, handle] of endpoints)
    routes.on(method, path, async (c: Context<Env>) => {
      const { caller } = c.var;
      const id = c.req.param("id") ?? "";
      const answer =
        adminRefusal(caller) ??
        (id.includes("\0") ? nothingThere : await handle({ request: c.req.raw, services, id, caller }));
      return responseOf(answer);
    });
  const methodsOf = (path: string) =>
    endpoints.filter(([, other]) => other === path).map(([method]) => method);
  for (const path of new Set(endpoints.map(([, path]) => path))) routes.all(path, refuse(...methodsOf(path)));
  return routes;
}
