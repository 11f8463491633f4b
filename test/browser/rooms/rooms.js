// Shows the messages of the rooms that somebody is a member of. Tests do the rest with `client`, from outside.

import { api } from "/settings.js";
import { createClient } from "/svc/index.js";

const client = createClient({ url: api, session: "cookie" });
const element = (id) => document.getElementById(id);
/** When a message was first on the page, by its id, in milliseconds since 1970. */
const shownAt = {};
const now = () => performance.timeOrigin + performance.now();
Object.assign(window, { api, client, now, shownAt });

client.table("messages").live({ sort: "id" }, (rows, { status }) => {
  element("list").replaceChildren(
    ...rows.map(({ id, body }) => Object.assign(document.createElement("li"), { textContent: `${id} ${body}` })),
  );
  element("status").textContent = status;
  for (const { id } of rows) shownAt[id] ??= now();
});
