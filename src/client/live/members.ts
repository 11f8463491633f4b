import type { Change, FollowedTables } from "./changes.js";

/** Lists of rows that are followed together, by the names under which the server tells of them (`docs/sync.md#members`). */
export type Members = Readonly<Record<string, object>>;

/** The most members that one stream has (`docs/reference/limits.md#streams`). */
export const membersMax = 40;

/**
 * The names under which a caller follows tables, and those of the members that the server is asked for. A member has the
 * same name wherever the same rows and columns are followed, in every page and tab: so all who do share it, and their
 * checkpoints fit together.
 */
export class MemberNames {
  readonly #aliases = new Map<string, string[]>();
  readonly #named = new WeakMap<Change, readonly Change[]>();
  readonly members: Members;

  constructor(tables: FollowedTables) {
    const members: Record<string, object> = {};
    for (const [alias, terms] of Object.entries(tables)) {
      const member = { table: alias, ...terms };
      const name = nameOf(member);
      members[name] = member;
      this.#aliases.set(name, [...(this.#aliases.get(name) ?? []), alias]);
    }
    this.members = members;
  }

  get all(): readonly string[] {
    return [...this.#aliases.keys()];
  }

  /** The caller's names for a member; none if it is another's. */
  aliases(name: string): readonly string[] {
    return this.#aliases.get(name) ?? [];
  }

  /** A change of a member under the caller's names: the same objects each time, by which an outbox knows rows again. */
  named(change: Change): readonly Change[] {
    const named = this.#named.get(change) ?? this.aliases(change.table).map((table) => ({ ...change, table }));
    this.#named.set(change, named);
    return named;
  }
}

function nameOf(member: { readonly table: string }): string {
  return `${member.table.slice(0, 60)}.${hash(JSON.stringify(member))}`;
}

/** FNV-1a (RFC 9923) in 64 bits, of the text's UTF-16 units, as hexadecimal digits. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++)
    value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}
