// A whole application on svc: people sign in, and each sees their own notes, as they are now. The pages come from one
// origin and the API from another; the session is in cookies that this script never sees.

import { api } from "/settings.js";
import { createClient } from "/svc/index.js";

const client = createClient({ url: api, session: "cookie" });
const notes = client.table("notes");
const element = (id) => document.getElementById(id);

/** What goes wrong is said on the page. */
async function attempt(act) {
  element("problem").textContent = "";
  try {
    await act();
  } catch (error) {
    element("problem").textContent = error.message;
  }
}

// Called in every tab when somebody signs in or out in any of them.
client.auth.onChange(show);

function show(user) {
  element("sign-in").hidden = user !== null;
  element("notes").hidden = user === null;
  element("user").textContent = user?.email ?? "";
}

// Called with the notes of whoever is signed in, and whenever one of them changes, here or on another device.
notes.live({ sort: "-id", limit: 20 }, (rows, { status, error }) => {
  element("list").replaceChildren(...rows.map(listItem));
  element("status").textContent = status === "reconnecting" ? "reconnecting …" : "";
  if (status === "refused") element("problem").textContent = error.message;
});

function listItem({ id, body }) {
  const item = document.createElement("li");
  const remove = document.createElement("button");
  item.append(body, remove);
  remove.textContent = "Delete";
  remove.onclick = () => attempt(() => notes.delete(id));
  return item;
}

element("sign-in").onsubmit = (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  const how = {
    login: () => client.auth.login({ email, password }),
    register: () => client.auth.register({ email, password }),
    // The provider sends the browser back to this page, with a code.
    google: async () => location.assign(await client.auth.oauth.authorize("google", `${location.origin}/`)),
  };
  attempt(how[event.submitter.value]);
};

element("add").onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => {
    const { id: owner_id } = await client.auth.user();
    await notes.create({ owner_id, body: new FormData(event.target).get("body") });
    event.target.reset();
  });
};

element("sign-out").onclick = () => attempt(() => client.auth.logout());

// What the project does not offer is not shown.
await attempt(async () => {
  element("google").hidden = (await client.auth.oauth.providers()).length === 0;
});
await attempt(() => client.auth.oauth.exchange(location.href));
history.replaceState(null, "", "/");
show(await client.auth.user());
