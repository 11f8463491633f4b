import { signal } from "@preact/signals";

/** Who is signed in to the console. */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly role: string };
  readonly expires_at: string;
  readonly confirmed_until: string;
}

/** The session; null where nobody is signed in, undefined before the server has said. */
export const session = signal<Session | null | undefined>(undefined);
