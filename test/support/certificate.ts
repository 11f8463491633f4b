import { generate } from "selfsigned";

let made: ReturnType<typeof make> | undefined;

/** For `localhost`, signed by itself: made once for a process. */
export function certificate(): ReturnType<typeof make> {
  made ??= make();
  return made;
}

async function make(): Promise<{ readonly key: string; readonly cert: string }> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "localhost" }], {
    keySize: 2048,
  });
  return { key, cert };
}
