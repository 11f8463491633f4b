import { closing, isKeyword, isSymbol, type Token } from "./sql-tokens.js";

/** How many bytes a value may have that an expression of the project's owner makes. */
export const valueBytesMax = 4_194_304;
/** SQLite's error message contains this where a value would have more bytes, or would take too long to make. */
export const tooLargeValue = "svc:too large a value";

/** A part of the owner's SQL, ready for the database: each named parameter is replaced by `?`. */
export interface BoundSql {
  readonly text: string;
  /** In the order of their `?` in the text. */
  readonly parameters: readonly string[];
}

/** A part of a statement: from the token at index `from` to the one before `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** An expression that has to be bounded, because its value may be much longer than a parameter, or take much longer. */
export interface BoundedExpression extends Range {
  /** Makes the SQL which fails where the value is too large. `render` makes the SQL of a part of the expression. */
  bounded(render: (part: Range) => BoundSql): BoundSql;
}

/**
 * Finds the expressions of a statement whose value can be longer than `valueBytesMax`, or whose time grows with the
 * product of two lengths; the outer ones come before those within them. SQLite has bounds of its own, of 1,000,000,000
 * bytes a value, which libSQL's driver offers no way to lower.
 */
export function boundedExpressions(tokens: readonly Token[]): readonly BoundedExpression[] {
  const found: BoundedExpression[] = [];
  let jsonEnd = 0;
  let concatenationEnds: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (isSymbol(token, "||")) {
      concatenationEnds = concatenationEnds.filter((end) => end > index);
      const range = chainAround(tokens, index, concatenating);
      if (concatenationEnds.includes(range.to)) continue;
      concatenationEnds.push(range.to);
      found.push(measured(tokens, range));
    } else if (isMatch(tokens, index)) {
      found.push(boundedMatch(tokens, index));
    } else if (isCall(tokens, index)) {
      const name = token.value.toLowerCase();
      const range = { from: index, to: endOfOperand(tokens, index) };
      const timed = timedFunctions.get(name);
      if (timed !== undefined) found.push(boundedCall(tokens, range, timed));
      else if (measuredFunctions.has(name)) found.push(measured(tokens, range));
      else if (jsonFunctions.has(name) && index >= jsonEnd) {
        // Within another JSON function, the value is a part of that one's.
        jsonEnd = range.to;
        found.push(repeated(range));
      }
    }
  }
  return found.toSorted((a, b) => a.from - b.from || b.to - a.to);
}

/**
 * Whether the SQL calls a function whose time, or the length of whose value, can grow with the product of the lengths of
 * its arguments, with a number that it is given, or with a number of rows.
 */
export function mayTakeLong(tokens: readonly Token[]): boolean {
  return tokens.some(({ value }, index) => {
    if (isMatch(tokens, index)) return true;
    const name = value.toLowerCase();
    return (timedFunctions.has(name) || joining.has(name)) && isCall(tokens, index);
  });
}

const joining = new Set(["group_concat", "string_agg"]);

/** Functions whose values are longer than their arguments, but not by more than a few times. */
const measuredFunctions = new Set(words("char concat concat_ws group_concat hex quote strftime string_agg"));

/** Functions whose value SQLite takes for JSON only where it is the argument of another one, and not of a subquery. */
const jsonFunctions = new Set(
  words(
    `json json_array json_group_array json_group_object json_insert json_object json_patch json_quote json_replace
     json_set`,
  ),
);

/** The SQL of a call by the SQL of its arguments. `literals` has the values of those that are strings. */
type BoundedCall = (args: readonly string[], literals: readonly (string | null)[]) => string;

/**
 * How large the product of the lengths of a text and of what is looked for in it may be. In the worst case one unit of
 * it takes 1 ns in LIKE and GLOB, 1.5 ns in TRIM and 0.01 ns in INSTR and REPLACE, so that a call ends within 50 ms.
 */
const productMax = { like: 30_000_000, trim: 20_000_000, instr: 2_000_000_000 };

const timedFunctions: ReadonlyMap<string, BoundedCall> = new Map<string, BoundedCall>([
  ["instr", (args) => withinProduct(args, productMax.instr, `instr(${args.join(", ")})`)],
  ["trim", trimmed("trim")],
  ["ltrim", trimmed("ltrim")],
  ["rtrim", trimmed("rtrim")],
  ["like", (args) => withinProduct(args, productMax.like, `like(${args.join(", ")})`)],
  ["glob", (args) => withinProduct(args, productMax.like, `glob(${args.join(", ")})`)],
  ["replace", boundedReplace],
  ["printf", boundedFormat],
  ["format", boundedFormat],
]);

