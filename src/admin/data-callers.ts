import type { NamedCaller } from "../auth/callers/authenticate.js";
import type { Actors, Callers, IdentifiedCaller } from "../auth/callers/callers.js";
import { type Actor, accountOf, anonymous } from "../auth/callers/principal.js";
import { decode } from "../http/query-string.js";
import { badRequest, isRefusal, Refusal } from "../http/refusal.js";
import type { HeadersRecord } from "../http/respond.js";
import type { SecurityEvent } from "../http/security-event.js";
import { adminRefusal } from "./authorize.js";

const header = "Svc-As";

/**
 * Makes the `Actors` for requests under `/admin/api/data`, which find out who asks. Administrators and
 * `project:backend` keys may ask, and no rule of a table binds them there; everybody else is refused. No other code
 * decides about it. With the header `Svc-As`, a request has the rights of the caller whom the header names.
 */
export function dataCallers(callers: Callers): Actors {
  return {
    run: (headers, act) => {
      const as = namedIn(headers.get(header));
      if (as === null)
        return callers.run(
          headers,
          (identity, database) => refusalOf(identity) ?? act(pastTheRules(identity), database),
        );
      if (isRefusal(as)) return callers.run(headers, (identity) => refusalOf(identity) ?? refusalBy(identity, as));
      return callers.runAs(headers, as, (identity, other, database) => {
        const refusal = refusalOf(identity);
        if (refusal !== null) return refusal;
        if (isRefusal(other)) {
          const asked = { [header]: headers.get(header)! };
          return refusalBy(identity, other, { headers: asked, event: "admin_failed" });
        }
        return act({ ...pastTheRules(identity), caller: other }, database);
      });
    },
  };
}

function pastTheRules({ caller, schemaVersion }: IdentifiedCaller): IdentifiedCaller<Actor> {
  const actor: Actor = caller.kind === "user" ? { ...caller, kind: "admin" } : caller;
  return { caller: actor, by: actor, schemaVersion };
}

function refusalOf(identity: IdentifiedCaller): Refusal | null {
  const refusal = adminRefusal(identity.caller);
  return refusal && refusalBy(identity, refusal);
}

/**
 * Copies a refusal, and adds for the request log who has sent the refused request and which security event it was.
 * `headers` are added to the answer.
 */
function refusalBy(
  { caller }: IdentifiedCaller,
  { code, message }: Refusal,
  { headers = {}, event }: { readonly headers?: HeadersRecord; readonly event?: SecurityEvent } = {},
): Refusal {
  return new Refusal(code, message, { headers, facts: { principal: accountOf(caller), event } });
}

/**
 * Reads the value of the header `Svc-As`, which names a caller: `anonymous`, `user:<id>` or `key:<id>`, with the id
 * percent-encoded as in a path. Null without the header; a refusal where the value has another form.
 */
function namedIn(text: string | null): NamedCaller | Refusal | null {
  if (text === null) return null;
  if (text === "anonymous") return anonymous;
  const [, kind, encoded = ""] = /^(user|key):([\x21-\x7e]+)$/.exec(text) ?? [];
  const id = decode(encoded, false);
  return kind === undefined || id === null ? malformed : { kind: kind as "user" | "key", id };
}

const malformed = badRequest(`${header}: expected user:<id>, key:<id> or anonymous`);
