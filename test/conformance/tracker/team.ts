import { expect } from "vitest";
import { projectUnder } from "../../docs/pages.js";
import { type Answer, type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";

/** The schema and the rules of the page, which are what these tests serve. */
export const project = projectUnder("docs/guides/team-tracker.md", "The project");

export type Row = Readonly<Record<string, unknown>>;

/**
 * Ada's team of roofers, with Mia as its manager, Cleo as a member, the project `house` and its task `roof`; and Ben's team of sailors, with
 * the project `boat` and the task `mast`. Eve has an account and is in no team.
 */
export interface World {
  readonly server: TestServer;
  readonly ada: Client;
  readonly mia: Client;
  readonly cleo: Client;
  readonly ben: Client;
  readonly eve: Client;
}

/** Opens a team with its first membership and a project with one task: one request. */
export const opening = (owner: string, team: string, projectId: string, task: string) => ({
  operations: [
    { op: "create", table: "teams", values: { id: team, name: team } },
    {
      op: "create",
      table: "memberships",
      values: { team_id: { $ref: "0.id" }, user_id: owner, role: "owner" },
    },
    {
      op: "create",
      table: "projects",
      values: { id: projectId, team_id: { $ref: "0.id" }, name: projectId },
    },
    {
      op: "create",
      table: "tasks",
      values: { id: task, project_id: { $ref: "2.id" }, title: `the ${task}`, body: "secret plans" },
    },
  ],
});

export async function world(): Promise<World> {
  const server = await serve(project);
  const [ada, mia, cleo, ben, eve] = await Promise.all(
    ["ada", "mia", "cleo", "ben", "eve"].map(async (id) => {
      const person = client(server, (await member(server, id)).bearer);
      dataOf(await person.post("/api/profiles", { id, name: `${id}'s name` }));
      return person;
    }),
  );
  dataOf(await batch(ada!, opening("ada", "roofers", "house", "roof")));
  dataOf(await batch(ben!, opening("ben", "sailors", "boat", "mast")));
  dataOf(await ada!.post("/api/memberships", [joined("mia", "manager"), joined("cleo", "member")]));
  return { server, ada: ada!, mia: mia!, cleo: cleo!, ben: ben!, eve: eve! };
}

export const batch = (by: Client, body: object) => by.post("/api/_svc/batch", body);

/** A membership of Ada's team. */
export const joined = (user: string, role: string) => ({ team_id: "roofers", user_id: user, role });

/** The path of a membership of Ada's team. */
export const membership = (user: string) => `/api/memberships/_svc/key?team_id=roofers&user_id=${user}`;

/** The rules have refused the request. */
export async function forbidden(answer: Promise<Answer>): Promise<void> {
  expectRefusal(await answer, 403, "forbidden");
}

/** A trigger has refused the request, in its own words. */
export async function refusedByTrigger(answer: Promise<Answer>, words: string): Promise<void> {
  expect(expectRefusal(await answer, 400, "bad_request")).toBe(words);
}

/** The row that the answer holds. */
export async function row(answer: Promise<Answer>): Promise<Row> {
  return dataOf(await answer);
}

/** The rows that the answer holds. */
export async function rows(answer: Promise<Answer>): Promise<readonly Row[]> {
  return dataOf(await answer);
}
