import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { schemaFile } from "../../project/file-names.js";
import { type Command, RefusedError } from "../command.js";

const init: Command = {
  name: "init",
  usage: "DIR",
  summary: "Writes a small commented project to DIR: svc.toml, svc.schema.yaml and .gitignore.",
  options: {},
  help: [
    "DIR is created if it does not exist. Nothing is overwritten.",
    "You can serve the project at once. Its secret is for development and works only on this machine.",
    "--dir BASE    the directory that DIR is relative to (default: here)",
  ],
  positionals: ["DIR"],
  run: async ({ directory, positionals }) => {
    const target = resolve(directory, positionals[0]!);
    const shown = relative(process.cwd(), target) || ".";
    const files = projectFiles(randomBytes(32).toString("base64"));
    if (existsSync(join(target, ignored))) delete files[ignored];
    const taken = Object.keys(files).filter((file) => existsSync(join(target, file)));
    if (taken.length > 0)
      throw new RefusedError(`${target} holds ${taken.join(", ")} already, and nothing is overwritten`);
    mkdirSync(target, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(target, file), text, { flag: "wx" });
    console.log(
      [
        `wrote ${Object.keys(files).join(", ")} into ${shown}`,
        "",
        `  svc serve --dir ${shown}    serves it on http://127.0.0.1:8787`,
        `  svc check --dir ${shown}    says what is wrong after a change`,
        "",
        "It prints a link that makes an administrator, who may create products. The same without a browser:",
        "",
        `  echo 'a password' | svc admin create-user --email you@example.com --role admin --password-stdin --dir ${shown}`,
      ].join("\n"),
    );
    return 0;
  },
};

/** `svc init` */
export const commands: readonly Command[] = [init];

/** Written only if there is none. An existing one belongs to the owner. */
const ignored = ".gitignore";

function projectFiles(secret: string): Record<string, string> {
  return {
    "svc.toml": `# Settings and access rules. Every key is optional; \`svc check\` reads them as \`svc serve\` does.

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
`,
    [schemaFile]: `# Tables. A change is applied when the server starts, unless it could lose something: see \`svc schema plan\`.

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
`,
    [ignored]: "# The database, mails, usage and sealed credentials of this machine.\n.svc/\n",
  };
}
