import type { ConsoleEndpoint } from "./endpoint.js";
import { showAssetEndpoint, showConsoleEndpoint, toConsoleEndpoint } from "./page.js";
import { confirmSessionEndpoint, deleteSessionEndpoint, getSessionEndpoint, postSessionEndpoint } from "./session.js";
import { postSetupEndpoint } from "./setup.js";

/** The endpoints of the console's page and of its session (docs/console.md), in the order of the OpenAPI document. */
export const consoleEndpoints: readonly ConsoleEndpoint[] = [
  postSessionEndpoint,
  getSessionEndpoint,
  deleteSessionEndpoint,
  confirmSessionEndpoint,
  postSetupEndpoint,
  showConsoleEndpoint,
  toConsoleEndpoint,
  showAssetEndpoint,
];
