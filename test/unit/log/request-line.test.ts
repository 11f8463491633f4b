import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { endings } from "../../../src/assemble/endpoints.js";
import { securityEvents } from "../../../src/http/security-event.js";
import { addressPrefix } from "../../../src/log/address-prefix.js";
import { instantText } from "../../../src/log/instant-text.js";
import { messageLine } from "../../../src/log/message-line.js";
import { jsonLine, type RequestLine, textLine } from "../../../src/log/request-line.js";
import { createRouteOf } from "../../../src/log/route-of.js";
import { traceId } from "../../../src/log/trace-id.js";

test.each([
  ["192.0.2.77", "192.0.2.0/24"],
  ["::ffff:192.0.2.77", "192.0.2.0/24"],
  ["2001:DB8:0:12:3:4:5:6", "2001:db8:0:12::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["unknown", null],
  ["_hidden", null],
  ["192.0.2.77, 10.0.0.1", null],
  ["1.2.3", null],
  ["", null],
])("the network of %s", (address, prefix) => {
  expect(addressPrefix(address)).toBe(prefix);
});

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";

test.each([
  [`00-${trace}-00f067aa0ba902b7-01`, trace],
  [`cc-${trace}-00f067aa0ba902b7-01-what-a-later-version-adds`, trace],
  [`00-${trace}-00f067aa0ba902b7-01-more`, null],
  [`ff-${trace}-00f067aa0ba902b7-01`, null],
  [`00-${trace.toUpperCase()}-00f067aa0ba902b7-01`, null],
  [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, null],
  [`00-${trace}-${"0".repeat(16)}-01`, null],
  ["", null],
  [null, null],
])("the trace id of %s", (header, id) => {
  expect(traceId(header)).toBe(id);
});

test("an instant, also where the second is another one and the clock goes back", () => {
  const begin = Date.UTC(2026, 0, 1);
  expect([7, 0, 99, 1_100, -1].map((ms) => instantText(begin + ms))).toEqual([
    "2026-01-01T00:00:00.007Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.099Z",
    "2026-01-01T00:00:01.100Z",
    "2025-12-31T23:59:59.999Z",
  ]);
});

test("a route is matched as the application matches it", () => {
  const routeOf = createRouteOf([
    "/admin/api/*",
    "/health",
    "/api/:table",
    "/api/:table/:id",
    "/api/:table/:id/key",
    "/api/:table/:id/aggregate",
    "/api/:table/:id/query",
  ]);
  const of = (path: string) => routeOf(new Request(`http://127.0.0.1${path}`));
  expect(
    [
      "/health?x",
      "/%68ealth",
      "/api/a",
      "/api/a/b",
      "/api/a/_svc/key",
      "/api/a/_svc/query",
      "/api/a/b/key",
      "/api/a/_svc/aggregate",
      "/api/a/b/aggregate",
      "/admin/api/x",
      "/api/",
      "/",
    ].map(of),
  ).toEqual([
    "/health",
    "/health",
    "/api/:table",
    "/api/:table/:id",
    "/api/:table/_svc/key",
    "/api/:table/_svc/query",
    "-",
    "/api/:table/_svc/aggregate",
    "-",
    "-",
    "-",
    "-",
  ]);
});

describe("ids and names that could break a line", () => {
  const line: RequestLine = {
    time: "2026-01-01T00:00:00.000Z",
    level: "warn",
    id: "the-id",
    trace: null,
    method: "GET",
    route: "/api/:table",
    status: 403,
    ms: 0.5,
    address: null,
    event: "access_refused",
    parameters: ["limit", "where[a b]"],
    facts: {
      principal: { kind: "user", id: 'x"\u009b\u202ey' },
      receipt: { attemptId: "the-id", rowsRead: null, rowsWritten: 0, rowsReturned: 0 },
      code: "forbidden",
      rule: "rules.two\nlines.read",
    },
  };

  test("in JSON", () => {
    expect(jsonLine(line)).toBe(
      '{"time":"2026-01-01T00:00:00.000Z","level":"warn","id":"the-id","method":"GET","route":"/api/:table","status":403,"ms":0.5,"principal":"user","rows_read":null,"rows_written":0,"rows_returned":0,"security":true,"event":"access_refused","principal_id":"x\\"\\u009b\\u202ey","error":"forbidden","rule":"rules.two\\nlines.read","parameters":["limit","where[a b]"]}',
    );
  });

  test("in text", () => {
    expect(textLine(line)).toBe(
      '2026-01-01T00:00:00.000Z warn GET /api/:table 403 0.5ms user rows=?/0/0 security=access_refused principal_id="x\\"\\u009b\\u202ey" error=forbidden rule="rules.two\\nlines.read" parameters="limit,where[a b]" id=the-id',
    );
  });
});

describe("a message", () => {
  const settings = { format: "json", level: "info", addresses: "prefix" } as const;
  const warning = { level: "warn", text: "two\nlines", cause: null } as const;
  const cause = new Error("outer", { cause: "inner" });
  cause.stack = "Error: outer\n    at a place";
  const failure = { level: "error", text: "it failed", cause } as const;

  test("as JSON", () => {
    expect(messageLine(settings, 0, warning)).toBe(
      '{"time":"1970-01-01T00:00:00.000Z","level":"warn","message":"two\\nlines"}',
    );
    expect(messageLine(settings, 0, failure)).toBe(
      '{"time":"1970-01-01T00:00:00.000Z","level":"error","message":"it failed","cause":"Error: outer\\n    at a place\\ncaused by inner"}',
    );
  });

  test.each(["text", "off"] as const)("as text where the format is %s", (format) => {
    expect(messageLine({ ...settings, format }, 0, warning)).toBe("warning: two\nlines");
    expect(messageLine({ ...settings, format }, 0, failure)).toBe(
      "error: it failed: Error: outer\n    at a place\ncaused by inner",
    );
  });

  test("below the level is not written", () => {
    expect(messageLine({ ...settings, level: "error" }, 0, warning)).toBeNull();
    expect(messageLine({ ...settings, level: "error" }, 0, failure)).not.toBeNull();
  });
});

describe("events", () => {
  test("of every endpoint that changes something about accounts or the schema are decided", () => {
    const rows = readFileSync("docs/reference/http.md", "utf8").matchAll(
      /^\| `(\w+) (\/(?:auth|admin\/api)\/\S+)` \|/gm,
    );
    const endpoints = [...rows].map(([, method, path]) => `${method} ${path!.replaceAll(/\{(\w+)\}/g, ":$1")}`);
    const changing = endpoints.filter((endpoint) => !endpoint.startsWith("GET ") || endpoint.includes("/callback/"));
    expect(changing.length).toBeGreaterThan(20);
    expect([...endings.keys()].sort()).toEqual([...new Set(changing)].sort());
  });

  test("are those that the page lists", () => {
    const section = readFileSync("docs/reference/log.md", "utf8").split("\n## Events\n")[1]!.split("\n## ")[0]!;
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, event]) => event!);
    expect(listed).toEqual([...securityEvents]);
  });
});
