import { signal } from "@preact/signals";
import type { SignedInAdmin } from "../../wire/sessions.js";

/** Null if nobody is signed in, undefined until the server has said who is. */
export const session = signal<SignedInAdmin | null | undefined>(undefined);
