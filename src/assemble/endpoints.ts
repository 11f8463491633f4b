import { consoleEndpoints } from "../admin/console/endpoints.js";
import { adminEndpoints, serverEndpoints } from "../admin/endpoints.js";
import { authEndpoints } from "../auth/routes/endpoints.js";
import { endingsOf } from "../log/event-of.js";
import { createParameterNames } from "../log/parameter-names.js";
import { dataEndpoints } from "../openapi/data-paths.js";

const endpoints = [...authEndpoints, ...adminEndpoints, ...consoleEndpoints, ...dataEndpoints];

/** The first steps of the paths of the server's endpoints, also of those that settings switch off. */
export const endpointRoots: ReadonlySet<string> = new Set(
  [...endpoints, ...serverEndpoints].map(({ path }) => rootOf(path)),
);

/** The first step of a path, such as `api`. */
export function rootOf(path: string): string {
  return path.split("/", 2)[1]!;
}

/** The security events of all endpoints. */
export const endings = endingsOf(endpoints);

/** For the request log, with the parameters of all endpoints. */
export const parameterNames = createParameterNames(endpoints);
