import type { AnswerFacts } from "../http/answer-facts.js";
import type { SecurityEvent } from "../http/security-event.js";
import type { LogLevel } from "./log-level.js";
import { plainText, quotedText } from "./shown-text.js";

/** A line of the request log (`docs/reference/log.md#fields`). It leaves out fields that are null. */
export interface RequestLine {
  /** When the request was answered, as `instantText` writes it. */
  readonly time: string;
  readonly level: LogLevel;
  readonly id: string;
  readonly trace: string | null;
  /** `-` if it is none of the common methods. */
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** How long the answer took, in milliseconds with one decimal. */
  readonly ms: number;
  readonly address: string | null;
  readonly event: SecurityEvent | null;
  /** The names of the query parameters; null unless `log.level` is `debug`. */
  readonly parameters: readonly string[] | null;
  readonly facts: AnswerFacts;
}

/** Writes a line as one JSON object. */
export function jsonLine(line: RequestLine): string {
  const { facts, event } = line;
  const { principal, receipt } = facts;
  // The JSON is put together by hand, in a third of the time of JSON.stringify. Values without `quotedText` hold no
  // character that needs escaping.
  let text = `{"time":"${line.time}","level":"${line.level}","id":"${line.id}"`;
  if (line.trace !== null) text += `,"trace":"${line.trace}"`;
  text += `,"method":"${line.method}","route":"${line.route}","status":${line.status},"ms":${line.ms}`;
  text += `,"principal":"${principal?.kind ?? "-"}"`;
  if (receipt)
    text += `,"rows_read":${receipt.rowsRead},"rows_written":${receipt.rowsWritten},"rows_returned":${receipt.rowsReturned}`;
  if (line.address !== null) text += `,"address":"${line.address}"`;
  if (event !== null) {
    text += `,"security":true,"event":"${event}"`;
    if (principal?.id !== undefined) text += `,"principal_id":${quotedText(principal.id)}`;
    if (facts.target !== undefined) text += `,"target":${quotedText(facts.target)}`;
  }
  if (facts.code !== undefined) text += `,"error":"${facts.code}"`;
  if (facts.rule !== undefined) text += `,"rule":${quotedText(facts.rule)}`;
  if (line.parameters !== null) text += `,"parameters":[${line.parameters.map(quotedText).join()}]`;
  return `${text}}`;
}

/**
 * Writes a line for people: time, level, method, route, status, milliseconds and kind of caller, then all else as
 * `name=value`.
 */
export function textLine(line: RequestLine): string {
  const { facts, event } = line;
  const { principal, receipt } = facts;
  let text = `${line.time} ${line.level} ${line.method} ${line.route} ${line.status} ${line.ms}ms ${principal?.kind ?? "-"}`;
  if (receipt) text += ` rows=${receipt.rowsRead ?? "?"}/${receipt.rowsWritten ?? "?"}/${receipt.rowsReturned ?? "?"}`;
  if (line.address !== null) text += ` address=${line.address}`;
  if (event !== null) {
    text += ` security=${event}`;
    if (principal?.id !== undefined) text += ` principal_id=${plainText(principal.id)}`;
    if (facts.target !== undefined) text += ` target=${plainText(facts.target)}`;
  }
  if (facts.code !== undefined) text += ` error=${facts.code}`;
  if (facts.rule !== undefined) text += ` rule=${plainText(facts.rule)}`;
  if (line.parameters !== null && line.parameters.length > 0)
    text += ` parameters=${plainText(line.parameters.join())}`;
  text += ` id=${line.id}`;
  return line.trace === null ? text : `${text} trace=${line.trace}`;
}
