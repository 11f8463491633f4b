import type { AdminEndpoint, ServerEndpoint } from "./endpoint.js";
import { postExplainEndpoint } from "./explain.js";
import { healthEndpoint } from "./health.js";
import { metricsEndpoint } from "./metrics.js";
import { openApiEndpoint } from "./openapi.js";
import { getOperationsEndpoint } from "./operations.js";
import { getOutboxEndpoint } from "./outbox.js";
import { reloadEndpoint } from "./reload.js";
import { getRequestsEndpoint } from "./requests.js";
import { applySchemaEndpoint, planSchemaEndpoint } from "./schema.js";
import { getSchemaEndpoint } from "./schema-in-force.js";
import { getServiceKeysEndpoint, postServiceKeyEndpoint, removeServiceKeyEndpoint } from "./service-keys.js";
import { getSessionsEndpoint, removeSessionEndpoint } from "./sessions.js";
import { getSettingsEndpoint } from "./settings.js";
import { getUsageEndpoint } from "./usage.js";
import {
  getUsersEndpoint,
  patchUserEndpoint,
  postInvitationEndpoint,
  postUserEndpoint,
  removeUserEndpoint,
  revokeAllSessionsEndpoint,
  revokeUserSessionsEndpoint,
} from "./users.js";

const changing: readonly AdminEndpoint[] = [
  planSchemaEndpoint,
  applySchemaEndpoint,
  reloadEndpoint,
  getUsersEndpoint,
  postUserEndpoint,
  postInvitationEndpoint,
  patchUserEndpoint,
  removeUserEndpoint,
  revokeUserSessionsEndpoint,
  revokeAllSessionsEndpoint,
  getServiceKeysEndpoint,
  postServiceKeyEndpoint,
  removeServiceKeyEndpoint,
  getUsageEndpoint,
  getOperationsEndpoint,
  postExplainEndpoint,
];

const inspecting: readonly AdminEndpoint[] = [
  getSchemaEndpoint,
  getSessionsEndpoint,
  removeSessionEndpoint,
  getOutboxEndpoint,
  getRequestsEndpoint,
  getSettingsEndpoint,
];

/** The endpoints that tell how the server is doing. */
export const serverEndpoints: readonly ServerEndpoint[] = [metricsEndpoint, openApiEndpoint, healthEndpoint];

/** The endpoints under `/admin/api` (docs/reference/http.md#endpoints), without those of the console and of rows. */
export const adminEndpoints: readonly AdminEndpoint[] = [...changing, ...inspecting];

/** Both, in the order of the OpenAPI document. */
export const documentedEndpoints = [...changing, ...serverEndpoints, ...inspecting];
