import type { ListedUser } from "../../../wire/users.js";
import { Badge } from "../../parts/badge.js";
import { texts } from "../../texts.js";

/** Whether a user may sign in: disabled, address not verified yet, or active. */
export function UserState({ user }: { readonly user: ListedUser }) {
  if (user.disabled) return <Badge kind="bad">{texts.users.disabled}</Badge>;
  if (!user.email_verified) return <Badge kind="warn">{texts.users.unverified}</Badge>;
  return <Badge kind="good">{texts.users.active}</Badge>;
}
