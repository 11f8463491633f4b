import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiKey, post, serve, signUp } from "../support/server.js";

test("smoke", async () => {
  const server = await serve({
    schema: readFileSync("svc.schema.yaml", "utf8"),
    config: readFileSync("svc.toml", "utf8"),
  });
  const ada = await signUp(server, "ada@example.com");
  const room = await post(server, "/api/rooms", { owner_id: ada.id, name: "lobby" }, ada.bearer);
  expect(room.status).toBe(201);
  expect(
    (await server.request("/api/rooms", { headers: await apiKey(server, "resource:rooms:read") })).status,
  ).toBe(200);
});
