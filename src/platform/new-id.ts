import { toHex } from "../encoding/hex.js";
import type { Random } from "./platform.js";

const idBytes = 16;

/** 128 random bits, in hex. */
export function newId(random: Random): string {
  return toHex(random.bytes(idBytes));
}
