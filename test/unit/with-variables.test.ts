// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what svc.toml holds
import { expect, test } from "vitest";
import { parseConfig } from "../../src/project/parse-config.js";

const read = (text: string, environment: Readonly<Record<string, string>>) => parseConfig(text, { environment });

test("variables complete texts, once, with defaults for what is unset or empty", () => {
  const text = `
[auth]
public_base_url = "https://\${HOST_NAME}"
jwt_secret_env = "\${PREFIX:-MY}_SECRET"
[cors]
allowed_origins = ["\${APP:-https://app.example.com}", "https://\${HOST_NAME}"]
[mail]
from = "\${FROM}"
log_dir = "\${EMPTY}mails"
[conditions]
"odd(x)" = "x = '\${NOT_READ}'"
[rules.notes]
read = "row.body = '\${NOT_READ:-x}'"
`;
  const { config, problems } = read(text, {
    HOST_NAME: "api.example.com",
    PREFIX: "",
    FROM: "${HOST_NAME}",
    EMPTY: "",
  });
  expect(problems).toEqual([]);
  expect(config).toMatchObject({
    auth: { public_base_url: "https://api.example.com", jwt_secret_env: "MY_SECRET" },
    cors: { allowed_origins: ["https://app.example.com", "https://api.example.com"] },
    mail: { from: "${HOST_NAME}", log_dir: "mails" },
  });
  expect(config!.conditions.get("odd(x)")).toBe("x = '${NOT_READ}'");
  expect(config!.rules.get("notes")!.read).toBe("row.body = '${NOT_READ:-x}'");
});

test("all that are missing, and what is no variable, are problems at once, and nothing else is said of their texts", () => {
  const text = `
[auth]
public_base_url = "\${BASE}"
[cors]
allowed_origins = ["https://a.example", "\${ORIGIN}"]
[log]
format = "\${FORMAT}"
[mail]
from = "\${not-a-name}"
log_dir = "\${OPEN"
`;
  const { config, problems } = read(text, {});
  expect(config).toBeNull();
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    "auth.public_base_url: the environment variable BASE is not set",
    "cors.allowed_origins.1: the environment variable ORIGIN is not set",
    "log.format: the environment variable FORMAT is not set",
    "mail.from: expected ${NAME} or ${NAME:-default}, got ${not-a-name}",
    "mail.log_dir: expected ${NAME} or ${NAME:-default}, got ${OPEN",
  ]);
});

test("no message shows what a variable holds, and nothing but the environment is looked into", () => {
  const text = `[server]
port = "\${TOKEN}"
[database]
url = "libsql://\${TOKEN}@"
[log]
format = "x\${LONG}"
[mail]
from = "\${toString}"
`;
  const secret = { TOKEN: "hunter2-secret", LONG: "s".repeat(300) };
  const { problems } = read(text, secret);
  const said = problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
  expect(said).not.toMatch(/hunter2|ssss/);
  expect(said).toContain('server.port: expected number, got "${TOKEN}"');
  expect(said).toContain("mail.from: the environment variable toString is not set");
  expect(problems).toHaveLength(3);
});

test("what a variable holds is judged as if it were written there", () => {
  const { problems } = read('[log]\nformat = "${FORMAT}"', { FORMAT: "xml" });
  expect(problems).toMatchObject([{ path: "log.format", message: expect.stringContaining('got "${FORMAT}"') }]);
});
