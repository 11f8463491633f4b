import { it } from "vitest";
import { run } from "../../support/people.js";
import { serve } from "../../support/server.js";
import { expectOutcomes } from "./hand-counted.js";

/**
 * What lists and aggregates cost where rules and filters lead to rows by indexes, or might: counted with pencil and paper from
 * what is documented (docs/reference/metering.md, and "Ways" in docs/reference/http.md) and the rows below. The cases are written
 * as hand-counted.ts says.
 */

/** The tables hold the same twelve papers; what differs is who may read them. */
const rules = {
  papers: "public",
  chained: "exists(teams t where t.id = row.team and exists(orgs o where o.id = t.org and o.boss = auth.id))",
  either: "row.owner = auth.id or exists(seats s where s.team = row.team and s.user = auth.id)",
  dated: "row.owner = auth.id or exists(seats s where s.team = row.team and s.user = auth.id)",
  unbanned: "row.owner = auth.id and not exists(bans b where b.team = row.team and b.user = auth.id)",
  strangers: "not exists(seats s where s.team = row.team and s.user = auth.id)",
  others: "not row.owner = auth.id",
  shown: "row.state = 'public' or row.owner = auth.id",
  bobs: "exists(seats s where s.team = row.team and s.user = 'bob')",
  ranked: "auth.role = 'admin' or row.owner = auth.id",
  opened: "auth.role = 'admin' and row.state = 'open' or row.owner = auth.id",
  mailed: "row.mail = auth.email",
  seated: "exists(seats s where s.team = 3 and s.user = auth.id) or row.owner = auth.id",
};

const byOne = "[{ columns: [team] }, { columns: [owner] }, { columns: [state] }, { columns: [mail] }]";
const byDay = "[{ columns: [team, -day] }, { columns: [owner, -day] }]";

const schema = `
orgs: { columns: { id: { type: integer, primary_key: true }, boss: { type: text } }, indexes: [{ columns: [boss] }] }
teams: { columns: { id: { type: integer, primary_key: true }, org: { type: integer } }, indexes: [{ columns: [org] }] }
seats: { primary_key: [team, user], columns: { team: { type: integer }, user: { type: text } }, indexes: [{ columns: [user] }] }
bans: { primary_key: [team, user], columns: { team: { type: integer }, user: { type: text } } }
${Object.keys(rules)
  .map(
    (table) => `${table}:
  columns:
    id: { type: integer, primary_key: true }
    team: { type: integer }
    owner: { type: text }
    state: { type: text }
    day: { type: integer, not_null: true }
    note: { type: text }
    mail: { type: text }
  indexes: ${table === "dated" ? byDay : byOne}
`,
  )
  .join("")}`;

const config = Object.entries(rules)
  .map(([table, read]) => `[rules.${table}]\nread = "${read}"\n`)
  .join("");

const rows = [
  "INSERT INTO orgs VALUES (1, 'cyd'), (2, 'dan')",
  "INSERT INTO teams VALUES (1, 1), (2, 1), (3, 2), (4, 2)",
  "INSERT INTO seats VALUES (1, 'ada'), (2, 'ada'), (2, 'bob'), (3, 'bob')",
  "INSERT INTO bans VALUES (2, 'ada'), (9, 'bob')",
  // Team 1 has three, team 2 four, team 3 three. Ada and Bob own four each, Cyd two.
  `INSERT INTO papers VALUES
    (1, 1, 'ada', 'open', 5, 'x', NULL), (2, 1, 'bob', 'done', 3, 'Ink', NULL), (3, 1, NULL, 'open', 1, 'x', 'ada@example.com'),
    (4, 2, 'ada', 'done', 4, 'x', NULL), (5, 2, 'bob', 'open', 2, 'x', NULL), (6, 2, 'cyd', 'open', 9, 'x', NULL),
    (7, 2, 'bob', 'done', 7, 'x', NULL),
    (8, 3, 'ada', 'open', 6, 'x', NULL), (9, 3, 'bob', 'done', 8, 'x', NULL), (10, 3, 'cyd', 'public', 10, 'pink', NULL),
    (11, 4, 'eve', 'public', 11, 'x', NULL),
    (12, NULL, 'ada', 'open', 12, 'x', NULL)`,
  ...Object.keys(rules)
    .slice(1)
    .map((table) => `INSERT INTO ${table} SELECT * FROM papers`),
];

