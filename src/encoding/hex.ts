const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hexadecimal of the bytes before index `to`. */
export function toHex(bytes: ArrayLike<number>, from = 0, to = bytes.length): string {
  let text = "";
  for (let i = from; i < to; i++) text += pairs[bytes[i]!];
  return text;
}

/** The text must be an even number of hexadecimal digits, which is not checked. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
