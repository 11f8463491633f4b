/**
 * Adds an index to a table in the YAML text of a schema; returns the same text if the table, or a place for the index,
 * is not found. It only inserts or extends lines, so comments and spacing stay as they are.
 */
export function withIndex(text: string, table: string, columns: readonly string[]): string {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => new RegExp(`^${table}\\s*:\\s*(#.*)?$`).test(line));
  if (begin < 0) return text;
  const rest = lines.slice(begin + 1);
  const length = rest.findIndex((line) => /^\S/.test(line) && !line.startsWith("#"));
  const body = length < 0 ? rest : rest.slice(0, length);
  const entry = `{ columns: [${columns.join(", ")}] }`;
  const at = body.findIndex((line) => /^ +indexes\s*:/.test(line));
  if (at < 0) {
    const last = body.findLastIndex((line) => line.trim() !== "" && !line.trim().startsWith("#"));
    const [indent = "  "] = /^ +/.exec(body.find((line) => /^ +\S/.test(line)) ?? "  ") ?? [];
    lines.splice(begin + 2 + last, 0, `${indent}indexes: [${entry}]`);
    return lines.join("\n");
  }
  const line = body[at]!;
  const flow = /^( +indexes\s*:\s*\[)(.*)(\]\s*(#.*)?)$/.exec(line);
  if (flow !== null) {
    lines[begin + 1 + at] = `${flow[1]}${flow[2]!.trim() === "" ? "" : `${flow[2]!.trimEnd()}, `}${entry}${flow[3]}`;
    return lines.join("\n");
  }
  if (!/^ +indexes\s*:\s*(#.*)?$/.test(line)) return text;
  const [indent = "    "] = /^ +(?=-)/.exec(body[at + 1] ?? "") ?? [];
  lines.splice(begin + 2 + at, 0, `${indent}- ${entry}`);
  return lines.join("\n");
}