const twoHops = `
cyd GET /api/chained
  200  17 0 7  her organisation and its 2 teams; the 7 papers of these, twice
cyd GET /api/chained?limit=2
  200  13 0 2  her organisation, 2 teams; 7 for total; 2 and 1 more, in the order of the key in both teams
cyd GET /api/chained?limit=2 page 2
  200  6 0 2  her organisation, 2 teams again; 2 and 1 more
cyd GET /api/chained?limit=2&total=none
  200  6 0 2  her organisation, 2 teams; 2 and 1 more: nothing is counted for total
cyd GET /api/chained?limit=2&offset=3
  200  16 0 2  her organisation, 2 teams; 7 for total; 3 passed over, 2 and 1 more
cyd GET /api/chained?sort=-id&limit=2
  200  13 0 2  her organisation, 2 teams; 7 for total; the index backwards, 2 and 1 more
cyd GET /api/chained?sort=-day&limit=2
  200  17 0 2  her organisation, 2 teams; 7 for total, 7 to sort, as no index has a team's papers by day
cyd GET /api/chained?where[team]=2
  200  ? 0 4  the request names the team, so that no way is taken: what an exists that holds another one reads is unknown
cyd GET /api/chained/1
  200  ? 0 1  a single row takes no way, and its rule is an exists that holds another one
dan GET /api/chained/1
  403  ? 0 0  the same, and the answer is no
eve GET /api/chained
  200  0 0 0  no organisation is hers, and so no team and no paper is looked at
cyd GET /api/chained/_svc/aggregate?count=*
  200  10 0 1  her organisation, 2 teams, 7 papers once
cyd GET /api/chained/_svc/aggregate?count=*&group=state
  200  10 0 2  the same; open and done are returned
`;

const ownerOrMember = `
ada GET /api/either
  200  24 0 9  her 2 seats; her own 4 and the 7 of her teams, of which 1 and 4 are both, twice
ada GET /api/either?limit=3
  200  19 0 3  2 seats; 11 for total; 1, 2, 3 and 4, of which 1 and 4 are reached both ways
ada GET /api/either?limit=3 page 2
  200  7 0 3  2 seats; 4 by both ways, 5 and 6, and 7 that tells there is more
ada GET /api/either?limit=3 page 3
  200  5 0 3  2 seats; 7, 8 and 12, the last
ada GET /api/either?limit=3&total=none
  200  8 0 3  2 seats; the same 6 as for the page of three
ada GET /api/either?limit=2&offset=3
  200  21 0 2  2 seats; 11 for total; 1, 2 and 3 passed over, 4 and 5, and 6: 1 and 4 by both ways
bob GET /api/either
  200  24 0 8  his 2 seats; his own 4, and 4 and 3 of his teams, twice: 5, 7 and 9 are both
eve GET /api/either
  200  2 0 1  no seat; her own, twice
ada GET /api/either?where[owner]=bob
  200  14 0 3  the index on owner serves the request: bob's 4, and her seat for three of them, twice
ada GET /api/either?where[owner]=ada
  200  8 0 4  the rule holds for all that are hers: 4 through the index, twice
ada GET /api/either?filter[owner][in]=ada,bob
  200  26 0 7  8 through the index and her seats for 5 of them, twice, as a list of values keeps no order
ada GET /api/either?where[state]=open
  200  20 0 6  the 6 that are open through the index, and her seats for 4 of them, twice
ada GET /api/either?filter[day][gt]=5
  200  24 0 4  no index serves the day, so that she leads to the papers: 2 seats; 11 twice
ada GET /api/either/8
  200  1 0 1  the row; she has no seat in team 3, and owns it
ada GET /api/either/1
  200  2 0 1  the row, and her seat, looked up although she owns the row
ada GET /api/either/_svc/aggregate?count=*
  200  13 0 1  2 seats, 4 of her own, 7 of her teams
ada GET /api/either/_svc/aggregate?count=*&group=owner&where[team]=2
  200  5 0 3  one seat for the request; the team's 4: ada, bob and cyd are returned
ada GET /api/either/_svc/aggregate?count=*&where[owner]=bob
  200  7 0 1  bob's 4, and her seat for three of them
ada GET /api/dated?sort=-day&limit=2
  200  16 0 2  2 seats; 11 for total; the latest of all are 12, 6 and 7, each reached one way
ada GET /api/dated?sort=-day&limit=2 page 2
  200  6 0 2  2 seats; 7, 8, and 1 that tells there is more, by both ways
ada GET /api/dated?sort=-day&limit=2 page 3
  200  7 0 2  2 seats; 1 and 4 by both ways, and 2
ada GET /api/dated?sort=day,-id&limit=2
  200  16 0 2  2 seats; 11 for total; the indexes backwards: 3, 5 and 2
ada GET /api/dated?sort=day&limit=2
  200  24 0 2  2 seats; backwards the indexes have ids descending, so that all 11 are sorted: 11 twice
ada GET /api/dated?limit=2
  200  24 0 2  2 seats; these indexes do not have the order of the key: 11 twice
`;

