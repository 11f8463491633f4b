import type { AuthEndpoint } from "../endpoint.js";
import { deleteMeEndpoint } from "./delete-me.js";
import { confirmEmailChangeEndpoint, requestEmailChangeEndpoint } from "./email.js";
import { confirmVerificationEndpoint, resendVerificationEndpoint } from "./email-verification.js";
import { importIdentitiesEndpoint } from "./import-users.js";
import { acceptInvitationEndpoint, inviteEndpoint } from "./invitations.js";
import { loginEndpoint } from "./login.js";
import { logoutEndpoint } from "./logout.js";
import { meEndpoint } from "./me.js";
import { authorizeEndpoint } from "./oauth-authorize.js";
import { callbackByGetEndpoint, callbackByPostEndpoint } from "./oauth-callback.js";
import { exchangeEndpoint } from "./oauth-exchange.js";
import { listProvidersEndpoint } from "./oauth-providers.js";
import { showPageEndpoint, submitPageEndpoint } from "./pages.js";
import { changeOwnPasswordEndpoint } from "./password.js";
import { confirmPasswordResetEndpoint, requestPasswordResetEndpoint } from "./password-reset.js";
import { refreshEndpoint } from "./refresh.js";
import { registerEndpoint } from "./register.js";
import { endOwnSessionEndpoint, listSessionsEndpoint } from "./sessions.js";

/** The endpoints under `/auth` (docs/reference/auth.md), in the order of the OpenAPI document. */
export const authEndpoints: readonly AuthEndpoint[] = [
  registerEndpoint,
  loginEndpoint,
  refreshEndpoint,
  logoutEndpoint,
  meEndpoint,
  deleteMeEndpoint,
  listSessionsEndpoint,
  endOwnSessionEndpoint,
  requestEmailChangeEndpoint,
  confirmEmailChangeEndpoint,
  changeOwnPasswordEndpoint,
  listProvidersEndpoint,
  authorizeEndpoint,
  callbackByGetEndpoint,
  callbackByPostEndpoint,
  exchangeEndpoint,
  importIdentitiesEndpoint,
  inviteEndpoint,
  acceptInvitationEndpoint,
  resendVerificationEndpoint,
  confirmVerificationEndpoint,
  requestPasswordResetEndpoint,
  confirmPasswordResetEndpoint,
  showPageEndpoint,
  submitPageEndpoint,
];
