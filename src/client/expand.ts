import { badCall } from "./error.js";
import type { SortTerm, TableTypes } from "./table-types.js";

/**
 * What `expand` of a list names (`docs/reference/http.md#expand`): an array of paths, or an object with the options of
 * each. `Tables` are those that `svc gen types` writes; of a table without `references` any path is taken.
 */
export type Expand<T extends TableTypes, Tables> = [Path<T, Tables>] extends [never]
  ? readonly never[]
  :
      | readonly Path<T, Tables>[]
      | { readonly [P in Path<T, Tables>]?: ExpandOptions<RowAt<T, Tables, P>, Reached<T, Tables, P>> };

/**
 * The options of a path of `expand` that leads to rows of the type `Row`. Those after `select` are for paths that lead
 * backwards, to any number of rows.
 */
export interface ExpandOptions<Row, Target = readonly [string]> {
  readonly select?: readonly (keyof Row)[];
  readonly sort?: OfMany<Target, SortTerm<Row> | readonly SortTerm<Row>[]>;
  /** How many rows are expanded at most, 1 to 100; the default is 10. */
  readonly limit?: OfMany<Target, number>;
  /** Whether `_count` of the row says how many rows the path leads to. */
  readonly count?: OfMany<Target, boolean>;
}

type OfMany<Target, Value> = Target extends string ? never : Value;

/** The type of a list's row `Row` with what its parameter `expand`, of the type `E`, adds to it. */
export type Expanded<Row, T extends TableTypes, Tables, E> = unknown extends E
  ? Row
  : Row & {
      readonly _expand: { readonly [P in PathsIn<E>]: Found<T, Tables, P, OptionsAt<E, P>> };
    } & CountedIn<E>;

type References<T> = T extends { references: infer R } ? R : Record<string, unknown>;

/**
 * The type of paths of `expand`, which follow at most three references. `Left` has an element for each further
 * reference that may follow the first.
 */
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

/**
 * The name of the table that a path of `expand` leads to, in an array where it leads backwards, to any number of rows;
 * unknown where the generated types say nothing.
 */
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
  Reached<T, Tables, P> extends readonly [infer Name]
    ? RowOf<Tables, Name>
    : RowOf<Tables, Reached<T, Tables, P>>;

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

/** The paths that `expand` names with the options of each, whatever the form of `expand`. */
function optionsByPath(expand: object): readonly (readonly [path: string, options: Options])[] {
  return Array.isArray(expand)
    ? expand.map((path: string) => [path, {}] as const)
    : Object.entries(expand as Readonly<Record<string, Options | undefined>>).map(
        ([path, options = {}]) => [path, options] as const,
      );
}

/** The parameters of a list's query string that stand for `expand`, each with its name. */
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
  if (named.some((path) => typeof path !== "string" || path.includes(",")))
    throw badCall("expand: expected paths");
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
