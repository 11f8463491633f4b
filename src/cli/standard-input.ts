/**
 * Reads secrets and passwords, one per line. At a terminal, the user is asked for a single one, which is not shown
 * while it is typed.
 */
export async function readSecretLines(): Promise<readonly string[]> {
  const { stdin } = process;
  if (stdin.isTTY) return [await askedFor()];
  let text = "";
  for await (const chunk of stdin.setEncoding("utf8")) text += chunk;
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** The first line of `readSecretLines`; an empty string if there is none. */
export async function readSecretLine(): Promise<string> {
  const [line = ""] = await readSecretLines();
  return line;
}

/** What a terminal sends in raw mode: Enter and ^D, backspace and delete, ^C. */
const [ends, erasers, interrupt] = [["\r", "\n", "\u0004"], ["\b", "\u007f"], "\u0003"];

async function askedFor(): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write("secret or password (not shown): ");
  stdin.setRawMode(true);
  let line = "";
  try {
    for await (const chunk of stdin.setEncoding("utf8") as AsyncIterable<string>)
      for (const character of chunk) {
        if (ends.includes(character)) return line;
        if (character === interrupt) process.exit(130);
        line = erasers.includes(character) ? line.slice(0, -1) : line + character;
      }
    return line;
  } finally {
    stdin.setRawMode(false);
    stderr.write("\n");
  }
}
