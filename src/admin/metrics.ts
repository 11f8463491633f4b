import { everyAnswer } from "../http/respond.js";
import { administrators, plainErrors, type ServerEndpoint } from "./endpoint.js";

const headers = { ...everyAnswer, "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };

/** GET /metrics: counts and durations in Prometheus' text format (docs/reference/metering.md#metrics). */
export const metricsEndpoint: ServerEndpoint = {
  method: "GET",
  path: "/metrics",
  summary: "Prometheus' text format",
  callers: administrators,
  answers: { 200: "text/plain" },
  errors: plainErrors,
  needs: "administrator",
  handle: async ({ services }) => new Response(services.metricsText(), { headers }),
};
