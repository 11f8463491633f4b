import type { AnswerFacts } from "../http/answer-facts.js";
import type { SecurityEvent } from "../http/security-event.js";
import type { LogLevel } from "./log-level.js";
import { plainText, quotedText } from "./shown-text.js";

/** What a line of the request log says (`docs/reference/log.md#fields`). Null where it is not known, and left out. */
export interface RequestLine {
  /** As `instantText` writes it. */
  readonly time: string;
  readonly level: LogLevel;
  readonly id: string;
  readonly trace: string | null;
  /** `-` where it is none of the common ones. */
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** With one decimal. */
  readonly ms: number;
  readonly address: string | null;
  readonly event: SecurityEvent | null;
  /** The names of the query's parameters; null below the level `debug`. */
  readonly parameters: readonly string[] | null;
  readonly facts: AnswerFacts;
}

/** The line as one JSON object. */
export function jsonLine(line: RequestLine): string {
  const { facts, event } = line;
  const { principal, receipt } = facts;
  // Put together by hand, which takes a third of the time of JSON.stringify. Whatever is not quoted has no character
  // that would need it.
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

/** The line for people: what it is in words, and what else there is as `name=value`. */
export function textLine(line: RequestLine): string {
  const { facts, event } = line;
  const { principal, receipt } = facts;
  let text = `${line.time} ${line.level} ${line.method} ${line.route} ${line.status} ${line.ms}ms ${principal?.kind ?? "-"}`;
  if (receipt)
    text += ` rows=${receipt.rowsRead ?? "?"}/${receipt.rowsWritten ?? "?"}/${receipt.rowsReturned ?? "?"}`;
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
