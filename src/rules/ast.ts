import type { ColumnName, TableName } from "../sqlite/names.js";

/**
 * A condition on a row: a rule after parsing and type checking, or a caller's filter. Immutable; three-valued like SQL
 * (docs/reference/rules.md).
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

/** What stands on a side of a comparison. */
export type Operand = Literal | ColumnReference | AuthReference | { readonly kind: "now" } | Given;

/**
 * A value that is known once a statement runs, never NULL: `auth.id`, `auth.email` and `now()`, or what a filter compares
 * with. No name of these is one that a column can have.
 */
export interface Given {
  readonly kind: "given";
  readonly name: string;
}

/** Whether a value is one of a list that is known once a statement runs. Only callers' filters have it. */
export interface InGiven {
  readonly kind: "in_given";
  readonly value: Operand;
  /** A JSON array. */
  readonly list: Given;
  /** Whether each item is written as itself: a real of an extreme size is not (see `platform/real-scale.ts`). */
  readonly arePlain: boolean;
}

/** Whether a text contains another one, or starts with it, byte for byte. Only callers' filters have it. */
export interface TextMatch {
  readonly kind: "contains" | "starts_with";
  readonly value: Operand;
  readonly text: Given;
}

/** `public` is TRUE, `deny` is FALSE, `authenticated` is `auth.id is not null`. Integers are bigint, reals number. */
export interface Literal {
  readonly kind: "literal";
  readonly value: null | string | bigint | number | boolean;
}

/**
 * The row that a rule is about. `row` is the stored row; in an update rule the row before and, once more, the row after
 * the change (docs/reference/rules.md). `old` and `new` are always the one and the other.
 */
export type RowName = "row" | "old" | "new";

/** A column of one of these rows, or of the alias of an enclosing `exists`. */
export interface ColumnReference {
  readonly kind: "column";
  readonly source: RowName | { readonly alias: string };
  readonly column: ColumnName;
  /** Compared as its JSON shows it, where SQLite would take a text for a number. */
  readonly asShown?: boolean;
}

/** A fact about the caller, NULL for an anonymous one. */
export interface AuthReference {
  readonly kind: "auth";
  readonly field: "id" | "email" | "role";
}

/** TRUE where some row of the table makes `where` TRUE, else FALSE. */
export interface Exists {
  readonly kind: "exists";
  readonly table: TableName | "$users";
  readonly alias: string;
  readonly where: Expression;
}

/** As in SQL: NULL on either side makes the comparison NULL. */
export type CompareOperator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** What a request does with rows. */
export type RuleAction = "read" | "create" | "update" | "delete";

/** The rules of one table. A missing action is `deny`; a missing column rule is `public`, but for who numbers rows. */
export interface TableRules {
  readonly read: Expression;
  readonly create: Expression;
  readonly update: Expression;
  readonly delete: Expression;
  readonly columns: ReadonlyMap<ColumnName, ColumnRules>;
}

/** Over `auth` alone. */
export interface ColumnRules {
  readonly read: Expression;
  /** Null where none is written: then everybody may, unless the database numbers the column by itself. */
  readonly write: Expression | null;
}

/** The values of `auth` for one caller; all NULL for an anonymous one. */
export interface AuthValues {
  readonly id: string | null;
  readonly email: string | null;
  readonly role: string | null;
}
