import type { RequestListener } from "node:http";

export function pages(api: string, app?: "app" | "rooms"): RequestListener;
