import { type ProofScope, proveSql } from "./proof.js";
import { isKeyword, isSymbol, type Token, textOf, tokenize, withoutComments } from "./sql-tokens.js";

/** A trigger of svc.schema.yaml, whose text there is all that follows `CREATE TRIGGER` and the name. */
export interface TriggerText {
  readonly event: "insert" | "update" | "delete";
  /** The columns of `UPDATE OF`; empty if a change of any column fires the trigger. */
  readonly of: readonly string[];
  readonly table: string;
  /** Without the word WHEN; null for no condition. */
  readonly when: string | null;
  readonly statements: readonly string[];
}

const shape = "expected [before | after] insert | update [of columns] | delete on a table [when …] begin … end";
const lengthMax = 20_000;

/** Parses the text of a trigger, leaving comments out. Returns a message for a person if the text is no trigger. */
export function parseTriggerText(text: string): TriggerText | string {
  if (text.length > lengthMax) return `longer than ${lengthMax} characters`;
  const tokens = withoutComments(tokenize(text));
  let at = 0;
  const takes = (...keywords: readonly string[]) => {
    const isThere = keywords.every((keyword, i) => isKeyword(tokens[at + i], keyword));
    if (isThere) at += keywords.length;
    return isThere;
  };
  const takesComma = () => {
    const isThere = isSymbol(tokens[at], ",");
    if (isThere) at++;
    return isThere;
  };
  if (isKeyword(tokens[0], "create")) return "begin after the name: create trigger and the name are not repeated";
  if (takes("instead", "of")) return "INSTEAD OF is for views: say before or after";
  if (!takes("before")) takes("after");
  const event = (["insert", "update", "delete"] as const).find((each) => takes(each));
  if (event === undefined) return shape;
  const of: string[] = [];
  if (event === "update" && takes("of"))
    do of.push(tokens[at++]?.value ?? "");
    while (takesComma());
  if (!takes("on")) return shape;
  const table = tokens[at++]?.value ?? "";
  if (isSymbol(tokens[at], ".")) return "a table is named without its database";
  takes("for", "each", "row");
  const begin = tokens.findIndex((token, i) => i >= at && isKeyword(token, "begin") && !isSymbol(tokens[i - 1], "."));
  const when = takes("when") ? textOf(tokens.slice(at, begin)) : null;
  if (begin === -1 || (when === null && begin !== at)) return shape;
  if (!isKeyword(tokenize(text).at(-1), "end"))
    return "end is the last word, without a semicolon or a comment after it";
  const statements = statementsOf(tokens.slice(begin + 1, -1)).map(textOf);
  return statements.length === 0 ? "nothing is between begin and end" : { event, of, table, when, statements };
}

function statementsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const statements: Token[][] = [[]];
  for (const token of tokens)
    if (isSymbol(token, ";")) statements.push([]);
    else statements.at(-1)!.push(token);
  return statements.filter((statement) => statement.length > 0);
}

/**
 * What `proveSql` refuses in a trigger's condition and statements, as messages. Whether the database can compile the
 * trigger shows only when it is created.
 */
export function unprovedInTrigger(
  { when, statements }: TriggerText,
  scope: Pick<ProofScope, "tables" | "others">,
): readonly string[] {
  const proved = { ...scope, parameters: new Set<string>(), isInTrigger: true };
  const found = (sql: string) => (proveSql(sql, proved).problems ?? []).map(({ message }) => message);
  return [
    ...(when === null ? [] : found(`SELECT ${when}`).map((message) => `when: ${message}`)),
    ...statements.flatMap((sql, i) => found(sql).map((message) => `statement ${i + 1}: ${message}`)),
  ];
}
