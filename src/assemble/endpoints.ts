import { authEndpoints } from "../auth/routes/endpoints.js";
import { endingsOf } from "../log/event-of.js";
import { createParameterNames } from "../log/parameter-names.js";
import { adminEndings, adminQueryNames } from "./admin-endings.js";

/** The security events of all endpoints, for the request log. */
export const endings = new Map([...endingsOf(authEndpoints), ...Object.entries(adminEndings)]);

/** Returns the names of a request's parameters that the request log may show. */
export const parameterNames = createParameterNames([...authEndpoints, adminQueryNames]);
