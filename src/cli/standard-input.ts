/** A secret or password on standard input: its first line, without the line break. */
export async function readSecretLine(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  return text.split(/\r?\n/)[0] ?? "";
}
