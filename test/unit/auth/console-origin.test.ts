import { expect, it } from "vitest";
import { consoleOrigin } from "../../../src/auth/callers/console-origin.js";
import { isRefusal } from "../../../src/http/refusal.js";

const verdict = (own: string, trustProxy: boolean, url: string, headers: Record<string, string>) => {
  const judged = consoleOrigin({ own, trustProxy }, new Request(url, { headers }));
  return isRefusal(judged) ? `${judged.code}: ${judged.message}` : judged;
};

const foreign = expect.stringMatching(/^forbidden: .* own origin$/);
const inTheClear = expect.stringMatching(/^forbidden: .* needs https/);
const api = "https://api.example.com";
const local = "http://127.0.0.1:8787";

it.each([
  ["on a loopback address", local, false, local, { Origin: local }, "loopback"],
  ["by another name of it", local, false, "http://localhost:8787", { Origin: "http://localhost:8787" }, "loopback"],
  ["by IPv6", "http://[::1]:8787", false, "http://[::1]:8787", { Origin: "http://[::1]:8787" }, "loopback"],
  [
    "through a tunnel from another port",
    local,
    false,
    "http://127.0.0.1:5000",
    { Origin: "http://127.0.0.1:5000" },
    "loopback",
  ],
  ["over https", api, false, api, { Origin: api }, "https"],
  ["behind a proxy that ends TLS", api, false, "http://api.example.com", { Origin: api }, "https"],
  [
    "as the proxy says",
    local,
    true,
    "http://x.example",
    { Origin: "https://x.example", "X-Forwarded-Proto": "https" },
    "https",
  ],
  [
    "as anybody says",
    local,
    false,
    "http://x.example",
    { Origin: "https://x.example", "X-Forwarded-Proto": "https" },
    foreign,
  ],
  [
    "in the clear, in a network",
    local,
    false,
    "http://192.168.0.5:8787",
    { Origin: "http://192.168.0.5:8787" },
    inTheClear,
  ],
  [
    "in the clear, as it is set",
    "http://192.168.0.5:8787",
    false,
    "http://192.168.0.5:8787",
    { Origin: "http://192.168.0.5:8787" },
    inTheClear,
  ],
  [
    "in the clear, where it should be https",
    api,
    false,
    "http://api.example.com",
    { Origin: "http://api.example.com" },
    foreign,
  ],
  ["from another port", local, false, local, { Origin: "http://127.0.0.1:5173" }, foreign],
  ["without an Origin, of the same one", local, false, local, { "Sec-Fetch-Site": "same-origin" }, "loopback"],
  ["without an Origin, of the same site", api, false, api, { "Sec-Fetch-Site": "same-site" }, foreign],
  ["without a word", api, false, api, {}, foreign],
])("%s", (_, own, trustProxy, url, headers, expected) => {
  expect(verdict(own, trustProxy, url, headers as Record<string, string>)).toEqual(expected);
});
