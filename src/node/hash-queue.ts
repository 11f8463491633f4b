import type { HashTurn } from "../platform/platform.js";

/** How many places of the queue each address has for itself. It borrows the others as long as nobody needs them. */
const ownPlaces = 8;

/**
 * Decides which of the passwords that wait is hashed next. Sign-ins come before registrations, and within each, addresses
 * take turns. Where all places are taken, one more sign-in takes that of a registration; else what comes from an address
 * with no more than `ownPlaces` takes one that another has borrowed (`docs/reference/limits.md#users-keys-and-mails`).
 */
export class HashQueue<W extends HashTurn> {
  readonly #placesMax: number;
  readonly #signIns = new Turns<W>();
  readonly #registrations = new Turns<W>();

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Whether `add` would find a place for the work. */
  hasRoomFor({ address, isFor }: HashTurn): boolean {
    if (this.#count < this.#placesMax) return true;
    if (isFor === "sign_in" && this.#registrations.count > 0) return true;
    const line = this.#lineOf(isFor);
    return line.countOf(address) < ownPlaces && line.countOf(line.longest()) > ownPlaces;
  }

  /** Takes work in. Returns the work that has no place for it, which may be the same; null where there is room. */
  add(work: W): W | null {
    if (!this.hasRoomFor(work)) return work;
    this.#lineOf(work.isFor).add(work);
    if (this.#count <= this.#placesMax) return null;
    const line = this.#registrations.count > 0 ? this.#registrations : this.#signIns;
    return line.removeLast(line.longest());
  }

  /** The work whose turn it is, which waits no longer. Undefined where none waits. */
  next(): W | undefined {
    return this.#signIns.next() ?? this.#registrations.next();
  }

  get #count(): number {
    return this.#signIns.count + this.#registrations.count;
  }

  #lineOf(isFor: HashTurn["isFor"]): Turns<W> {
    return isFor === "sign_in" ? this.#signIns : this.#registrations;
  }
}

/** Work of several addresses, which take turns. That of one address is done in the order in which it came. */
class Turns<W extends HashTurn> {
  /** By address. Whose turn comes first is first. No list is empty. */
  readonly #waiting = new Map<string, W[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  countOf(address: string): number {
    return this.#waiting.get(address)?.length ?? 0;
  }

  add(work: W): void {
    const line = this.#waiting.get(work.address) ?? [];
    this.#waiting.set(work.address, line);
    line.push(work);
    this.#count++;
  }

  next(): W | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [address, line] = first;
    const work = line.shift()!;
    this.#count--;
    // Whoever had a turn goes to the end of the line.
    this.#waiting.delete(address);
    if (line.length > 0) this.#waiting.set(address, line);
    return work;
  }

  /** The address with the most work; the first of several, and an empty text where there is none. */
  longest(): string {
    let longest = "";
    for (const [address, { length }] of this.#waiting) if (length > this.countOf(longest)) longest = address;
    return longest;
  }

  /** Takes out what came last from an address, which has to have some. */
  removeLast(address: string): W {
    const line = this.#waiting.get(address)!;
    const work = line.pop()!;
    this.#count--;
    if (line.length === 0) this.#waiting.delete(address);
    return work;
  }
}
