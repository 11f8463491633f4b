import {
  type AdministrationPlatform,
  createServiceKey as create,
  createUser as createUserIn,
  serviceKeyOf,
} from "../../auth/administration.js";
import { userOf } from "../../auth/routes/me.js";
import {
  listServiceKeys as selectServiceKeys,
  revokeServiceKey as updateServiceKey,
} from "../../auth/store/service-keys.js";
import { listUsers as selectUsers } from "../../auth/store/users.js";
import { isRefusal } from "../../http/refusal.js";
import { createArgon2 } from "../../node/argon2.js";
import { readProject } from "../../node/project-directory.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Statement } from "../../platform/database.js";
import type { Config } from "../../project/config.js";
import { createSystemTables } from "../../schema/apply.js";
import { type Command, type Invocation, RefusedError, UsageError } from "../command.js";
import { withDatabase } from "../local-database.js";
import { readSecretLine } from "../standard-input.js";

export const createUser: Command = {
  name: "admin create-user",
  usage: "--email E [--role admin] --password-stdin",
  summary: "Creates a user; the password comes in on standard input.",
  options: { email: { type: "string" }, role: { type: "string" }, "password-stdin": { type: "boolean" } },
  help: [
    "--email E         the address",
    "--role R          user (default) or admin",
    "--password-stdin  required",
  ],
  positionals: [],
  run: async (invocation) => {
    const email = required(invocation, "email");
    if (!invocation.flag("password-stdin")) throw new UsageError("expected --password-stdin");
    const password = await readSecretLine();
    const created = await administer(invocation, (platform, config) =>
      createUserIn(platform, {
        email,
        role: invocation.text("role") ?? "user",
        password,
        passwordLengthMin: config.auth.password_min_length,
      }),
    );
    console.log(created.id);
    return 0;
  },
};

export const listUsers: Command = {
  name: "admin list-users",
  usage: "[--json]",
  summary: "Lists users.",
  options: {},
  help: ["--json  as JSON"],
  positionals: [],
  run: async (invocation) => {
    const users = (await rows(invocation, selectUsers())).map(userOf);
    const line = (user: (typeof users)[number]) =>
      [user.id, user.role, user.disabled ? "disabled" : "enabled", user.created_at, user.email].join("  ");
    print(invocation, users, line);
    return 0;
  },
};

export const createServiceKey: Command = {
  name: "admin create-service-key",
  usage: "--name N --scope S… [--expires-at ISO]",
  summary: "Creates an API key. The secret is printed once, alone on the last line.",
  options: {
    name: { type: "string" },
    scope: { type: "string", multiple: true },
    "expires-at": { type: "string" },
  },
  help: [
    "--name N          what it is for",
    "--scope S         resource:<table>:read, resource:<table>:write or project:backend; may be repeated",
    "--expires-at ISO  when it ends (default: never)",
  ],
  positionals: [],
  run: async (invocation) => {
    const name = required(invocation, "name");
    const scopes = invocation.texts("scope");
    if (scopes.length === 0) throw new UsageError("expected --scope S");
    const expiresAt = invocation.text("expires-at") ?? null;
    const key = await administer(invocation, (platform) => create(platform, { name, scopes, expiresAt }));
    for (const warning of key.warnings) console.error(`warning: ${warning}`);
    console.log(`key ${key.id}, shown once:`);
    console.log(key.secret);
    return 0;
  },
};

export const listServiceKeys: Command = {
  name: "admin list-service-keys",
  usage: "[--json]",
  summary: "Lists API keys, without their secrets.",
  options: {},
  help: ["--json  as JSON"],
  positionals: [],
  run: async (invocation) => {
    const keys = (await rows(invocation, selectServiceKeys())).map(serviceKeyOf);
    const state = (key: (typeof keys)[number]) =>
      key.revoked_at !== null ? `revoked ${key.revoked_at}` : `expires ${key.expires_at ?? "never"}`;
    print(invocation, keys, (key) => [key.id, state(key), key.scopes.join(","), key.name].join("  "));
    return 0;
  },
};

export const revokeServiceKey: Command = {
  name: "admin revoke-service-key",
  usage: "ID",
  summary: "Revokes an API key, from the server's next request on.",
  options: {},
  help: [],
  positionals: ["ID"],
  run: async (invocation) => {
    const [id] = invocation.positionals;
    const project = readProject(invocation.directory);
    const [result] = await withDatabase(project, async (database) => {
      await createSystemTables(database);
      return database.batch([updateServiceKey(id!, systemClock.now())]);
    });
    if (result!.rows.length === 0)
      throw new RefusedError(`there is no such key that is not revoked already: ${id}`);
    console.log(`revoked ${id}`);
    return 0;
  },
};

function required(invocation: Invocation, option: string): string {
  const value = invocation.text(option);
  if (value === undefined || value === "") throw new UsageError(`expected --${option}`);
  return value;
}

async function administer<T extends object>(
  invocation: Invocation,
  act: (platform: AdministrationPlatform, config: Config) => Promise<T>,
): Promise<Exclude<T, { toResponse: unknown }>> {
  const project = readProject(invocation.directory);
  const passwordHasher = createArgon2();
  try {
    const outcome = await withDatabase(project, async (database) => {
      await createSystemTables(database);
      return act({ database, passwordHasher, clock: systemClock, random: systemRandom }, project.config);
    });
    if (isRefusal(outcome)) throw new RefusedError(outcome.message);
    return outcome as Exclude<T, { toResponse: unknown }>;
  } finally {
    await passwordHasher.close();
  }
}

async function rows(invocation: Invocation, statement: Statement) {
  const [result] = await withDatabase(readProject(invocation.directory), async (database) => {
    await createSystemTables(database);
    return database.query([statement]);
  });
  return result!.rows;
}

function print<T>(invocation: Invocation, items: readonly T[], line: (item: T) => string): void {
  if (invocation.json) console.log(JSON.stringify(items, null, 2));
  else for (const item of items) console.log(line(item));
}
