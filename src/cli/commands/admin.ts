import {
  type AdministrationPlatform,
  createServiceKey as create,
  createUser as createUserIn,
  serviceKeyOf,
} from "../../auth/accounts/administration.js";
import { userOf } from "../../auth/accounts/user-of.js";
import { emailKey } from "../../auth/email.js";
import { deleteCodes, deleteEveryCode } from "../../auth/store/oauth.js";
import {
  listServiceKeys as selectServiceKeys,
  revokeServiceKey as updateServiceKey,
} from "../../auth/store/service-keys.js";
import { revokeEverySession, revokeSessions as revokeSessionsOf } from "../../auth/store/sessions.js";
import { changeUser, listUsers as selectUsers, userByEmail } from "../../auth/store/users.js";
import type { Refusal } from "../../http/refusal.js";
import { createArgon2 } from "../../node/passwords/argon2.js";
import { readProject } from "../../node/project-directory.js";
import { systemClock, systemRandom } from "../../node/system.js";
import type { Database } from "../../platform/database.js";
import { ask, followedBy, type Query, run } from "../../platform/query.js";
import type { Config } from "../../project/config.js";
import type { ApiKey } from "../../wire/keys.js";
import type { User } from "../../wire/users.js";
import { type Command, type Invocation, RefusedError, UsageError, unlessRefused } from "../command.js";
import { withSystemTables } from "../local-database.js";
import {
  type RemoteServer,
  remoteHelp,
  remoteOptions,
  remoteServer,
  signInHelp,
  signInOptions,
} from "../remote-server.js";
import { readSecretLine } from "../standard-input.js";

/**
 * The `created_by` of users and API keys that a command creates in the local database, and of users whom it makes
 * administrators there.
 */
const createdBy = "cli";

const createUser: Command = {
  name: "admin create-user",
  usage: "--email E [--role admin] --password-stdin [--url URL --key-stdin]",
  summary: "Creates a user. The password is read from standard input, after the key if there is one.",
  options: {
    ...remoteOptions,
    email: { type: "string" },
    role: { type: "string" },
    "password-stdin": { type: "boolean" },
  },
  help: [
    "--email E         the address of the user",
    "--role R          user (default) or admin; a key cannot create an admin",
    "--password-stdin  required",
    ...remoteHelp,
  ],
  positionals: [],
  run: async (invocation) => {
    const email = required(invocation, "email");
    const role = invocation.text("role") ?? "user";
    if (!invocation.flag("password-stdin")) throw new UsageError("expected --password-stdin");
    const server = await remoteByKey(invocation);
    if (server !== null) {
      const [password = ""] = server.moreLines;
      const made = await server.call("POST", "/admin/api/users", { json: { email, role, password } });
      console.log((made as { user: { id: string } }).user.id);
      return 0;
    }
    const password = await readSecretLine();
    const created = await administer(invocation, (platform, config) =>
      createUserIn(platform, {
        email,
        role,
        password,
        passwordLengthMin: config.auth.password_min_length,
        createdBy,
      }),
    );
    console.log(created.id);
    return 0;
  },
};

const setUser: Command = {
  name: "admin set-user",
  usage: "--email E [--disabled true|false] [--role R] [--url URL --key-stdin]",
  summary: "Disables, enables, promotes or demotes a user. Disabling ends every session.",
  options: {
    ...remoteOptions,
    email: { type: "string" },
    disabled: { type: "string" },
    role: { type: "string" },
  },
  help: [
    "--email E            the address of the user",
    "--disabled BOOLEAN   true or false",
    "--role R             user or admin; a key cannot make a user an admin",
    ...remoteHelp,
  ],
  positionals: [],
  run: async (invocation) => {
    const email = required(invocation, "email");
    const change = userChange(invocation);
    const server = await remoteByKey(invocation);
    const user =
      server === null ? await changeLocally(invocation, email, change) : await changeRemotely(server, email, change);
    console.log(userLine(user));
    return 0;
  },
};

interface ChangedFields {
  readonly disabled: boolean | null;
  readonly role: "user" | "admin" | null;
}

function userChange(invocation: Invocation): ChangedFields {
  const disabled = invocation.text("disabled") ?? null;
  const role = invocation.text("role") ?? null;
  if (disabled === null && role === null) throw new UsageError("expected --disabled or --role");
  if (disabled !== null && disabled !== "true" && disabled !== "false")
    throw new UsageError("--disabled: expected true or false");
  if (role !== null && role !== "user" && role !== "admin") throw new UsageError("--role: expected user or admin");
  return { disabled: disabled === null ? null : disabled === "true", role };
}

