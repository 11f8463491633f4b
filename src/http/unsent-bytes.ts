/** The part of all bytes that wait to be sent which those for one principal or address may be. */
const share = 4;

/**
 * Counts the bytes of long answers that wait until their clients take them, for all clients, for each principal and for
 * each client address (docs/reference/limits.md#answers).
 */
export class UnsentBytes {
  #all = 0;
  readonly #byReceiver = new Map<string, number>();

  /** How many bytes may wait in all. */
  constructor(public max: number) {}

  /**
   * Counts an answer of `bytes` until the returned function is called. `receivers` are the principal and the address
   * that it is for. Null where too many bytes wait already. An answer of more than a receiver's share has room while
   * nothing else waits for the receiver.
   */
  take(bytes: number, receivers: readonly string[]): (() => void) | null {
    const isOver = (waiting: number, max: number) => waiting > 0 && waiting + bytes > max;
    if (isOver(this.#all, this.max)) return null;
    if (receivers.some((receiver) => isOver(this.#byReceiver.get(receiver) ?? 0, this.max / share))) return null;
    this.#count(bytes, receivers);
    let isTaken = false;
    return () => {
      if (!isTaken) this.#count(-bytes, receivers);
      isTaken = true;
    };
  }

  /** How many bytes wait. */
  get all(): number {
    return this.#all;
  }

  #count(bytes: number, receivers: readonly string[]): void {
    this.#all += bytes;
    for (const receiver of receivers) {
      const waiting = (this.#byReceiver.get(receiver) ?? 0) + bytes;
      if (waiting === 0) this.#byReceiver.delete(receiver);
      else this.#byReceiver.set(receiver, waiting);
    }
  }
}
