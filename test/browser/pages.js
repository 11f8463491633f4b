// Serves the example application: `node test/browser/pages.js`, beside `npm run svc -- serve --dir test/browser/project`.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8" };
const client = new URL("../../dist/client/", import.meta.url);

/** Answers with the files of an application in this folder, the client's, and where the API is. */
export function pages(api, app = "app") {
  return async (request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    const text =
      pathname === "/settings.js" ? `export const api = ${JSON.stringify(api)};` : await fileOf(app, pathname);
    const type = types[pathname.split(".")[1] ?? "html"];
    if (text === null || type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "Content-Type": type }).end(text);
  };
}

function fileOf(app, pathname) {
  const [, isClient, name = "index.html"] = /^\/(svc\/)?((?:live\/)?[\w-]+\.js)?$/.exec(pathname) ?? [];
  const folder = isClient ? client : new URL(`./${app}/`, import.meta.url);
  return readFile(new URL(name, folder), "utf8").catch(() => null);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  createServer(pages("http://localhost:8787")).listen(5173, "localhost", () => console.log("http://localhost:5173"));
