import type { Context } from "hono";
import { unconfirmedRefusal } from "../auth/callers/confirmation.js";
import type { Caller } from "../auth/callers/principal.js";
import { refuse } from "../http/by-method.js";
import { Refusal, responseOf } from "../http/refusal.js";
import { router } from "../http/router.js";
import { adminRefusal } from "./authorize.js";
import { postExplain } from "./explain.js";
import { getOperations } from "./operations.js";
import { getOutbox } from "./outbox.js";
import { getRequests } from "./requests.js";
import { applySchema, planSchema } from "./schema.js";
import { getSchema } from "./schema-in-force.js";
import { getServiceKeys, postServiceKey, removeServiceKey } from "./service-keys.js";
import type { AdminHandler, AdminServices } from "./services.js";
import { getSessions, removeSession } from "./sessions.js";
import { getSettings } from "./settings.js";
import { getUsage } from "./usage.js";
import {
  getUsers,
  patchUser,
  postInvitation,
  postUser,
  removeUser,
  revokeAllSessions,
  revokeUserSessions,
} from "./users.js";

type Env = { Variables: { caller: Caller } };

/** The answer where the id in the path has a NUL character, which no stored id has. */
const nothingThere = new Refusal("not_found", "no such resource");

/**
 * What a request from the console needs: only a session (`session`), or also that the password was typed within the
 * last minutes (`password`, judged by `unconfirmedRefusal`). Endpoints that make, change or remove users, keys or
 * tables, or that sign everybody out, need the password.
 */
type Needed = "session" | "password";

const endpoints: readonly (readonly [method: string, path: string, handle: AdminHandler, needed: Needed])[] =
  [
    ["GET", "/schema", getSchema, "session"],
    ["POST", "/schema/plan", planSchema, "session"],
    ["POST", "/schema/apply", applySchema, "password"],
    ["GET", "/users", getUsers, "session"],
    ["POST", "/users", postUser, "password"],
    // This route takes the requests for `/users/invite`: Hono's RegExpRouter supports no route of that path beside
    // `/users/:id/revoke-sessions`.
    ["POST", "/users/:id", postInvitation, "password"],
    ["PATCH", "/users/:id", patchUser, "password"],
    ["DELETE", "/users/:id", removeUser, "password"],
    ["POST", "/users/:id/revoke-sessions", revokeUserSessions, "session"],
    ["POST", "/revoke-sessions", revokeAllSessions, "password"],
    ["GET", "/service-keys", getServiceKeys, "session"],
    ["POST", "/service-keys", postServiceKey, "password"],
    ["DELETE", "/service-keys/:id", removeServiceKey, "password"],
    ["GET", "/usage", getUsage, "session"],
    ["GET", "/operations", getOperations, "session"],
    ["GET", "/sessions", getSessions, "session"],
    ["DELETE", "/sessions/:id", removeSession, "session"],
    ["GET", "/outbox", getOutbox, "session"],
    ["GET", "/requests", getRequests, "session"],
    ["GET", "/settings", getSettings, "session"],
    ["POST", "/explain", postExplain, "session"],
  ];

/**
 * Makes the routes under /admin/api (docs/reference/http.md#endpoints). A middleware that runs before them has to leave
 * the caller in `c.var.caller`.
 */
export function adminRoutes(services: AdminServices) {
  const routes = router<Env>();
  for (const [method, path, handle, needed] of endpoints)
    routes.on(method, path, async (c: Context<Env>) => {
      const { caller } = c.var;
      const id = c.req.param("id") ?? "";
      const unconfirmed =
        needed === "password" ? unconfirmedRefusal(caller, services.platform.clock.now()) : null;
      const answer =
        adminRefusal(caller) ??
        unconfirmed ??
        (id.includes("\0") ? nothingThere : await handle({ request: c.req.raw, services, id, caller }));
      return responseOf(answer);
    });
  const methodsOf = (path: string) =>
    endpoints.filter(([, other]) => other === path).map(([method]) => method);
  for (const path of new Set(endpoints.map(([, path]) => path))) routes.all(path, refuse(...methodsOf(path)));
  return routes;
}
