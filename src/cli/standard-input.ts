/** Secrets and passwords on standard input, one on each line. */
export async function readSecretLines(): Promise<readonly string[]> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

export async function readSecretLine(): Promise<string> {
  const [line = ""] = await readSecretLines();
  return line;
}
