import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { client } from "../support/client.js";
import { freePort } from "../support/free-port.js";
import { run } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { describeInChromium, requestsOf, servePages } from "./chromium.js";

const messageCount = 30;
const furtherTables = ["areas", "jobs", "parts", "visits"];

interface Setting {
  readonly server: TestServer;
  readonly api: string;
  readonly line: Line;
  /** The origin that is allowed. */
  readonly app: string;
  /** A caller whom no rule concerns. */
  readonly key: ReturnType<typeof client>;
}

/** What lies between browser and server. */
interface Line {
  readonly port: number;
  /** Ends every connection, and refuses others until it is mended. */
  cut(): void;
  mend(): void;
}

async function lineTo(port: number): Promise<Line> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const proxy = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port, "localhost");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true).pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, "localhost");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    cut();
  });
  const mend = () => {
    isCut = false;
  };
  return { port: (proxy.address() as AddressInfo).port, cut, mend };
}

async function start(): Promise<Setting> {
  const port = await freePort("localhost");
  const line = await lineTo(port);
  const api = `https://localhost:${line.port}`;
  const app = await servePages(api, "rooms");
  const server = await serve(
    {
      schema: `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true }, name: { type: text } } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, references: { table: rooms, on_delete: cascade } }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
${furtherTables.map((name) => `${name}: { columns: { id: { type: integer, primary_key: true } } }`).join("\n")}
`,
      config: `
[auth]
cookie_mode = true
cookie_tokens_in_body = false
public_base_url = "https://localhost:${port}"
[cors]
allowed_origins = ["${app}"]
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
create = "exists(members m where m.room_id = new.room_id and m.user_id = auth.id)"
${furtherTables.map((name) => `[rules.${name}]\nread = "authenticated"\ncreate = "authenticated"`).join("\n")}
`,
    },
    "tls",
  );
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/rooms", { id: 1, name: "the first" });
  return { server, api, line, app, key };
}

/** Signs somebody up in the page, as a member of the room. Returns their id. */
async function join({ server }: Setting, page: Page, name: string): Promise<string> {
  const credentials = JSON.stringify({ email: `${name}@example.com`, password: "correct horse" });
  await page.waitForFunction("window.client !== undefined");
  const id: string = await page.evaluate(`client.auth.register(${credentials}).then(({ id }) => id)`);
  await run(server, "INSERT INTO members VALUES (1, ?)", id);
  return id;
}

const write = ({ key }: Setting, id: number, body = `m${id}`) => key.post("/api/messages", { id, room_id: 1, body });

/** Resolves when the page shows these lines, in their order, and says this state. */
async function shows(page: Page, lines: readonly string[], status = "live"): Promise<void> {
  const shown = `[...document.querySelectorAll("li"), document.getElementById("status")].map((each) => each.textContent)`;
  const expected = JSON.stringify([...lines, status]);
  // By a timer, as the browser paints no tab that is behind another.
  await page
    .waitForFunction(`JSON.stringify(${shown}) === ${JSON.stringify(expected)}`, null, { polling: 5 })
    .catch(async () => expect(await page.evaluate(shown)).toEqual(JSON.parse(expected)));
}

const lines = (...ids: number[]) => ids.map((id) => `${id} m${id}`);

/** The events that an EventSource of the page has got when it has heard `change` or an error. */
const eventsOfSource = `new Promise((resolve) => {
  const q = encodeURIComponent(JSON.stringify({ tables: { messages: {} } }));
  const source = new EventSource(api + "/api/_svc/live?q=" + q, { withCredentials: true });
  const heard = (event) => {
    source.close();
    resolve([event.type, event.data ? JSON.parse(event.data).changes.map(({ key }) => key.id) : null]);
  };
  for (const type of ["change", "reset", "bye", "message", "error"]) source.addEventListener(type, heard);
})`;

