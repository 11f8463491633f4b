import { toHex } from "../encoding/hex.js";

/** A UUIDv7 (RFC 9562, section 5.7). `now` is in milliseconds since the epoch, `random` is 10 random bytes. */
export function uuidV7(now: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  for (let i = 5, left = now; i >= 0; i--, left = Math.floor(left / 256)) bytes[i] = left % 256;
  bytes.set(random, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const time = `${toHex(bytes, 0, 4)}-${toHex(bytes, 4, 6)}`;
  return `${time}-${toHex(bytes, 6, 8)}-${toHex(bytes, 8, 10)}-${toHex(bytes, 10)}`;
}
