// The program of the single executable (`npm run build:binary`). It unpacks what Node has to load from files, such as
// native modules, and runs the command line from there.
import { createRequire } from "node:module";
import { join } from "node:path";
import { getAsset, getRawAsset } from "node:sea";
import { gunzipSync } from "node:zlib";
import { cacheFolder, type Manifest, UnpackError, unpacked } from "./unpacked.js";

const manifest = JSON.parse(getAsset("manifest", "utf8")) as Manifest;
try {
  const folder = unpacked(cacheFolder(process.env), manifest, () =>
    gunzipSync(new Uint8Array(getRawAsset("files") as ArrayBuffer)),
  );
  const program = join(folder, "dist/svc/main.js");
  createRequire(program)(program);
} catch (error) {
  if (!(error instanceof UnpackError)) throw error;
  console.error(`svc: ${error.message}`);
  process.exitCode = 2;
}
