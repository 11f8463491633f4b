import type { SecurityEvent } from "./security-event.js";

/**
 * What the request log may say of an answer beside its status: nothing that a caller sent, except for ids and names
 * that were found in the database or the schema.
 */
export interface AnswerFacts {
  /** The code of a refusal. */
  readonly code?: string | undefined;
  /** What refused the request: a rule (`rules.messages.read`) or a scope that a key lacks (`resource:messages:read`). */
  readonly rule?: string | undefined;
  /** Where the route, the status and the code do not tell it (`eventOf`). */
  readonly event?: SecurityEvent | undefined;
  /** Who called, or who signed in with this request. */
  readonly principal?: Principal | undefined;
  /** The id of the user or the key that an administrator's request made, changed or removed. */
  readonly target?: string | undefined;
  /** The receipt, where the request left one: the line has its id and its counts. */
  readonly receipt?:
    | {
        readonly attemptId: string;
        readonly rowsRead: number | null;
        readonly rowsWritten: number | null;
        readonly rowsReturned: number | null;
      }
    | null
    | undefined;
  /** The table's columns by name. A parameter is named in the log only where its name is known. */
  readonly columns?: ReadonlyMap<string, unknown> | undefined;
}

/** Whom a request was found to come from. An anonymous caller has no id. */
export interface Principal {
  readonly kind: "anonymous" | "user" | "key";
  readonly id?: string;
}

// A property of the answer, because an entry in a WeakMap costs a fortieth of the time of reading a row.
const facts = Symbol("facts");
type Told = (Request | Response) & { [facts]?: AnswerFacts };

/** Adds facts to an answer, and returns the answer. */
export function tell(answer: Response, told: AnswerFacts): Response {
  add(answer, told);
  return answer;
}

/**
 * As `tell`, where the request may be a HEAD: Hono answers that with a new Response, of which nothing is known, so the
 * facts are kept with the request.
 */
export function tellOf(request: Request, answer: Response, told: AnswerFacts): void {
  if (request.method === "HEAD") add(request, { ...(answer as Told)[facts], ...told });
  else add(answer, told);
}

/** What was told of an answer to a request. */
export function factsOf(request: Request, answer: Response): AnswerFacts {
  return (answer as Told)[facts] ?? (request as Told)[facts] ?? nothing;
}

function add(to: Told, told: AnswerFacts): void {
  const known = to[facts];
  to[facts] = known === undefined ? told : { ...known, ...told };
}

const nothing: AnswerFacts = {};
