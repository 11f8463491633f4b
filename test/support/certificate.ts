import { readFileSync } from "node:fs";

const read = (name: string) => readFileSync(new URL(`../data/localhost-${name}.pem`, import.meta.url), "utf8");

/** A certificate for `localhost`, signed by itself and valid for a century, and its private key, which guards nothing. */
export async function certificate(): Promise<{ readonly key: string; readonly cert: string }> {
  return { key: read("key"), cert: read("cert") };
}
