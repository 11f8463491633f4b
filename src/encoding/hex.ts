const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Writes the bytes from index `from` to before index `to` in lower-case hexadecimal. */
export function toHex(bytes: ArrayLike<number>, from = 0, to = bytes.length): string {
  let text = "";
  for (let i = from; i < to; i++) text += pairs[bytes[i]!];
  return text;
}

/** Decodes hexadecimal digits to bytes. The text has to be an even number of such digits, which is not checked. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}