function trimmed(name: string): BoundedCall {
  return (args) => {
    const call = `${name}(${args.join(", ")})`;
    return args.length === 1 ? call : withinProduct(args, productMax.trim, call);
  };
}

const fail = `json_extract('{}', '${tooLargeValue}')`;

function unless(condition: string, value: string): string {
  return `CASE WHEN ${condition} THEN ${fail} ELSE ${value} END`;
}

function ifShort(value: string): string {
  return unless(`octet_length(${value}) > ${valueBytesMax}`, value);
}

function withinProduct([x, y]: readonly string[], max: number, value: string): string {
  return unless(`octet_length(${x}) * octet_length(${y}) > ${max}`, value);
}

/** What is replaced is counted by replacing it by nothing, which takes no memory. */
function boundedReplace(args: readonly string[]): string {
  const [x, y, z] = args;
  const count = `(octet_length(${x}) - octet_length(replace(${x}, ${y}, ''))) / max(octet_length(${y}), 1)`;
  const bytes = `octet_length(${x}) + ${count} * (octet_length(${z}) - octet_length(${y}))`;
  const isLong = `octet_length(${x}) * (octet_length(${z}) + 1) > ${valueBytesMax} AND ${bytes} > ${valueBytesMax}`;
  return withinProduct(args, productMax.instr, unless(isLong, `replace(${args.join(", ")})`));
}

/** A width or a precision makes a long text of any value. An argument gives the number for a `*`. */
function boundedFormat(args: readonly string[], [literal]: readonly (string | null)[]): string {
  const value = ifShort(`printf(${args.join(", ")})`);
  const [format = "NULL", ...others] = args;
  const isLarge = others.map((arg) => `abs(CAST(${arg} AS INTEGER)) > ${valueBytesMax}`);
  const byArgument = isLarge.length === 0 ? [] : [`${format} GLOB '*[*]*' AND (${isLarge.join(" OR ")})`];
  if (typeof literal === "string") {
    const widths = [...literal.matchAll(/\d+/g)].some(([digits]) => Number(digits) > valueBytesMax);
    const conditions = [...(widths ? ["1"] : []), ...(literal.includes("*") ? byArgument : [])];
    return conditions.length === 0 ? value : unless(conditions.join(" OR "), value);
  }
  return unless([`${format} GLOB '*[0-9][0-9][0-9][0-9][0-9]*'`, ...byArgument].join(" OR "), value);
}

/** Parts of SQL, and names of parameters between them. */
function joined(...parts: readonly (string | BoundSql)[]): BoundSql {
  const all = parts.map((part) => (typeof part === "string" ? { text: part, parameters: [] } : part));
  return { text: all.map(({ text }) => text).join(""), parameters: all.flatMap(({ parameters }) => parameters) };
}

/** An expression whose value is made and then measured. */
function measured(tokens: readonly Token[], range: Range): BoundedExpression {
  if (staysInQuery(tokens, range)) return repeated(range);
  return {
    ...range,
    bounded: (render) => evaluatedOnce([render(range)], ([value]) => ifShort(value!)),
  };
}

/** An expression that is written twice: SQLite evaluates it once to measure it, and once for its value. */
function repeated(range: Range): BoundedExpression {
  return {
    ...range,
    bounded(render) {
      const value = render(range);
      return joined("CASE WHEN octet_length(", value, `) > ${valueBytesMax} THEN ${fail} ELSE `, value, " END");
    },
  };
}

/**
 * LIMIT in the subquery and WHERE outside of it make SQLite evaluate each of `values` once, and not again wherever the
 * name is used that `expression` gets for it.
 */
function evaluatedOnce(values: readonly BoundSql[], expression: (names: readonly string[]) => string): BoundSql {
  const names = values.map((_, i) => `_${i}`);
  const columns = values.flatMap((value, i) => [i === 0 ? "" : ", ", value, ` AS ${names[i]}`]);
  return joined(`(SELECT ${expression(names)} FROM (SELECT `, ...columns, " LIMIT 1) WHERE 1)");
}

