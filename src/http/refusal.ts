import { type HeadersRecord, json } from "./respond.js";

/** Every error code and its status (docs/reference/errors.md). */
export const statuses = {
  bad_request: 400,
  invalid_cursor: 400,
  weak_password: 400,
  invalid_token: 400,
  unauthorized: 401,
  invalid_credentials: 401,
  invalid_refresh_token: 401,
  forbidden: 403,
  email_not_verified: 403,
  registration_closed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  auth_unavailable: 503,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statuses;

/** A request that is refused: a value that a function returns, mapped to a response in one place. */
export class Refusal {
  constructor(
    readonly code: ErrorCode,
    readonly message: string,
    private readonly options: { readonly headers?: HeadersRecord; readonly status?: 403 | 408 | 431 } = {},
  ) {}

  get status(): number {
    return this.options.status ?? statuses[this.code];
  }

  /** `{ error: { code, message } }` with the code's status. */
  toResponse(): Response {
    return json({ error: { code: this.code, message: this.message } }, this.status, this.options.headers);
  }
}

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal;
}

/** What a handler returned, as a response. */
export function responseOf(answer: Response | Refusal): Response {
  return isRefusal(answer) ? answer.toResponse() : answer;
}

/** RFC 9110, section 15.5.6: the answer names the methods that there are. */
export function methodNotAllowed(...allowed: readonly string[]): Refusal {
  const headers = { Allow: allowed.join(", ") };
  return new Refusal("method_not_allowed", "no such method here: see the header Allow", { headers });
}

export const badRequest = (message: string) => new Refusal("bad_request", message);
