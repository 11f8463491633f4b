import { signal } from "@preact/signals";

/** The session of the administrator who is signed in to the console. */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly role: string };
  readonly expires_at: string;
  readonly confirmed_until: string;
}

/** The session of the console: null where nobody is signed in, undefined until the server has said who is. */
export const session = signal<Session | null | undefined>(undefined);
