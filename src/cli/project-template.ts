/** What `svc init` writes: svc.toml, with a secret for development. */
export const configTemplate = (
  secret: string,
): string => `# Settings and access rules. Every key is optional; \`svc check\` reads them as \`svc serve\` does.

[auth]
# Signs access tokens on this machine; it is no secret to who reads this file, and is taken on loopback addresses alone.
# Where others can reach the server, set the environment variable SVC_JWT_SECRET to 32 bytes or more, and remove both lines.
allow_insecure_dev_secret = true
dev_secret = "${secret}"

# For browsers: tokens in cookies. Page and server have to be of one site, as app.example.com and api.example.com are, and
# cors.allowed_origins is needed.
# cookie_mode = true
# In cookie mode, tokens are in their cookies alone, where no script of a page can read them.
cookie_tokens_in_body = false

# Pages on another origin than the server's that may call it.
# [cors]
# allowed_origins = ["http://localhost:5173"]

# Who may do what with each table. A missing rule denies. row is the stored row, new the row as it would be; an update rule has to
# hold for the row before and for the row after the change, which old and new tell apart.

[rules.products]
read = "public"
create = "auth.role = 'admin'"
update = "auth.role = 'admin'"
delete = "auth.role = 'admin'"

[rules.orders]
read = "row.user_id = auth.id or auth.role = 'admin'"
create = "new.user_id = auth.id"
update = "auth.role = 'admin'"

# Nobody but administrators sees or sets it.
[rules.orders.columns.note]
read = "auth.role = 'admin'"
write = "auth.role = 'admin'"
`;

/** What `svc init` writes: svc.schema.yaml. */
export const schemaTemplate = `# Tables. A change is applied when the server starts or reloads, unless it could lose something: see \`svc schema plan\`.

$auth:
  registration: public # or invite, closed

products:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true, unique: true }
    price_cents: { type: integer, not_null: true, check: "price_cents >= 0" }
    tags: { type: json }

orders:
  columns:
    id: { type: integer, primary_key: true }
    user_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    product_id: { type: integer, not_null: true, references: { table: products } }
    quantity: { type: integer, not_null: true, default: 1, check: "quantity between 1 and 100" }
    note: { type: text }
    created_at: { type: integer, not_null: true, default: { sql: "unixepoch()" } }
  indexes:
    - { columns: [user_id] }
    - { columns: [product_id] }
`;

/** What `svc init` writes: rules.test.yaml, whose cases decide every term of the template's rules. */
export const testsTemplate = `# What users may do and see. \`svc test\` tries each case on a database in memory, which has these users and rows before
# each of them. \`svc test --mutate\` says which part of a rule could be changed without a case noticing.

users: # the name is the user's id, too
  ada:
  bob:
  root: { role: admin }

rows:
  products:
    - { id: 1, name: Tea, price_cents: 450 }
  orders:
    - { id: 1, user_id: ada, product_id: 1, note: from the shelf }
    - { id: 2, user_id: bob, product_id: 1 }

cases:
  # Everybody reads products, and administrators write them.
  - { as: anonymous, do: { list: products }, sees: [1] }
  - { as: ada, do: { create: products, values: { name: Milk, price_cents: 120 } }, deny: true }
  - { as: root, do: { create: products, values: { name: Milk, price_cents: 120 } }, allow: true }
  - { as: ada, do: { update: products, key: 1, set: { price_cents: 1 } }, deny: true }
  - { as: root, do: { update: products, key: 1, set: { price_cents: 470 } }, allow: true }
  - { as: ada, do: { delete: products, key: 1 }, deny: true }
  - { as: root, do: { delete: products, key: 1 }, deny: conflict } # the rules allow it, but there are orders of it

  # Users see their own orders, without the note.
  - { as: ada, do: { list: orders }, sees: [1] }
  - { as: ada, do: { read: orders, key: 2 }, deny: true }
  - { as: ada, do: { read: orders, key: 1 }, allow: { columns: [id, user_id, product_id, quantity, created_at] } }
  - { as: root, do: { list: orders }, sees: [1, 2] }

  # They order for themselves.
  - { as: ada, do: { create: orders, values: { user_id: ada, product_id: 1 } }, allow: true }
  - { as: ada, do: { create: orders, values: { user_id: bob, product_id: 1 } }, deny: true }
  - { as: ada, do: { create: orders, values: { user_id: ada, product_id: 1, note: hello } }, deny: { columns: [note] } }
  - { as: ada, do: { update: orders, key: 1, set: { quantity: 3 } }, deny: true }
  - { as: root, do: { update: orders, key: 1, set: { note: sent } }, allow: true }
`;