const nots = `
ada GET /api/unbanned
  200  10 0 3  her own 4, and the ban that is found for paper 4, twice
ada GET /api/unbanned?limit=1
  200  9 0 1  4 and a ban for total; 1, 4 with its ban, and 8, the second that she may read
ada GET /api/unbanned?filter[day][gt]=5
  200  8 0 2  her own 4, twice; bans are looked up for the 2 that are late enough, and there is none
ada GET /api/unbanned?filter[day][lt]=5
  200  10 0 0  her own 4, and the ban for the one that is early enough, twice
ada GET /api/unbanned?where[id]=4
  200  4 0 0  the row by its key and the ban, twice
bob GET /api/unbanned
  200  8 0 4  his own 4, twice; he is banned from a team that has no paper of his
ada GET /api/unbanned/4
  403  2 0 0  the row and the ban
bob GET /api/unbanned/4
  403  1 0 0  the row, which is not his; no ban of his is found
ada GET /api/unbanned/_svc/aggregate?count=*
  200  5 0 1  her own 4, and the ban
ada GET /api/strangers
  200  33 0 5  no way leads to what is not; 12 for total and a seat in teams 1 and 2, asked once for each team; 12 and 7 seats for the page
ada GET /api/strangers?limit=1
  200  30 0 1  12 and 2 seats for total; 1 to 9, as 9 is the second, and a seat for 7 of them
ada GET /api/strangers?where[owner]=bob
  200  14 0 1  bob's 4 through the index and her seat for three of them, twice
ada GET /api/others
  200  24 0 7  all 12, twice: what is not equal is no way
`;

const constantsAndRoles = `
nobody GET /api/shown
  200  4 0 2  the 2 that are public through the index, twice
eve GET /api/shown
  200  6 0 2  2 that are public and 1 of her own, which is public too, twice
ada GET /api/shown?limit=4
  200  11 0 4  2 and 4 for total; 1, 4, 8 and 10, and 11
ada GET /api/shown/_svc/aggregate?count=*&group=state
  200  6 0 3  2 that are public, 4 of her own: done, open and public are returned
ada GET /api/bobs
  200  16 0 7  bob's 2 seats; the 7 of his teams, twice
nobody GET /api/bobs?limit=2
  200  12 0 2  bob's 2 seats; 7 for total; 2 and 1 more
admin GET /api/ranked
  200  24 0 12  an administrator may read all: 12, twice
admin GET /api/ranked?limit=2
  200  15 0 2  12 for total; 2 and 1 more
ada GET /api/ranked
  200  8 0 4  her own 4 through the index, twice
admin GET /api/ranked/1
  200  1 0 1  the row
bob GET /api/ranked/1
  403  1 0 0  the row, which is not his
admin GET /api/ranked/_svc/aggregate?count=*
  200  12 0 1  all, once
admin GET /api/opened
  200  12 0 6  the 6 that are open through the index, twice; the administrator owns none
bob GET /api/opened?limit=2
  200  7 0 2  for him the state is no matter: his own 4 for total; 2 and 1 more
ada GET /api/mailed
  200  2 0 1  the one with her address through the index, twice
bob GET /api/mailed
  200  0 0 0  the index holds nothing for his address
ada GET /api/seated
  200  24 0 4  a seat in team 3 is no way to rows, and she has none: all 12, twice
bob GET /api/seated
  200  25 0 12  his seat in team 3, once; all 12, twice
`;

