import { expect, it } from "vitest";
import { parameterNames } from "../../../src/assemble/endpoints.js";

const columns = new Map([
  ["id", null],
  ["title", null],
]);

it.each([
  "limit",
  "expand",
  "search",
  "title",
  "where[id]",
  "filter[title]",
  "filter[title][icontains]",
  "filter[title][not_in]",
  "at",
  "filter[$or][0][$not][$and][12][id][gt]",
])("%s is shown", (name) => {
  expect(parameterNames(`/?${encodeURIComponent(name)}=1`, columns)).toEqual([name]);
});

it.each([
  ["expand[comments.task_id][sort]", "expand[?][sort]"],
  ["expand[a secret][limit]", "expand[?][limit]"],
  ["expand[a][a secret]", "?"],
  ["expand[a]", "?"],
  ["where[secret]", "?"],
  ["filter[id][secret]", "?"],
  ["filter[id][eq][12]", "?"],
  ["filter[12][34][56]", "?"],
  ["filter[$or][123][id][eq]", "?"],
  ["filter[$or]", "?"],
  ["filter[id", "?"],
  ["limit[id]", "?"],
  ["", "?"],
])("%j is %s", (name, expected) => {
  expect(parameterNames(`/?${encodeURIComponent(name)}=1`, columns)).toEqual([expected]);
});