async function changeLocally(invocation: Invocation, email: string, change: ChangedFields): Promise<User> {
  return locally(invocation, async (database) => {
    const id = await localIdOf(database, email);
    const user = await run(database, changeUser({ id, ...change, by: createdBy, now: systemClock.now() }));
    if (user === null) throw new RefusedError(`${email} is the last enabled admin: make another one first`);
    return userOf(user);
  });
}

async function localIdOf(database: Database, email: string): Promise<string> {
  const user = await ask(database, userByEmail(emailKey(email)));
  if (user === null) throw noSuchUser(email);
  return user.id;
}

async function changeRemotely(server: RemoteServer, email: string, change: ChangedFields): Promise<User> {
  const path = await remotePathOf(server, email);
  const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
  const changed = await server.call("PATCH", path, { json: fields });
  return (changed as { user: User }).user;
}

/**
 * The path under `/admin/api` of the running server's user with an email address. Throws RefusedError if there is no
 * such user.
 */
async function remotePathOf(server: RemoteServer, email: string): Promise<string> {
  const found = await server.call("GET", `/admin/api/users?where[email]=${encodeURIComponent(email)}`);
  const [user] = found as User[];
  if (user === undefined) throw noSuchUser(email);
  return `/admin/api/users/${encodeURIComponent(String(user.id))}`;
}

function noSuchUser(email: string): RefusedError {
  return new RefusedError(`there is no user ${email}`);
}

const revokeSessions: Command = {
  name: "admin revoke-sessions",
  usage: "(--email E | --all) [--url URL --key-stdin]",
  summary: "Ends every session of a user or of all users, from the server's next request on.",
  options: { ...remoteOptions, email: { type: "string" }, all: { type: "boolean" } },
  help: [
    "--email E        the sessions of the user with this address",
    "--all            the sessions of all users",
    ...remoteHelp,
  ],
  positionals: [],
  run: async (invocation) => {
    const email = invocation.text("email") ?? null;
    if ((email === null) !== invocation.flag("all")) throw new UsageError("expected --email E or --all");
    const server = await remoteByKey(invocation);
    const count = server === null ? await revokeHere(invocation, email) : await revokeRemotely(server, email);
    console.log(`ended ${count} ${count === 1 ? "session" : "sessions"}`);
    return 0;
  },
};

/**
 * Ends the sessions of the user with this email address in the local database, or everybody's if it is null. Returns
 * how many it ended. Throws RefusedError if there is no such user.
 */
function revokeHere(invocation: Invocation, email: string | null): Promise<number> {
  return locally(invocation, async (database) => {
    const now = systemClock.now();
    if (email === null) return run(database, followedBy(revokeEverySession(now), deleteEveryCode()));
    const id = await localIdOf(database, email);
    return run(database, followedBy(revokeSessionsOf(id, now), deleteCodes(id)));
  });
}

async function revokeRemotely(server: RemoteServer, email: string | null): Promise<number> {
  const path = email === null ? "/admin/api" : await remotePathOf(server, email);
  const { revoked_sessions: count } = (await server.call("POST", `${path}/revoke-sessions`, {
    json: {},
  })) as {
    revoked_sessions: number;
  };
  return count;
}

const listUsers: Command = {
  name: "admin list-users",
  usage: "[--json] [--url URL --key-stdin]",
  summary: "Lists users.",
  options: signInOptions,
  help: ["--json           as JSON", ...signInHelp],
  positionals: [],
  run: async (invocation) => {
    const server = await remoteServer(invocation);
    const users =
      server === null
        ? (await read(invocation, selectUsers())).map((user) => ({
            ...userOf(user),
            created_by: user.createdBy,
          }))
        : ((await server.list("/admin/api/users", "sort=created_at")) as User[]);
    print(invocation, users, userLine);
    return 0;
  },
};

function userLine(user: User): string {
  return [user.id, user.role, user.disabled ? "disabled" : "enabled", user.created_at, user.email].join("  ");
}