const filters = `
nobody GET /api/papers?total=none
  200  12 0 12  12 for the page alone
nobody GET /api/papers?total=none&limit=2
  200  3 0 2  2 and 1 more
nobody GET /api/papers?total=none&limit=2 page 3
  200  3 0 2  5 and 6, and 1 more
nobody GET /api/papers?filter[owner][not_in]=ada,bob
  200  24 0 3  all 12, twice: what is not among values is not looked up by an index; cyd's 2 and eve's
nobody GET /api/papers?filter[$not][owner][eq]=ada
  200  24 0 7  all 12, twice: the same for what is not equal; 12 without her 4 and the one of nobody
nobody GET /api/papers?filter[note][icontains]=INK
  200  36 0 2  12 to measure the text, 12 for total, 12 for the page
nobody GET /api/papers?filter[$and][0][team][eq]=2&filter[$and][1][day][gte]=4
  200  8 0 3  the team's 4 through the index, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob
  200  14 0 6  the team's 3 and bob's 4, one of which is both, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob&limit=2
  200  11 0 2  7 for total; 1, 2 by both ways, and 3
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob&limit=2 page 2
  200  3 0 2  3 and 5, and 7
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][team][in]=2,9
  200  14 0 7  3 of team 1, 4 of team 2, none of team 9, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][day][gte]=11
  200  24 0 5  no index serves the day, so that all 12 are read, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob&where[state]=open
  200  12 0 3  the equality beside it is served by an index: the 6 that are open, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob&filter[day][gte]=3
  200  14 0 4  no index serves what is beside it: 3 and 4, twice, and the day is tested
nobody QUERY /api/papers {"where":{"team":2},"limit":2}
  200  7 0 2  as by GET: the team's 4 for total; 2 and 1 more
nobody QUERY /api/papers page 2 {"where":{"team":2},"limit":2}
  200  2 0 2  the last 2 of the team
nobody POST /api/papers/_svc/query {"filter":{"$or":[{"team":{"eq":1}},{"owner":{"eq":"bob"}}]},"limit":2}
  200  11 0 2  as by GET: 7 for total; 1, 2 by both ways, and 3
ada QUERY /api/either {"limit":3}
  200  19 0 3  as by GET: 2 seats; 11 for total; 1, 2, 3 and 4, of which 1 and 4 are reached both ways
nobody QUERY /api/papers {"where":{"nowhere":1}}
  400  - - -  refused before any row is looked at
nobody GET /api/papers/_svc/aggregate?count=*&filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob
  200  7 0 1  3 of the team and bob's 4, of which one is both
nobody GET /api/papers/_svc/aggregate?count=*&group=owner&filter[$not][owner][eq]=ada
  200  12 0 3  all, once; bob, cyd and eve are returned
nobody GET /api/papers/_svc/aggregate?sum=day&filter[day][gte]=10
  200  12 0 1  all, once, as no index begins with the day
nobody GET /api/papers/_svc/aggregate?count=*&group=owner&limit=2&total=none
  200  12 0 2  all, once, whatever the page
`;

/** Under a scan limit of 5. */
const windows = `
nobody GET /api/papers?limit=2&total=none
  200  3 0 2  2 and 1 more: the window does not end here
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=cyd
  200  10 0 5  3 and 2 just fit, twice
nobody GET /api/papers?filter[$or][0][team][eq]=1&filter[$or][1][owner][eq]=bob
  200  22 0 4  the sixth tells that there are too many; by the key the window's 5 for total, 5 for the page, 6 to find its end
eve GET /api/shown
  200  6 0 2  2 and 1 fit, twice
ada GET /api/shown
  200  22 0 5  her 4 and the 2 that are public are one too many: 6; the window's 5 of these for total, 5 for the page, 6 to find its end
cyd GET /api/chained
  200  28 0 5  her organisation, 2 teams and 3 of 7 papers are one too many; the 3 again, 5 papers for total, 5 for the page; the 3 and 6 papers to find the window's end
ada GET /api/either?where[owner]=bob
  200  14 0 3  bob's 4 and her seat for three of them, twice: fewer than a window
cyd GET /api/chained/_svc/aggregate?count=*
  400  ? 0 0  the same
`;

it.each([
  ["two hops", twoHops, ""],
  ["owner or member", ownerOrMember, ""],
  ["what is not so", nots, ""],
  ["constants and roles", constantsAndRoles, ""],
  ["filters and lists as JSON", filters, ""],
  ["the scan limit", windows, "[api]\nscan_limit = 5\n"],
])("%s", async (_, cases, settings) => {
  const server = await serve({ schema, config: settings + config });
  for (const sql of rows) await run(server, sql);
  await expectOutcomes(server, cases);
});
