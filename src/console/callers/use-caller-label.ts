import type { ApiKey } from "../../wire/keys.js";
import type { ListedUser } from "../../wire/users.js";
import { useLoaded } from "../parts/use-loaded.js";
import type { As } from "../server/as.js";
import { requestData } from "../server/request-data.js";

/**
 * A caller's name as the server has it: a user's email, or a key's name; null for no caller. Until it is loaded, and if
 * the caller is gone, it is the label that the caller has already.
 */
export function useCallerLabel(as: As | null): string | null {
  const found = useLoaded(async (signal) => ({ label: as && (await labelOf(as, signal)) }), [as]);
  return found.value?.label ?? as?.label ?? null;
}

async function labelOf({ kind, id }: As, signal: AbortSignal): Promise<string | undefined> {
  if (kind === "anonymous") return undefined;
  const query = new URLSearchParams({ "where[id]": id, limit: "1", total: "none" });
  const list = <T>(path: string) => requestData<readonly T[]>("GET", `${path}?${query}`, undefined, { signal });
  return kind === "user"
    ? (await list<ListedUser>("/users"))[0]?.email
    : (await list<ApiKey>("/service-keys"))[0]?.name;
}
