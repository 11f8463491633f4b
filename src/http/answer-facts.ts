import type { SecurityEvent } from "./security-event.js";

/**
 * What is told to the request log about an answer, beside its status. It holds nothing that a caller sent, except for
 * ids and names that were found in the database or the schema.
 */
export interface AnswerFacts {
  /** The code of the error that the request was answered with. */
  readonly code?: string | undefined;
  /**
   * What refused the request: a rule (`rules.messages.read`) or a scope that a key lacks (`resource:messages:read`).
   */
  readonly rule?: string | undefined;
  /**
   * The security event of the request, given by a handler where `eventOf` cannot tell it from the route, the status and
   * the code.
   */
  readonly event?: SecurityEvent | undefined;
  /** Who called, or who signed in with this request. */
  readonly principal?: Principal | undefined;
  /** The id of the user or the key that an administrator's request made, changed or removed. */
  readonly target?: string | undefined;
  /**
   * The receipt (the record of what the request cost), where there is one. The request's line in the log has its id and
   * its counts of rows.
   */
  readonly receipt?:
    | {
        readonly attemptId: string;
        readonly rowsRead: number | null;
        readonly rowsWritten: number | null;
        readonly rowsReturned: number | null;
      }
    | null
    | undefined;
  /**
   * The columns of the requested table, by name. The log names a query parameter that is called like a column only if
   * the column is one of these.
   */
  readonly columns?: ReadonlyMap<string, unknown> | undefined;
}

/** Who sent a request, as far as the server has found out. An anonymous caller has no id. */
export interface Principal {
  readonly kind: "anonymous" | "user" | "key";
  readonly id?: string;
}

// The facts that the request log needs are kept in a property of the answer. The alternative, a WeakMap, would be
// slower: an entry in it costs a fortieth of the time of reading a row.
const facts = Symbol("facts");
type Told = (Request | Response) & { [facts]?: AnswerFacts };

/** Adds facts for the request log to an answer, and returns the answer. */
export function tell(answer: Response, told: AnswerFacts): Response {
  add(answer, told);
  return answer;
}

/**
 * Adds facts for the request log to the answer of a request that may be a HEAD. Hono replaces the answer to a HEAD by a
 * new Response without these facts, so they are then kept with the request.
 */
export function tellOf(request: Request, answer: Response, told: AnswerFacts): void {
  if (request.method === "HEAD") add(request, { ...(answer as Told)[facts], ...told });
  else add(answer, told);
}

/**
 * Returns the facts that `tell` or `tellOf` has added to the answer, or kept with its request; an empty object where
 * there are none.
 */
export function factsOf(request: Request, answer: Response): AnswerFacts {
  return (answer as Told)[facts] ?? (request as Told)[facts] ?? nothing;
}

function add(to: Told, told: AnswerFacts): void {
  const known = to[facts];
  to[facts] = known === undefined ? told : { ...known, ...told };
}

const nothing: AnswerFacts = {};
