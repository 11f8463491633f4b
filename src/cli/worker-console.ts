import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assetHeaders, pageHeaders } from "../admin/console/headers.js";
import { isAssetName } from "../admin/console/page.js";
import type { HeadersRecord } from "../http/respond.js";
import { strictTransportSecurity } from "../http/transport-security.js";

/**
 * Writes the files of the console that Cloudflare serves without asking the Worker: the built page and its assets, and
 * the headers that the server would send with them. Cloudflare compresses them by itself. If the console is off or its
 * page was not built, the directory stays empty.
 */
export function writeConsoleAssets(enabled: boolean, built: string, directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  if (!enabled || !existsSync(join(built, "index.html"))) return;
  mkdirSync(join(directory, "console/assets"), { recursive: true });
  copyFileSync(join(built, "index.html"), join(directory, "console/index.html"));
  for (const name of readdirSync(join(built, "assets")).filter(isAssetName))
    copyFileSync(join(built, "assets", name), join(directory, "console/assets", name));
  writeFileSync(join(directory, "_headers"), headersFile());
}

/**
 * The file `_headers`, by which Cloudflare sets headers. It would add up the headers of all rules that match a path, so
 * no path matches more than one rule.
 */
function headersFile(): string {
  const rules: readonly (readonly [string, HeadersRecord])[] = [
    ["/console", pageHeaders],
    ["/console/", pageHeaders],
    ["/console/assets/*", assetHeaders],
  ];
  const lineOf = ([name, value]: readonly [string, string]) => `  ${name}: ${value}`;
  return rules
    .flatMap(([path, headers]) => [path, ...[...Object.entries(headers), strictTransportSecurity].map(lineOf)])
    .join("\n");
}
