import { Refusal } from "../http/refusal.js";
import { json } from "../http/respond.js";
import { constant, object } from "../wire/schema.js";
import type { ServerEndpoint } from "./endpoint.js";

/** GET /health: 200 if the database answers, else 503. */
export const healthEndpoint: ServerEndpoint = {
  method: "GET",
  path: "/health",
  summary: "Whether the database answers",
  answers: { 200: object({ status: constant("ok") }) },
  errors: [403, 503],
  needs: "nothing",
  handle: async ({ services: { database } }) => {
    try {
      await database.query([{ sql: "SELECT 1", params: [] }]);
      return json({ status: "ok" });
    } catch {
      return new Refusal("unavailable", "the database does not answer");
    }
  },
};
