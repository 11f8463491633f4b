import type { ColumnName, TableName } from "../sqlite/names.js";

/**
 * A condition on a row: a rule after parsing and type checking, or a caller's filter. Its value is TRUE, FALSE or NULL,
 * as in SQL (`docs/reference/rules.md#three-valued-truth`).
 */
export type Expression =
  | Literal
  | ColumnReference
  | AuthReference
  | { readonly kind: "now" }
  | Given
  | {
      readonly kind: "compare";
      readonly operator: CompareOperator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: "in"; readonly value: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "is_null"; readonly value: Operand; readonly negated: boolean }
  | InGiven
  | TextMatch
  | { readonly kind: "and"; readonly terms: readonly Expression[] }
  | { readonly kind: "or"; readonly terms: readonly Expression[] }
  | { readonly kind: "not"; readonly term: Expression }
  | Exists;

/** A part of a condition that is a value, such as a column or a constant. */
export type Operand = Literal | ColumnReference | AuthReference | { readonly kind: "now" } | Given;

/**
 * A value that becomes known only when the statement is sent, and is never NULL: `auth.id`, `auth.email`,
 * `auth.email_verified`, `now()`, or a value that a caller's filter compares with. No column can have its `name`.
 */
export interface Given {
  readonly kind: "given";
  readonly name: string;
  /** Whether a column of texts is compared with a number, or with a list that has numbers (`as-shown.ts`). */
  readonly isNumber?: boolean;
}

/**
 * TRUE if a value is in a list that becomes known only when the statement is sent. Occurs in callers' filters, not in
 * rules.
 */
export interface InGiven {
  readonly kind: "in_given";
  readonly value: Operand;
  /** The text of a JSON array. */
  readonly list: Given;
  /**
   * Whether the array has each item as it is. False if some are reals of an extreme size, which it has as pairs of
   * numbers (`platform/real-scale.ts`).
   */
  readonly arePlain: boolean;
}

/**
 * TRUE if a text contains another one, or starts with it, byte for byte; `icontains` ignores the case of ASCII letters.
 * Occurs in callers' filters, not in rules.
 */
export interface TextMatch {
  readonly kind: "contains" | "icontains" | "starts_with";
  readonly value: Operand;
  readonly text: Given;
}

/** A constant. Integers are bigint, reals are number. The rule `public` is the literal `true`, `deny` is `false`. */
export interface Literal {
  readonly kind: "literal";
  readonly value: null | string | bigint | number | boolean;
}

/**
 * The names of the row that a rule is about. Rules of read, delete and history have `row`, the stored row; a create
 * rule has `new`, the row as it would be. An update rule has all three and is judged twice: `row` is the row before the
 * change the first time and the row after it the second time, while `old` and `new` are the row before and after it
 * both times (`docs/reference/rules.md#update-rules`).
 */
export type RowName = "row" | "old" | "new";

/** A column of the rule's row, or of a row of an enclosing `exists`. */
export interface ColumnReference {
  readonly kind: "column";
  readonly source: RowName | { readonly alias: string };
  readonly column: ColumnName;
  /**
   * Set where the column is compared by what JSON shows for its value (`tables/access/as-shown.ts`). `text`: a text
   * column that may hold numbers, because SQLite would compare a text that looks like a number as a number. `literal`: a
   * text column that may hold blobs, which are shown as SQL writes them. `bytes`: a blob column that may hold texts and
   * numbers, which are shown by the bytes of their texts.
   */
  readonly asShown?: "text" | "literal" | "bytes";
}

/** A value of the caller. */
export interface AuthReference {
  readonly kind: "auth";
  readonly field: keyof AuthValues;
}

/** TRUE if `table` has a row for which `where` is TRUE, and else FALSE. `alias` names that row inside of `where`. */
export interface Exists {
  readonly kind: "exists";
  readonly table: TableName | "$users";
  readonly alias: string;
  readonly where: Expression;
}

/** The comparison operators, as rules write them. */
export type CompareOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/**
 * Reading a list and reading a single row are both `read`. `history` is reading earlier states of rows, for which
 * `read` is needed too.
 */
export type RuleAction = "read" | "create" | "update" | "delete" | "history";

/**
 * The rules of one table. An action without a rule has `deny`. A column without rules may be read and written by anyone
 * who may read and write the row, unless the database numbers it (`docs/reference/rules.md#column-rules`).
 */
export interface TableRules {
  readonly read: Expression;
  readonly create: Expression;
  readonly update: Expression;
  readonly delete: Expression;
  readonly history: Expression;
  readonly columns: ReadonlyMap<ColumnName, ColumnRules>;
}

/** The rules of one column. They name `auth` and `now()`, no row and no `exists`. */
export interface ColumnRules {
  readonly read: Expression;
  /**
   * Null if the project has no such rule: then anyone who may write the row may write the column, unless the database
   * numbers it.
   */
  readonly write: Expression | null;
}

/** The values of `auth` for one caller; all null for an anonymous one and for an API key. */
export interface AuthValues {
  readonly id: string | null;
  readonly email: string | null;
  /** Whether the caller's email address was confirmed. */
  readonly email_verified: boolean | null;
  readonly role: string | null;
}