describeInChromium("live lists in Chromium, over HTTPS from another origin", (open) => {
  it("shows one person what another writes, until they are no member any more", async () => {
    const setting = await start();
    const [{ page: ada }, { page: ben }] = [await open(setting.app), await open(setting.app)];
    await join(setting, ada, "ada");
    const id = await join(setting, ben, "ben");
    await Promise.all([shows(ada, []), shows(ben, [])]);
    const took: number[] = [];
    for (let count = 1; count <= messageCount; count++) {
      const [at, id]: readonly number[] = await ada.evaluate(`(() => {
        const at = now();
        return client.table("messages").create({ room_id: 1, body: "m${count}" }).then(({ id }) => [at, id]);
      })()`);
      await ben.waitForFunction(`shownAt[${id}] !== undefined`, null, { polling: 5 });
      took.push(((await ben.evaluate(`shownAt[${id}]`)) as number) - at!);
    }
    took.sort((a, b) => a - b);
    const [median, slowest] = [took[messageCount / 2]!, took.at(-1)!].map((ms) => ms.toFixed(1));
    console.info(
      `from create() in one browser to the other's page: median ${median} ms of ${messageCount} messages, at most ${slowest} ms`,
    );
    const all = lines(...Array.from({ length: messageCount }, (_, at) => at + 1));
    await Promise.all([shows(ada, all), shows(ben, all)]);
    await run(setting.server, "DELETE FROM members WHERE user_id = ?", id);
    await shows(ben, []);
    await shows(ada, all);
  });

  it("has every row once and in order after a time without a connection", async () => {
    const setting = await start();
    const { context, page } = await open(setting.app);
    await join(setting, page, "ada");
    for (const id of [2, 4, 6]) await write(setting, id);
    await shows(page, lines(2, 4, 6));
    // The browser refuses what begins while it is offline, and leaves what is open alone: that is cut by the line.
    await context.setOffline(true);
    setting.line.cut();
    await write(setting, 3);
    await shows(page, lines(2, 4, 6), "reconnecting");
    await write(setting, 5);
    await setting.key.delete("/api/messages/4");
    await setting.key.patch("/api/messages/6", { body: "changed" });
    await write(setting, 1);
    setting.line.mend();
    await context.setOffline(false);
    await shows(page, [...lines(1, 2, 3, 5), "6 changed"]);
  });

  it("shows nothing more once the session was ended elsewhere", async () => {
    const setting = await start();
    const { page } = await open(setting.app);
    const id = await join(setting, page, "ada");
    await write(setting, 1);
    await shows(page, lines(1));
    expect(await setting.key.post(`/admin/api/users/${id}/revoke-sessions`, {})).toMatchObject({
      status: 200,
    });
    await write(setting, 2);
    await shows(page, [], "signed_out");
    expect(await page.evaluate("2 in shownAt")).toBe(false);
  });

  it("has one stream for three tabs, and another tab goes on with it when the first is closed", async () => {
    const setting = await start();
    const { context, page: first } = await open(setting.app);
    await join(setting, first, "ada");
    await write(setting, 1);
    await shows(first, lines(1));
    const [streams, pulls] = [requestsOf(context, "/api/_svc/live"), requestsOf(context, "/api/_svc/pull")];
    const [second, third] = [await tab(context, setting.app), await tab(context, setting.app)];
    await Promise.all([second, third].map((each) => shows(each, lines(1))));
    await write(setting, 2);
    await Promise.all([first, second, third].map((each) => shows(each, lines(1, 2))));
    expect(streams.count).toBe(0);
    await first.close();
    await write(setting, 3);
    await Promise.all([second, third].map((each) => shows(each, lines(1, 2, 3))));
    await write(setting, 4);
    await Promise.all([second, third].map((each) => shows(each, lines(1, 2, 3, 4))));
    expect(streams.count).toBe(1);
    // It went on from where the first tab was.
    expect(pulls.count).toBe(0);
  });

  it("tells an EventSource of an allowed origin, with cookies, and none of another", async () => {
    const setting = await start();
    const { context, page } = await open(setting.app);
    await join(setting, page, "ada");
    await write(setting, 1);
    await shows(page, lines(1));
    expect(await page.evaluate(eventsOfSource)).toEqual(["change", [1]]);
    const foreign = await tab(context, await servePages(setting.api, "rooms"));
    await foreign.waitForFunction("window.api !== undefined");
    expect(await foreign.evaluate(eventsOfSource)).toEqual(["error", null]);
    await shows(page, lines(1));
  });
});

describeInChromium(
  "live lists in Chromium over HTTP/1.1, which has six connections to a server",
  (open) => {
    it("has one stream for twelve lists of five tables in three tabs, and room for other requests", async () => {
      const setting = await start();
      const { context, page: first } = await open(setting.app);
      await join(setting, first, "ada");
      const tabs = [first, await tab(context, setting.app), await tab(context, setting.app)];
      const tables = ["messages", ...furtherTables];
      for (const [at, page] of tabs.entries()) {
        await page.waitForFunction("window.client !== undefined");
        const lists = [0, 1, 2, 3].map((i) => [tables[(4 * at + i) % tables.length], -1 - at]);
        await page.evaluate(`(() => {
          window.shown = [];
          ${JSON.stringify(lists)}.forEach(([table, from], i) => {
            client.table(table).live({ filter: { id: { gt: from } } }, (rows, { status }) => {
              shown[i] = [table, status, rows.length];
            });
          });
        })()`);
      }
      const show = (page: Page, count: (table: string) => number) =>
        page.waitForFunction(
          `shown.filter(([table, status, count]) => status === "live" && count === ${JSON.stringify(
            Object.fromEntries(tables.map((table) => [table, count(table)])),
          )}[table]).length === 4`,
          null,
          { polling: 5 },
        );
      await Promise.all(tabs.map((page) => show(page, () => 0)));
      const took: number[] = [];
      for (let i = 0; i < messageCount; i++)
        took.push(
          await first.evaluate(`(async () => {
            const at = performance.now();
            await client.table("areas").create({});
            await client.table("areas").list();
            return performance.now() - at;
          })()`),
        );
      await Promise.all(tabs.map((page) => show(page, (table) => (table === "areas" ? messageCount : 0))));
      took.sort((a, b) => a - b);
      console.info(`create() and list() beside twelve lists: median ${took[messageCount / 2]!.toFixed(1)} ms`);
      expect((await setting.key.get("/metrics")).text.split("\n")).toContain("svc_streams 1");
    });
  },
  ["--disable-http2"],
);

async function tab(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(origin);
  return page;
}
