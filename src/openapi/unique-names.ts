/**
 * Names of operations or of schemas. Generators of code write names in the case of their language, so names of one
 * document also differ by more than case and punctuation: `room_members` and `roomMembers` are the same here.
 */
export class UniqueNames {
  readonly #taken = new Set<string>();

  /** `taken`: names that are not free. */
  constructor(taken: Iterable<string>) {
    for (const name of taken) this.#taken.add(plain(name));
  }

  /**
   * Takes a name and those made of it by a suffix. If one of them is taken, all of them get a number after the name.
   */
  take(name: string, suffixes: readonly string[] = [""]): string {
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? name : `${name}_${number}`;
      const names = suffixes.map((suffix) => plain(numbered + suffix));
      if (names.some((each) => this.#taken.has(each))) continue;
      for (const each of names) this.#taken.add(each);
      return numbered;
    }
  }
}

const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
