import { readFile } from "node:fs/promises";
import { isAppleKey } from "../../auth/oauth/apple.js";
import {
  appleCredentials,
  credentialProblems,
  isOAuthProvider,
  type OAuthProvider,
  oauthProviders,
  openCredentials,
  parseCredentials,
  sealCredentials,
} from "../../auth/oauth/credentials.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { credentialFiles } from "../../node/provider-credentials.js";
import { systemRandom } from "../../node/system.js";
import { CredentialsError } from "../../platform/platform.js";
import { providerCredentials } from "../../platform/provider-credentials.js";
import { type Problem, ProblemsError } from "../../problems/problem.js";
import { readSecretsKey } from "../../project/environment.js";
import { parseSchema } from "../../project/parse-schema.js";
import { type Command, type Invocation, RefusedError, UsageError } from "../command.js";
import { projectIdOf } from "../local-database.js";

/**
 * Stores the credentials of a sign-in provider in the project's directory, sealed under a key that only the environment
 * holds (`docs/guides/sign-in-providers.md`).
 */
const setAuthProvider: Command = {
  name: "auth provider set",
  usage: "NAME --credentials FILE",
  summary: "Installs the credentials of a sign-in provider, sealed under SVC_PLATFORM_SECRETS_KEY.",
  options: { credentials: { type: "string" } },
  help: [
    "NAME                google, apple or github",
    "--credentials FILE  JSON with client_id and client_secret; for apple client_id, team_id, key_id, private_key_p8",
  ],
  positionals: ["NAME"],
  run: async (invocation) => {
    const provider = providerOf(invocation);
    const project = readProject(invocation.directory);
    const key = requiredKey(invocation);
    const text = await readCredentials(invocation, provider);
    const projectId = await projectIdOf(project);
    const sealed = await sealCredentials(text, { key, projectId, provider }, systemRandom.bytes(12));
    await credentialFiles(project.directory).write(provider, sealed);
    console.log(`installed ${provider}`);
    if (!declaredIn(project).includes(provider))
      console.error(`warning: ${provider} is not declared in $auth.providers yet`);
    return 0;
  },
};

const listAuthProviders: Command = {
  name: "auth provider list",
  usage: "[--json]",
  summary: "Lists the sign-in providers, and says which are declared and which have credentials.",
  options: {},
  help: ["--json  as JSON", "", "With SVC_PLATFORM_SECRETS_KEY, credentials that do not open under it count as none."],
  positionals: [],
  run: async (invocation) => {
    const project = readProject(invocation.directory);
    const declared = declaredIn(project);
    const installed = await usableCredentials(invocation, project);
    const providers = oauthProviders.map((provider) => ({
      provider,
      declared: declared.includes(provider),
      installed: installed.includes(provider),
    }));
    if (invocation.json) console.log(JSON.stringify(providers, null, 2));
    else for (const provider of providers) console.log(lineOf(provider));
    return 0;
  },
};

/**
 * The sign-in providers with credentials. If the key is set, those whose credentials do not open under it are left out,
 * with a warning.
 */
async function usableCredentials({ environment }: Invocation, project: ProjectDirectory): Promise<readonly string[]> {
  const files = credentialFiles(project.directory);
  const installed = await files.list();
  const key = readSecretsKey(environment);
  if (key === null || installed.length === 0) return installed;
  const projectId = await projectIdOf(project);
  const credentialsOf = providerCredentials(files.read, (sealed, provider) =>
    openCredentials(sealed, { key, projectId, provider }),
  );
  const usable: string[] = [];
  for (const provider of installed)
    try {
      if ((await credentialsOf(provider)) !== null) usable.push(provider);
    } catch (error) {
      if (!(error instanceof CredentialsError)) throw error;
      console.error(`warning: ${error.message}`);
    }
  return usable;
}

function lineOf(state: { provider: string; declared: boolean; installed: boolean }): string {
  return [
    state.provider.padEnd(6),
    state.declared ? "declared" : "not declared",
    state.installed ? "has credentials" : "no credentials",
  ].join("  ");
}

const removeAuthProvider: Command = {
  name: "auth provider remove",
  usage: "NAME",
  summary: "Removes the credentials of a sign-in provider, from the server's next request on.",
  options: {},
  help: [],
  positionals: ["NAME"],
  run: async (invocation) => {
    const provider = providerOf(invocation);
    const { directory } = readProject(invocation.directory);
    if (!(await credentialFiles(directory).remove(provider))) throw noCredentials(provider);
    console.log(`removed ${provider}`);
    return 0;
  },
};

const sealedAuthProvider: Command = {
  name: "auth provider sealed",
  usage: "NAME",
  summary: "Prints the sealed credentials of a sign-in provider.",
  options: {},
  help: [],
  positionals: ["NAME"],
  run: async (invocation) => {
    const provider = providerOf(invocation);
    const { directory } = readProject(invocation.directory);
    const sealed = await credentialFiles(directory).read(provider);
    if (sealed === null) throw noCredentials(provider);
    console.log(sealed.trim());
    return 0;
  },
};

function noCredentials(provider: OAuthProvider): RefusedError {
  return new RefusedError(`there are no credentials of ${provider}`);
}

function providerOf({ positionals: [name] }: Invocation): OAuthProvider {
  if (isOAuthProvider(name)) return name;
  throw new UsageError(`NAME is one of ${oauthProviders.join(", ")}`);
}

function requiredKey({ environment }: Invocation): Uint8Array<ArrayBuffer> {
  const key = readSecretsKey(environment);
  if (key !== null) return key;
  const message = "not set: 32 bytes in base64, kept apart from the project's other secrets";
  throw new ProblemsError([{ file: "environment", path: "SVC_PLATFORM_SECRETS_KEY", message }]);
}

/**
 * Reads and checks the file of credentials, and returns its text. Throws ProblemsError with everything that is wrong in
 * the file, and UsageError if it cannot be read.
 */
async function readCredentials(invocation: Invocation, provider: OAuthProvider): Promise<string> {
  const file = invocation.text("credentials");
  if (file === undefined || file === "") throw new UsageError("expected --credentials FILE");
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code})`);
  });
  const problems = credentialProblems(provider, text, file);
  const found = problems.length > 0 ? problems : await keyProblems(provider, text, file);
  if (found.length > 0) throw new ProblemsError(found);
  return text;
}

async function keyProblems(provider: OAuthProvider, text: string, file: string): Promise<readonly Problem[]> {
  if (provider !== "apple") return [];
  const { private_key_p8: pem } = parseCredentials("apple", appleCredentials, text);
  if (await isAppleKey(pem)) return [];
  return [{ file, path: "private_key_p8", message: "not a private key for ES256 (P-256)" }];
}

/** The sign-in providers of svc.schema.yaml, which may be newer than the schema in force. */
function declaredIn({ schemaText }: ProjectDirectory): readonly OAuthProvider[] {
  return parseSchema(schemaText).schema?.auth.providers ?? [];
}

/** `svc auth provider` */
export const commands: readonly Command[] = [
  setAuthProvider,
  listAuthProviders,
  removeAuthProvider,
  sealedAuthProvider,
];
