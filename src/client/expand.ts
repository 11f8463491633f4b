import { badCall } from "./error.js";
import type { SortTerm, TableTypes } from "./table-types.js";

/**
 * The parameter `expand` of a list (`docs/reference/http.md#expand`): an array of paths, or an object with the options
 * of each path. For a table without `references` in `Tables`, any path is accepted.
 */
export type Expand<T extends TableTypes, Tables> = [Path<T, Tables>] extends [never]
  ? readonly never[]
  :
      | readonly Path<T, Tables>[]
      | { readonly [P in Path<T, Tables>]?: ExpandOptions<RowAt<T, Tables, P>, Reached<T, Tables, P>> };

/**
 * The options of a path of `expand` that leads to rows of the type `Row`. `sort`, `limit` and `count` are only for
 * paths that lead backwards, from a row to those that refer to it, because only these lead to several rows.
 */
export interface ExpandOptions<Row, Target = readonly [string]> {
  readonly select?: readonly (keyof Row)[];
  readonly sort?: OfMany<Target, SortTerm<Row> | readonly SortTerm<Row>[]>;
  /** How many rows at most the path adds to each row: 1 to 100; the default is 10. */
  readonly limit?: OfMany<Target, number>;
  /** Whether each row of the list also gets, in `_count`, the number of all rows that the path leads to. */
  readonly count?: OfMany<Target, boolean>;
}

type OfMany<Target, Value> = Target extends string ? never : Value;

/**
 * A list's rows: `Row` with what the parameter `expand` of the type `E` adds: `_expand` (what each path leads to) and,
 * with the option `count`, `_count`.
 */
export type Expanded<Row, T extends TableTypes, Tables, E> = unknown extends E
  ? Row
  : Row & {
      readonly _expand: { readonly [P in PathsIn<E>]: Found<T, Tables, P, OptionsAt<E, P>> };
    } & CountedIn<E>;

type References<T> = T extends { references: infer R } ? R : Record<string, unknown>;

/** The paths of `expand`, which follow at most three references. `Left` has an element for each after the first. */
type Path<T, Tables, Left extends readonly unknown[] = [1, 2]> = string extends keyof References<T>
  ? string
  : {
      [P in keyof References<T> & string]: References<T>[P] extends keyof Tables
        ? P | Longer<P, Tables[References<T>[P]], Tables, Left>
        : P;
    }[keyof References<T> & string];

type Longer<P extends string, T, Tables, Left> = Left extends readonly [unknown, ...infer Less]
  ? `${P}.${Path<T, Tables, Less>}`
  : never;

/** The table that a path leads to, in an array if the path leads backwards. Unknown if the generated types lack it. */
type Reached<T, Tables, P> = P extends keyof References<T>
  ? References<T>[P]
  : P extends `${infer First}.${infer Rest}`
    ? First extends keyof References<T>
      ? References<T>[First] extends keyof Tables
        ? Reached<Tables[References<T>[First]], Tables, Rest>
        : unknown
      : unknown
    : unknown;

type RowOf<Tables, Name> = Name extends keyof Tables
  ? Tables[Name] extends { row: infer Row }
    ? Row
    : Record<string, unknown>
  : Record<string, unknown>;

type RowAt<T, Tables, P> =
  Reached<T, Tables, P> extends readonly [infer Name] ? RowOf<Tables, Name> : RowOf<Tables, Reached<T, Tables, P>>;

type Found<T, Tables, P, Options> =
  unknown extends Reached<T, Tables, P>
    ? unknown
    : Reached<T, Tables, P> extends readonly [string]
      ? Selected<RowAt<T, Tables, P>, Options>[]
      : Selected<RowAt<T, Tables, P>, Options> | null;

type Selected<Row, Options> = Options extends { readonly select: readonly (infer C)[] }
  ? Pick<Row, C & keyof Row>
  : Row;

type PathsIn<E> = E extends readonly (infer P)[] ? P & string : keyof E & string;
type OptionsAt<E, P> = P extends keyof E ? E[P] : unknown;

type CountedIn<E> = [Counting<E>] extends [never]
  ? unknown
  : { readonly _count: { readonly [P in Counting<E>]: number } };
type Counting<E> = E extends readonly unknown[]
  ? never
  : { [P in keyof E & string]: E[P] extends { readonly count: true } ? P : never }[keyof E & string];

type Options = ExpandOptions<Record<string, unknown>>;

function optionsByPath(expand: object): readonly (readonly [path: string, options: Options])[] {
  return Array.isArray(expand)
    ? expand.map((path: string) => [path, {}] as const)
    : Object.entries(expand as Readonly<Record<string, Options | undefined>>).map(
        ([path, options = {}]) => [path, options] as const,
      );
}

/** The parameters of a list's query string. Throws SvcError `bad_call` for what is no path. */
export function expandParameters(expand: object): readonly (readonly [name: string, value: unknown])[] {
  const paths = optionsByPath(expand);
  const named = paths.map(([path]) => path);
  const options = paths.flatMap(([path, { select, sort, ...others }]) => {
    const lists = {
      ...(select && { select: select.join(",") }),
      ...(sort && { sort: [sort].flat().join(",") }),
    };
    return Object.entries({ ...lists, ...others }).map(
      ([option, value]) => [`expand[${path}][${option}]`, value] as const,
    );
  });
  if (named.some((path) => typeof path !== "string" || path.includes(","))) throw badCall("expand: expected paths");
  return named.length === 0 ? [] : [["expand", named.join(",")], ...options];
}

/** The member `expand` of a list that is sent as JSON. */
export function expandMember(expand: object): object {
  return Object.fromEntries(
    optionsByPath(expand).map(([path, { sort, ...others }]) => [
      path,
      { ...others, ...(sort && { sort: [sort].flat() }) },
    ]),
  );
}
