import { consoleEndpoints } from "../admin/console/endpoints.js";
import { adminEndpoints } from "../admin/endpoints.js";
import { authEndpoints } from "../auth/routes/endpoints.js";
import { endingsOf } from "../log/event-of.js";
import { createParameterNames } from "../log/parameter-names.js";
import { dataEndpoints } from "../openapi/data-paths.js";

const endpoints = [...authEndpoints, ...adminEndpoints, ...consoleEndpoints, ...dataEndpoints(false)];

/** The security events of all endpoints, for the request log. */
export const endings = endingsOf(endpoints);

/** Returns the names of a request's parameters that the request log may show. */
export const parameterNames = createParameterNames(endpoints);
