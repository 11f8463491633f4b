import type { SecurityEvent } from "./security-event.js";

/**
 * What the request log learns about an answer besides its status. It holds nothing that a caller sent, except ids and
 * names found in the database or the schema.
 */
export interface AnswerFacts {
  readonly code?: string | undefined;
  /**
   * What refused the request: a rule (`rules.messages.read`) or a scope that a key lacks (`resource:messages:read`).
   */
  readonly rule?: string | undefined;
  /** Given by a handler if `eventOf` cannot tell the event from the route, the status and the code. */
  readonly event?: SecurityEvent | undefined;
  /** Who called, or who signed in with this request. */
  readonly principal?: Principal | undefined;
  /** The id of the user or key that an administrator's request made, changed or removed. */
  readonly target?: string | undefined;
  /** The log shows the receipt's id and counts of rows. */
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
   * The columns of the requested table. The log names a parameter that is called like a column only if it is one of
   * these.
   */
  readonly columns?: ReadonlyMap<string, unknown> | undefined;
}

/** Who sent a request. An anonymous caller has no id. */
export interface Principal {
  readonly kind: "anonymous" | "user" | "key";
  readonly id?: string;
}

// The facts are a property of the answer, because an entry in a WeakMap costs a fortieth of the time of reading a row.
const facts = Symbol("facts");
type FactsCarrier = (Request | Response) & { [facts]?: AnswerFacts };

/** Adds facts to an answer, and returns the answer. */
export function withFacts(answer: Response, added: AnswerFacts): Response {
  add(answer, added);
  return answer;
}

/**
 * Adds facts to the answer of a request that may be a HEAD. Hono replaces the answer to a HEAD by a new Response
 * without these facts, so they are then kept with the request.
 */
export function addFacts(request: Request, answer: Response, added: AnswerFacts): void {
  if (request.method === "HEAD") add(request, { ...(answer as FactsCarrier)[facts], ...added });
  else add(answer, added);
}

/** Adds facts that hold for each answer to a request, also for one that an error handler makes. */
export function addRequestFacts(request: Request, added: AnswerFacts): void {
  add(request, added);
}

/** The facts that were added to a request and to its answer, whose own come first; an empty object if there are none. */
export function factsOf(request: Request, answer: Response): AnswerFacts {
  const ofRequest = (request as FactsCarrier)[facts];
  const ofAnswer = (answer as FactsCarrier)[facts];
  return ofRequest && ofAnswer ? { ...ofRequest, ...ofAnswer } : (ofAnswer ?? ofRequest ?? nothing);
}

function add(to: FactsCarrier, added: AnswerFacts): void {
  const known = to[facts];
  to[facts] = known === undefined ? added : { ...known, ...added };
}

const nothing: AnswerFacts = {};
