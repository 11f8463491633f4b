/** The caller as whom data is viewed. `label` is the name that is shown for them. */
export type As =
  | { readonly kind: "user"; readonly id: string; readonly label: string }
  | { readonly kind: "key"; readonly id: string; readonly label: string }
  | { readonly kind: "anonymous"; readonly id: ""; readonly label: string };

/** As addresses and the request log write it: `user:7f3a`, or `anonymous`. */
export function asText({ kind, id }: As): string {
  return kind === "anonymous" ? kind : `${kind}:${id}`;
}

/** The value of the header `Svc-As`, by which the server answers an administrator as it would that caller. */
export function asHeader({ kind, id }: As): string {
  return asText({ kind, id: encodeURIComponent(id) } as As);
}

/**
 * Reads a caller as the request log and addresses write it, such as `user:7f3a`. `anonymous` is the label for one who
 * is not signed in. Null for any other text, such as a kind of caller as whom data cannot be viewed.
 */
export function parseAs(text: string, anonymous: string): As | null {
  if (text === "anonymous") return { kind: "anonymous", id: "", label: anonymous };
  const [, kind, id] = /^(user|key):(.+)$/.exec(text) ?? [];
  return kind === undefined ? null : { kind: kind as "user" | "key", id: id!, label: id! };
}

/** The member `as` of a request to `/admin/api/explain`. */
export function asMember({ kind, id }: As): object {
  return kind === "anonymous" ? { anonymous: true } : { [kind]: id };
}
