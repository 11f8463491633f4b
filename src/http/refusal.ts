import { type AnswerFacts, tell } from "./answer-facts.js";
import { acceptsQuery, type HeadersRecord, json } from "./respond.js";

/**
 * Every error code of the HTTP interface, with the status that an answer with this code has, unless its Refusal gives
 * another one (`options.status`). `docs/reference/errors.md#codes`
 */
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
  password_needed: 403,
  registration_closed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  auth_unavailable: 503,
  unavailable: 503,
  deadline_exceeded: 503,
  outcome_unknown: 503,
} as const;

/** A code of an error, which stands in `error.code` of an answer. */
export type ErrorCode = keyof typeof statuses;

/**
 * Why a request is refused. Functions return it as a value, they do not throw it; the route turns it into a response.
 * The message is shown to the caller. `options.columns` are the columns of the table that the refusal is about, which
 * the caller may know. `options.status` replaces the status of the code, and `options.facts` are for the request log.
 */
export class Refusal {
  constructor(
    readonly code: ErrorCode,
    readonly message: string,
    private readonly options: {
      readonly columns?: readonly string[];
      readonly expected?: number;
      readonly headers?: HeadersRecord;
      readonly status?: 403 | 408 | 431;
      readonly facts?: Pick<AnswerFacts, "rule" | "event" | "principal">;
    } = {},
  ) {}

  get status(): number {
    return this.options.status ?? statuses[this.code];
  }

  /**
   * What has refused the request, as the request log names it: a rule, such as `rules.messages.read`, or a scope that a
   * key lacks. Undefined where it was neither.
   */
  get rule(): string | undefined {
    return this.options.facts?.rule;
  }

  /**
   * The member `error` of the answer (`docs/reference/errors.md`). For a refusal without columns it has no member
   * `columns`.
   */
  get error(): ErrorBody {
    const { code, message } = this;
    const { columns = [], expected } = this.options;
    return {
      code,
      message,
      ...(columns.length > 0 && { columns }),
      ...(expected !== undefined && { expected }),
    };
  }

  /** Returns the refusal with a message that begins with what it is about, such as `row 3: …`. */
  of(part: string): Refusal {
    return new Refusal(this.code, `${part}: ${this.message}`, this.options);
  }

  /** Makes the HTTP answer for the refusal, with the body `{ error }`. */
  toResponse(): Response {
    const { code, error, status, options } = this;
    return tell(json({ error }, status, options.headers), { code, ...options.facts });
  }
}

/** The member `error` of an answer that refuses a request (`docs/reference/errors.md`). */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly columns?: readonly string[];
  /** Only where pushed mutations are out of order: the id of the mutation that the server expects next. */
  readonly expected?: number;
}

/** Whether a value is a refusal, and so not a result. Narrows the type of a `T | Refusal`. */
export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal;
}

/** Makes the response from what a handler has returned: a response already, or a refusal. */
export function responseOf(answer: Response | Refusal): Response {
  return isRefusal(answer) ? answer.toResponse() : answer;
}

/**
 * Makes a refusal 405. Its header `Allow` names the methods that the path has (RFC 9110, section 15.5.6). If QUERY is
 * one of them, the header `Accept-Query` says which bodies it takes.
 */
export function methodNotAllowed(...allowed: readonly string[]): Refusal {
  const headers = { Allow: allowed.join(", "), ...(allowed.includes("QUERY") && acceptsQuery) };
  return new Refusal("method_not_allowed", "no such method here: see the header Allow", { headers });
}

/**
 * Makes a refusal 400 `bad_request`, with a message for the caller and, where it is about columns of a table, their
 * names.
 */
export const badRequest = (message: string, columns: readonly string[] = []) =>
  new Refusal("bad_request", message, { columns });
