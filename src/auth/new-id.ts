import { toHex } from "../encoding/hex.js";
import type { AuthContext } from "./context.js";

const idBytes = 16;

/** A random identifier of 128 bits, in hex. */
export function newId(context: Pick<AuthContext, "platform">): string {
  return toHex(context.platform.random.bytes(idBytes));
}
