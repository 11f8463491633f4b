/** What a list asks for (specification 4.3). `K` are the columns of `select`. */
export interface ListQuery<Row, K extends keyof Row = keyof Row> {
  /** Equal to. */
  readonly where?: { readonly [C in keyof Row]?: NonNullable<Row[C]> };
  readonly filter?: { readonly [C in keyof Row]?: Filter<NonNullable<Row[C]>> };
  readonly select?: readonly K[];
  /** `-column` descends. */
  readonly sort?: SortTerm<Row> | readonly SortTerm<Row>[];
  /** 1 to 1000; 50 without. */
  readonly limit?: number;
  readonly offset?: number;
}

type SortTerm<Row> = (keyof Row & string) | `-${keyof Row & string}`;

export interface Filter<Value> {
  readonly eq?: Value;
  readonly ne?: Value;
  readonly lt?: Value;
  readonly lte?: Value;
  readonly gt?: Value;
  readonly gte?: Value;
  /** 1 to 1000 values. */
  readonly in?: readonly Value[];
  readonly is_null?: boolean;
  readonly contains?: Value & string;
  readonly starts_with?: Value & string;
}

/** As a query string without its question mark. */
export function listParameters<Row, K extends keyof Row>(query: ListQuery<Row, K>): string {
  const { where = {}, filter = {}, select, sort, limit, offset } = query;
  const parameters = new URLSearchParams();
  const add = (name: string, value: unknown) => {
    if (value !== undefined) parameters.append(name, String(value));
  };
  for (const [column, value] of Object.entries(where)) add(`where[${column}]`, value);
  for (const [column, operators] of Object.entries(filter as Record<string, Filter<unknown>>))
    for (const [operator, value] of Object.entries(operators ?? {}))
      add(`filter[${column}][${operator}]`, Array.isArray(value) ? JSON.stringify(value) : value);
  add("select", select?.join(","));
  add("sort", typeof sort === "string" ? sort : sort?.join(","));
  add("limit", limit);
  add("offset", offset);
  return parameters.toString();
}