function boundedCall(tokens: readonly Token[], range: Range, call: BoundedCall): BoundedExpression {
  const args = argumentsOf(tokens, range);
  const literals = args.map(({ from, to }) =>
    to - from === 1 && tokens[from]!.kind === "string" ? tokens[from]!.value : null,
  );
  return {
    ...range,
    bounded(render) {
      const values = args.map(render);
      if (!staysInQuery(tokens, range)) return evaluatedOnce(values, (names) => call(names, literals));
      return substituted(
        call(
          args.map((_, i) => mark(i)),
          literals,
        ),
        values,
      );
    },
  };
}

const mark = (index: number) => `\0${index}\0`;

/** The SQL with each `mark` replaced by the value of that number. */
function substituted(sql: string, values: readonly BoundSql[]): BoundSql {
  return joined(...sql.split("\0").map((part, i) => (i % 2 === 0 ? part : values[Number(part)]!)));
}

/** `X LIKE Y` stays as it is beside its bound, so that an index can serve it. */
function boundedMatch(tokens: readonly Token[], index: number): BoundedExpression {
  const isNegated = isKeyword(tokens[index - 1], "not");
  const text = chainBefore(tokens, isNegated ? index - 1 : index, comparing);
  const pattern = { from: index + 1, to: chainAfter(tokens, index, comparing) };
  const to = isKeyword(tokens[pattern.to], "escape") ? chainAfter(tokens, pattern.to, comparing) : pattern.to;
  const range = { from: text, to };
  return {
    ...range,
    bounded(render) {
      const isLong = substituted(
        unless(`octet_length(${mark(0)}) * octet_length(${mark(1)}) > ${productMax.like}`, "1"),
        [render({ from: text, to: isNegated ? index - 1 : index }), render(pattern)],
      );
      return joined("(", isLong, " AND ", render(range), ")");
    },
  };
}

/** Whether the part calls an aggregate or a window function, which would belong to another query in a subquery. */
function staysInQuery(tokens: readonly Token[], { from, to }: Range): boolean {
  return tokens.slice(from, to).some((token, i) => {
    if (isKeyword(token, "over") || isKeyword(token, "collate")) return true;
    return isCall(tokens, from + i) && aggregates.has(token.value.toLowerCase());
  });
}

const aggregates = new Set(
  words("avg count group_concat json_group_array json_group_object max min string_agg sum total"),
);

const concatenating = new Set(["||", "->", "->>"]);
/** The binary operators that bind their operands more closely than LIKE does. */
const comparing = new Set([...concatenating, ..."* / % + - & | << >> < <= > >=".split(" ")]);

/** The longest expression around the operator at `index` that has only operands and these operators. */
function chainAround(tokens: readonly Token[], index: number, operators: ReadonlySet<string>): Range {
  return { from: chainBefore(tokens, index, operators), to: chainAfter(tokens, index, operators) };
}

/** Where the chain of operands begins that ends before the token at `index`. */
function chainBefore(tokens: readonly Token[], index: number, operators: ReadonlySet<string>): number {
  let from = startOfOperand(tokens, index - 1);
  while (isOperator(tokens[from - 1], operators)) from = startOfOperand(tokens, from - 2);
  return from;
}

/** Behind the chain of operands that begins after the token at `index`. */
function chainAfter(tokens: readonly Token[], index: number, operators: ReadonlySet<string>): number {
  let to = endOfOperand(tokens, index + 1);
  while (isOperator(tokens[to], operators)) to = endOfOperand(tokens, to + 1);
  return to;
}

function isOperator(token: Token | undefined, operators: ReadonlySet<string>): boolean {
  return token?.kind === "symbol" && operators.has(token.text);
}

/** Where the operand begins whose last token is at `index`. */
function startOfOperand(tokens: readonly Token[], index: number): number {
  let from = index;
  if (isKeyword(tokens[index - 1], "collate")) return startOfOperand(tokens, index - 2);
  if (isKeyword(tokens[index - 1], "over")) return startOfOperand(tokens, index - 2);
  if (isSymbol(tokens[index], ")")) {
    from = partnerOf(tokens, index, -1, ")", "(");
    const before = tokens[from - 1];
    if (isKeyword(before, "over") || isKeyword(before, "filter")) return startOfOperand(tokens, from - 2);
    if (isKeyword(before, "exists") || isCall(tokens, from - 1)) from--;
  } else if (isKeyword(tokens[index], "end")) from = partnerOf(tokens, index, -1, "end", "case");
  else while (isSymbol(tokens[from - 1], ".")) from -= 2;
  while (isSign(tokens[from - 1]) && !endsOperand(tokens[from - 2])) from--;
  return from;
}

