import type { HashTurn } from "../../platform/platform.js";

/** In a full queue, an address with fewer passwords waiting than this takes a place from an address with more. */
const ownPlaces = 8;

/**
 * Decides which of the waiting passwords is hashed next, and which is refused if all places are taken. Sign-ins come
 * before registrations. Within each of these two kinds, client addresses take turns. In a full queue, a new sign-in
 * takes the place of a registration. If no registration waits, or the new password is itself for a registration, an
 * address with fewer than `ownPlaces` passwords of that kind waiting takes a place from an address with more than
 * `ownPlaces`, and an address with none waiting takes a place from the address with the most, if that has more than
 * one. Otherwise the new password is refused (`docs/reference/limits.md#users-keys-and-mails`).
 */
export class HashQueue<W extends HashTurn> {
  readonly #placesMax: number;
  readonly #signIns = new AddressLines<W>();
  readonly #registrations = new AddressLines<W>();

  constructor(placesMax: number) {
    this.#placesMax = placesMax;
  }

  /** Whether `add` would keep this password in the queue. */
  hasRoomFor({ address, isFor }: HashTurn): boolean {
    if (this.#count < this.#placesMax) return true;
    if (isFor === "sign_in" && this.#registrations.count > 0) return true;
    const line = this.#lineOf(isFor);
    const own = line.countOf(address);
    const most = line.countOf(line.longest());
    return (own < ownPlaces && most > ownPlaces) || (own === 0 && most > 1);
  }

  /**
   * Returns the password that has to be refused for the added one, which may be that one itself; null if there is room
   * for all.
   */
  add(work: W): W | null {
    if (!this.hasRoomFor(work)) return work;
    this.#lineOf(work.isFor).add(work);
    if (this.#count <= this.#placesMax) return null;
    const line = this.#registrations.count > 0 ? this.#registrations : this.#signIns;
    return line.removeLast(line.longest());
  }

  /** Takes the next password out of the queue, to be hashed now. */
  next(): W | undefined {
    return this.#signIns.next() ?? this.#registrations.next();
  }

  get #count(): number {
    return this.#signIns.count + this.#registrations.count;
  }

  #lineOf(isFor: HashTurn["isFor"]): AddressLines<W> {
    return isFor === "sign_in" ? this.#signIns : this.#registrations;
  }
}

/**
 * Waiting passwords of several client addresses that take turns. Those of one address are hashed in the order in which
 * they came.
 */
class AddressLines<W extends HashTurn> {
  /**
   * By client address, oldest first. The map's order is that of the turns, and it holds only addresses with waiting
   * passwords.
   */
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
    // An address that had a turn goes behind all others.
    this.#waiting.delete(address);
    if (line.length > 0) this.#waiting.set(address, line);
    return work;
  }

  /**
   * The address with the most waiting passwords; of several, the one whose turn comes first. An empty text if no
   * password waits.
   */
  longest(): string {
    let longest = "";
    for (const [address, { length }] of this.#waiting) if (length > this.countOf(longest)) longest = address;
    return longest;
  }

  /** Takes out the newest password of an address, which must have one. */
  removeLast(address: string): W {
    const line = this.#waiting.get(address)!;
    const work = line.pop()!;
    this.#count--;
    if (line.length === 0) this.#waiting.delete(address);
    return work;
  }
}
