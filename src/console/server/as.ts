/** Whose eyes something is seen through. `label` is how people call them. */
export type As =
  | { readonly kind: "user"; readonly id: string; readonly label: string }
  | { readonly kind: "key"; readonly id: string; readonly label: string }
  | { readonly kind: "anonymous"; readonly id: ""; readonly label: string };

/** A caller as addresses and the request log name them: `user:7f3a`. */
export function asText({ kind, id }: As): string {
  return kind === "anonymous" ? kind : `${kind}:${id}`;
}

/** The value of the header `Svc-As`. */
export function asHeader({ kind, id }: As): string {
  return asText({ kind, id: encodeURIComponent(id) } as As);
}

/** A caller of the request log or of the header, such as `user:7f3a`; null for one who cannot be taken on. */
export function asOf(text: string, anonymous: string): As | null {
  if (text === "anonymous") return { kind: "anonymous", id: "", label: anonymous };
  const [, kind, id] = /^(user|key):(.+)$/.exec(text) ?? [];
  return kind === undefined ? null : { kind: kind as "user" | "key", id: id!, label: id! };
}

/** As the body of an explanation has it. */
export function asMember({ kind, id }: As): object {
  return kind === "anonymous" ? { anonymous: true } : { [kind]: id };
}