/** What `svc init --demo` adds to svc.toml. */
export const demoConfig = `
# The files of public/ are at /. The console has an address of its own then, which a start prints; 0 is any free port.
[server]
serve_dir = "public"

[console]
listen = "127.0.0.1:0"
`;

/** What `svc init --demo` writes: seeds/demo.yaml. */
export const demoSeeds = `# What \`svc seed\` writes into an empty database.

users: # the name is the user's id, too
  ada: { password: correct horse }

rows:
  products:
    - { id: 1, name: Tea, price_cents: 450, tags: [hot, green] }
    - { id: 2, name: Cup, price_cents: 900 }
  orders:
    - { id: 1, user_id: ada, product_id: 1, quantity: 2 }
`;

/** What `svc init --demo` writes: public/index.html. */
export const demoPage = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Shop</title>
  <style>
    body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
  </style>
  <h1>Products</h1>
  <ul id="products"></ul>
  <form>
    <input name="email" type="email" value="ada@example.com" aria-label="Email" required>
    <input name="password" type="password" value="correct horse" aria-label="Password" required>
    <button>Show my orders</button>
  </form>
  <ul id="orders"></ul>
  <p id="message" role="alert"></p>
  <script type="module">
    async function call(path, token, body) {
      const headers = { ...(token && { Authorization: "Bearer " + token }), ...(body && { "Content-Type": "application/json" }) };
      const response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
      const { data, error } = await response.json();
      if (error) throw new Error(error.message);
      return data;
    }

    function show(list, lines) {
      list.replaceChildren(...lines.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    }

    const guarded = (act) => act().then(() => show(message, []), (error) => { message.textContent = error.message; });

    // Everybody reads products. Of orders, the rules show users their own.
    guarded(async () => {
      const rows = await call("/api/products?sort=name");
      show(products, rows.map(({ name, price_cents }) => name + ", " + (price_cents / 100).toFixed(2)));
    });

    document.forms[0].addEventListener("submit", (event) => {
      event.preventDefault();
      const { email, password } = Object.fromEntries(new FormData(event.target));
      guarded(async () => {
        const { access_token } = await call("/auth/login", null, { email, password });
        const rows = await call("/api/orders?expand=product_id", access_token);
        show(orders, rows.map(({ quantity, _expand }) => quantity + " × " + _expand.product_id.name));
      });
    });
  </script>
</html>
`;

/**
 * What `svc init --worker` writes: the settings of wrangler for a Worker of this name. The compatibility date is the one
 * that this release is tested with.
 */
export const wranglerTemplate = (name: string): string => `name = "${name}"
main = ".svc/worker/modules/index.js"
compatibility_date = "2026-04-26"
# A client that goes away ends its request.
compatibility_flags = ["enable_request_signal"]
send_metrics = false
# The modules are ready to be uploaded, \`project.js\` among them, which holds svc.toml and svc.schema.yaml.
no_bundle = true
find_additional_modules = true
rules = [{ type = "ESModule", globs = ["**/*.js"] }]

[build]
command = "npx --no svc worker build"

# The console's page, which Cloudflare serves by itself; empty with \`[console] enabled = false\` in svc.toml. Everything else
# reaches the Worker, navigation of browsers too.
[assets]
directory = ".svc/worker/assets"
html_handling = "drop-trailing-slash"
not_found_handling = "none"

[[d1_databases]]
binding = "DB"
database_name = "${name}"
# Of \`npx wrangler d1 create ${name}\`.
database_id = "00000000-0000-0000-0000-000000000000"

# Mails that wait for another attempt, and rows that have expired.
[triggers]
crons = ["* * * * *"]
`;
