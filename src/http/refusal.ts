import { type AnswerFacts, withFacts } from "./answer-facts.js";
import { acceptsQuery, type HeadersRecord, json } from "./respond.js";

/**
 * Every error code of the HTTP interface and the status of its answers, unless the Refusal gives another one
 * (`options.status`). `docs/reference/errors.md#codes`
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
  busy: 503,
  unavailable: 503,
  deadline_exceeded: 503,
  outcome_unknown: 503,
} as const;

/** The value of `error.code` in an answer. */
export type ErrorCode = keyof typeof statuses;

/**
 * Why a request is refused. Functions return it, they do not throw it; the route turns it into a response. The message
 * is for the caller. `options.columns` are the columns that it is about and that the caller may know, `options.step` is
 * the step of an operation, `options.facts` are for the request log.
 */
export class Refusal {
  constructor(
    readonly code: ErrorCode,
    readonly message: string,
    private readonly options: {
      readonly columns?: readonly string[];
      readonly expected?: number;
      readonly step?: number;
      readonly problems?: readonly FileProblem[];
      readonly headers?: HeadersRecord;
      readonly status?: 403 | 408 | 416 | 431;
      readonly facts?: Pick<AnswerFacts, "rule" | "event" | "principal">;
    } = {},
  ) {}

  get status(): number {
    return this.options.status ?? statuses[this.code];
  }

  /**
   * The rule that refused the request, such as `rules.messages.read`, or the scope that a key lacks. Undefined if it
   * was neither.
   */
  get rule(): string | undefined {
    return this.options.facts?.rule;
  }

  /** Without the member `columns` if there are none. */
  get error(): ErrorBody {
    const { code, message } = this;
    const { columns = [], expected, step, problems } = this.options;
    return {
      code,
      message,
      ...(columns.length > 0 && { columns }),
      ...(expected !== undefined && { expected }),
      ...(step !== undefined && { step }),
      ...(problems !== undefined && { problems }),
    };
  }

  /** The same refusal with a message that begins with its subject, such as `row 3: …`. */
  of(part: string): Refusal {
    return new Refusal(this.code, `${part}: ${this.message}`, this.options);
  }

  toResponse(): Response {
    const { code, error, status, options } = this;
    return withFacts(json({ error }, status, options.headers), { code, ...options.facts });
  }
}

/** The member `error` of an answer that refuses a request (`docs/reference/errors.md`). */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly columns?: readonly string[];
  /** Only if pushed mutations are out of order: the id of the mutation that the server expects next. */
  readonly expected?: number;
  /** Only if a step of an operation has refused it: the step, from 0. */
  readonly step?: number;
  /** Only if the project's files have problems: each with its place. */
  readonly problems?: readonly FileProblem[];
}

/** A problem of a file, with the line (from 1) and the path of its place; null for a line that is not known. */
export interface FileProblem {
  readonly file: string;
  readonly line: number | null;
  readonly path: string;
  readonly message: string;
}

/** Narrows the type of a `T | Refusal`. */
export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal;
}

/** Makes the response of what a handler returned. */
export function responseOf(answer: Response | Refusal): Response {
  return isRefusal(answer) ? answer.toResponse() : answer;
}

/**
 * A 405 whose header `Allow` names the methods that the path has (RFC 9110, section 15.5.6). If QUERY is one of them,
 * `Accept-Query` says which bodies it takes.
 */
export function methodNotAllowed(...allowed: readonly string[]): Refusal {
  const headers = { Allow: allowed.join(", "), ...(allowed.includes("QUERY") && acceptsQuery) };
  return new Refusal("method_not_allowed", "no such method here: see the header Allow", { headers });
}

/** A 400 with a message for the caller and the names of the columns that it is about. */
export const badRequest = (message: string, columns: readonly string[] = []) =>
  new Refusal("bad_request", message, { columns });