/** Behind the operand that begins with the token at `index`. */
function endOfOperand(tokens: readonly Token[], index: number): number {
  let to = index;
  while (isSign(tokens[to])) to++;
  if (isKeyword(tokens[to], "case")) to = partnerOf(tokens, to, 1, "case", "end");
  else if (isSymbol(tokens[to], "(")) to = closing(tokens, to);
  else while (isSymbol(tokens[to + 1], ".")) to += 2;
  if (isKeyword(tokens[to], "exists") || isCall(tokens, to)) to = closing(tokens, to + 1);
  if (isKeyword(tokens[to + 1], "filter") && isSymbol(tokens[to + 2], "(")) to = closing(tokens, to + 2);
  if (isKeyword(tokens[to + 1], "over")) to = isSymbol(tokens[to + 2], "(") ? closing(tokens, to + 2) : to + 2;
  while (isKeyword(tokens[to + 1], "collate")) to += 2;
  return to + 1;
}

function isSign(token: Token | undefined): boolean {
  return ["-", "+", "~"].some((sign) => isSymbol(token, sign));
}

/** Whether an operand may end with the token, so that an operator after it has two operands. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === "symbol") return token.text === ")";
  return token.kind !== "word" || !beforeOperand.has(token.text.toLowerCase());
}

/** Keywords that begin an expression, or a list of expressions in parentheses. */
const beforeOperand = new Set(
  words(
    `all and as between by case collate conflict distinct do else escape except exists filter from glob group having in
     indexed insert intersect into is isnull join like limit match materialized not notnull nothing offset on or order
     over partition returning select set then union update using values when where window with`,
  ),
);

/** Whether a function is called with the name at `index`. Tables are also named before a parenthesis, with columns. */
function isCall(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if ((token?.kind !== "word" && token?.kind !== "quoted") || !isSymbol(tokens[index + 1], "(")) return false;
  const before = tokens[index - 1];
  if (isKeyword(before, "into") || isKeyword(before, "as")) return false;
  if (token.kind === "word" && beforeOperand.has(token.value.toLowerCase()))
    return matching.some((word) => isKeyword(token, word)) && !isMatch(tokens, index);
  if (isKeyword(tokens[closing(tokens, index + 1) + 1], "as")) return !isCommonTable(tokens, index);
  return true;
}

function isCommonTable(tokens: readonly Token[], index: number): boolean {
  const body = closing(tokens, index + 1) + 2;
  return ["(", "not", "materialized"].some((word) => isSymbol(tokens[body], word) || isKeyword(tokens[body], word));
}

const matching = ["like", "glob"];

/** Whether the token is the operator LIKE or GLOB, and not the function of that name. */
function isMatch(tokens: readonly Token[], index: number): boolean {
  if (!matching.some((word) => isKeyword(tokens[index], word))) return false;
  const before = isKeyword(tokens[index - 1], "not") ? index - 2 : index - 1;
  return endsOperand(tokens[before]);
}

/** The arguments of a call. */
function argumentsOf(tokens: readonly Token[], { from }: Range): readonly Range[] {
  const end = closing(tokens, from + 1);
  const args: Range[] = [];
  let begin = from + 2;
  for (let index = begin; index <= end; index++) {
    if (isSymbol(tokens[index], "(")) index = closing(tokens, index);
    else if (index === end || isSymbol(tokens[index], ",")) {
      if (index > begin) args.push({ from: begin, to: index });
      begin = index + 1;
    }
  }
  return args;
}

/**
 * The index of the token that ends what the one at `from` begins: the next `end` after it (`step` 1) or before it (-1),
 * but for those that end another `begin` between them. Both are keywords or symbols.
 */
function partnerOf(tokens: readonly Token[], from: number, step: 1 | -1, begin: string, end: string): number {
  const is = (token: Token | undefined, text: string) => isKeyword(token, text) || isSymbol(token, text);
  let depth = 0;
  for (let index = from; index >= 0 && index < tokens.length; index += step) {
    if (is(tokens[index], begin)) depth++;
    if (is(tokens[index], end)) depth--;
    if (depth === 0) return index;
  }
  return step === 1 ? tokens.length - 1 : 0;
}

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}
