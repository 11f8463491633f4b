import { consoleEndpoints } from "../admin/console/endpoints.js";
import { adminEndpoints } from "../admin/endpoints.js";
import { authEndpoints } from "../auth/routes/endpoints.js";
import { endingsOf } from "../log/event-of.js";
import { createParameterNames } from "../log/parameter-names.js";
import { dataEndpoints } from "../openapi/data-paths.js";

const endpoints = [...authEndpoints, ...adminEndpoints, ...consoleEndpoints, ...dataEndpoints];

/** The security events of all endpoints. */
export const endings = endingsOf(endpoints);

/** For the request log, with the parameters of all endpoints. */
export const parameterNames = createParameterNames(endpoints);