const createServiceKey: Command = {
  name: "admin create-service-key",
  usage: "--name N --scope S [--scope S]… [--expires-at ISO] [--url URL --email E --password-stdin]",
  summary: "Creates an API key. The secret is printed once, on the last line.",
  options: {
    ...signInOptions,
    name: { type: "string" },
    scope: { type: "string", multiple: true },
    "expires-at": { type: "string" },
  },
  help: [
    "--name N          a name that says what the key is for",
    "--scope S         resource:<table>:read, resource:<table>:write, operation:<name> or project:backend; may be repeated",
    "--expires-at ISO  when the key expires (default: never)",
    ...signInHelp,
    "A key cannot create keys: on a running server, sign in as an admin.",
  ],
  positionals: [],
  run: async (invocation) => {
    const name = required(invocation, "name");
    const scopes = invocation.texts("scope");
    if (scopes.length === 0) throw new UsageError("expected --scope S");
    const expiresAt = invocation.text("expires-at") ?? null;
    const server = await remoteServer(invocation);
    if (server !== null) {
      const json = { name, scopes, expires_at: expiresAt };
      const made = await server.call("POST", "/admin/api/service-keys", { json });
      const { id, key } = made as { id: string; key: string };
      printKey(id, key);
      return 0;
    }
    const key = await administer(invocation, (platform) => create(platform, { name, scopes, expiresAt, createdBy }));
    for (const warning of key.warnings) console.error(`warning: ${warning}`);
    printKey(key.id, key.secret);
    return 0;
  },
};

function printKey(id: string, secret: string): void {
  console.log(`key ${id}, shown once:`);
  console.log(secret);
}

const listServiceKeys: Command = {
  name: "admin list-service-keys",
  usage: "[--json] [--url URL --key-stdin]",
  summary: "Lists API keys, without their secrets.",
  options: signInOptions,
  help: ["--json           as JSON", ...signInHelp],
  positionals: [],
  run: async (invocation) => {
    const server = await remoteServer(invocation);
    const keys =
      server === null
        ? (await read(invocation, selectServiceKeys())).map(serviceKeyOf)
        : ((await server.list("/admin/api/service-keys")) as ApiKey[]);
    const state = (key: ApiKey) =>
      key.revoked_at !== null ? `revoked ${key.revoked_at}` : `expires ${key.expires_at ?? "never"}`;
    print(invocation, keys, (key) => [key.id, state(key), key.scopes.join(","), key.name].join("  "));
    return 0;
  },
};

const revokeServiceKey: Command = {
  name: "admin revoke-service-key",
  usage: "ID [--url URL --key-stdin]",
  summary: "Revokes an API key, from the server's next request on.",
  options: signInOptions,
  help: [...signInHelp],
  positionals: ["ID"],
  run: async (invocation) => {
    const [id] = invocation.positionals;
    const server = await remoteServer(invocation);
    if (server !== null) await server.call("DELETE", `/admin/api/service-keys/${encodeURIComponent(id!)}`);
    else await revokeLocally(invocation, id!);
    console.log(`revoked ${id}`);
    return 0;
  },
};

async function revokeLocally(invocation: Invocation, id: string): Promise<void> {
  const isRevoked = await locally(invocation, (database) => run(database, updateServiceKey(id, systemClock.now())));
  if (!isRevoked) throw new RefusedError(`there is no such key that is not revoked already: ${id}`);
}

/**
 * Signs in with an API key to the server that `--url` names; null without `--url`. An administrator cannot sign in with
 * a password here, because `--email` names the user whom the command is about.
 */
async function remoteByKey(invocation: Invocation): Promise<RemoteServer | null> {
  if (invocation.text("url") !== undefined && !invocation.flag("key-stdin"))
    throw new UsageError("--url needs --key-stdin");
  return remoteServer(invocation);
}

function required(invocation: Invocation, option: string): string {
  const value = invocation.text(option);
  if (value === undefined || value === "") throw new UsageError(`expected --${option}`);
  return value;
}

function locally<T>(invocation: Invocation, act: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const project = readProject(invocation.directory);
  return withSystemTables(project, (database) => act(database, project.config));
}

async function administer<T extends object>(
  invocation: Invocation,
  act: (platform: AdministrationPlatform, config: Config) => Promise<T | Refusal>,
): Promise<T> {
  const passwordHasher = createArgon2();
  try {
    const outcome = await locally(invocation, (database, config) =>
      act({ database, passwordHasher, clock: systemClock, random: systemRandom }, config),
    );
    return unlessRefused(outcome);
  } finally {
    await passwordHasher.close();
  }
}

function read<T>(invocation: Invocation, query: Query<T>): Promise<T> {
  return locally(invocation, (database) => ask(database, query));
}

function print<T>(invocation: Invocation, items: readonly T[], line: (item: T) => string): void {
  if (invocation.json) console.log(JSON.stringify(items, null, 2));
  else for (const item of items) console.log(line(item));
}

/** `svc admin` */
export const commands: readonly Command[] = [
  createUser,
  listUsers,
  setUser,
  revokeSessions,
  createServiceKey,
  listServiceKeys,
  revokeServiceKey,
];
