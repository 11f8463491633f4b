import { expect, it } from "vitest";
import { type Answer, type Client, client, dataOf, metaOf, pagesOf } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

// Questions that people ask of a shop, each as the SQL that answers it and as the requests that do.

const schema = `
customers:
  columns:
    id: { type: text, primary_key: true }
    company: { type: text, not_null: true }
    city: { type: text }
    country: { type: text }
  search: [company]
  indexes: [{ columns: [country, company] }]
employees:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true }
    reports_to: { type: integer, references: { table: employees } }
  indexes: [{ columns: [reports_to] }]
categories: { columns: { id: { type: integer, primary_key: true }, name: { type: text } } }
products:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true }
    category_id: { type: integer, references: { table: categories } }
    cents: { type: integer, not_null: true }
    discontinued: { type: boolean, not_null: true }
  indexes: [{ columns: [category_id] }, { columns: [cents] }]
orders:
  columns:
    id: { type: integer, primary_key: true }
    customer_id: { type: text, references: { table: customers } }
    employee_id: { type: integer, references: { table: employees } }
    ordered_at: { type: integer, not_null: true }
    shipped_at: { type: integer }
    freight: { type: real }
  indexes: [{ columns: [customer_id, ordered_at] }, { columns: [employee_id] }, { columns: [ordered_at] }]
order_details:
  primary_key: [order_id, product_id]
  columns:
    order_id: { type: integer, references: { table: orders } }
    product_id: { type: integer, references: { table: products } }
    quantity: { type: integer, not_null: true }
    cents: { type: integer, not_null: true }
  indexes: [{ columns: [product_id] }]
`;
const tables = ["customers", "employees", "categories", "products", "orders", "order_details"];
const config = tables.map((table) => `[rules.${table}]\nread = "public"\n`).join("");

const numbers = (to: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;
const pick = (by: string, ...values: readonly string[]) =>
  `CASE (${by}) % ${values.length} ${values.map((value, i) => `WHEN ${i} THEN ${value}`).join(" ")} END`;

const data = [
  `${numbers(24)} INSERT INTO customers SELECT printf('C%02d', i),
    ${pick("i * 7", "'Blue Harbour'", "'Old Mill'", "'Harbour Café'", "'Blue Moon Tea'", "'Tea & Toast'")} || ' ' || i,
    ${pick("i", "'Berlin'", "'London'", "'Paris'", "'Lyon'", "NULL")}, ${pick("i", "'Germany'", "'UK'", "'France'", "'France'", "NULL")} FROM n`,
  `INSERT INTO employees VALUES (1, 'Ann', NULL), (2, 'Ben', 1), (3, 'Cay', 1), (4, 'Dov', 2), (5, 'Eve', 2)`,
  `INSERT INTO categories VALUES (1, 'Drinks'), (2, 'Sweets'), (3, 'Cheese'), (4, 'Nothing yet')`,
  `${numbers(20)} INSERT INTO products SELECT i, ${pick("i * 3", "'Green Tea'", "'Chocolate'", "'Brie'", "'black tea'")} || ' ' || i, nullif(1 + i % 4, 4), 150 * (1 + i * 37 % 17), i % 6 = 0 FROM n`,
  `${numbers(90)} INSERT INTO orders SELECT i, printf('C%02d', 1 + i * 11 % 21), 1 + i * i % 5, 1700000000 + i * 7919 % 1000 * 3600, iif(i % 7 = 0, NULL, 1710000000 + i), i * 13 % 40 / 4.0 FROM n`,
  `${numbers(90)} INSERT INTO order_details SELECT i, 1 + (i * 3 + j.value * 7) % 20, 1 + (i + j.value) % 9, 150 * (1 + i % 17) FROM n, json_each('[0,1,2]') AS j WHERE j.value <= i % 3`,
];

type Row = Readonly<Record<string, unknown>>;
type Expanded = Row & { readonly _expand: Record<string, never>; readonly _count: Record<string, number> };
interface Question {
  readonly title: string;
  readonly sql: string;
  readonly ask: (list: (path: string) => Promise<readonly Expanded[]>, as: Client) => Promise<readonly unknown[][]>;
}

/** The values of some columns of each row. */
const values =
  (...columns: readonly string[]) =>
  (rows: readonly Row[]) =>
    rows.map((row) => columns.map((column) => row[column]));
const one = (row: Row, path: string) => (row._expand as Record<string, Row | null>)[path] ?? {};
const many = (row: Row, path: string) => (row._expand as Record<string, readonly Row[]>)[path]!;

const questions: readonly Question[] = [
  {
    title: "which customers are in France?",
    sql: "SELECT company, city FROM customers WHERE country = 'France' ORDER BY company",
    ask: async (list) => values("company", "city")(await list("customers?where[country]=France&sort=company")),
  },
  {
    title: "which orders are not shipped, oldest first?",
    sql: "SELECT id FROM orders WHERE shipped_at IS NULL ORDER BY ordered_at, id",
    ask: async (list) => values("id")(await list("orders?filter[shipped_at][is_null]=true&sort=ordered_at")),
  },
  {
    title: "what are the five dearest products?",
    sql: "SELECT name, cents FROM products ORDER BY cents DESC, id LIMIT 5",
    ask: async (list) => values("name", "cents")(await list("products?sort=-cents,id&limit=5&select=name,cents")),
  },
  {
    title: "which products that are still sold cost from 6 to 12?",
    sql: "SELECT id FROM products WHERE cents BETWEEN 600 AND 1200 AND NOT discontinued ORDER BY id",
    ask: async (list) =>
      values("id")(await list("products?filter[cents][gte]=600&filter[cents][lte]=1200&where[discontinued]=false")),
  },
  {
    title: "how many customers has each country?",
    sql: "SELECT country, count(*) FROM customers GROUP BY country ORDER BY count(*) DESC, country",
    ask: async (list) =>
      values("country", "count")(await list("customers/_svc/aggregate?group=country&count=*&sort=-count")),
  },
  {
    title: "how many products has each category, those without any too?",
    sql: "SELECT c.name, count(p.id) FROM categories c LEFT JOIN products p ON p.category_id = c.id GROUP BY c.id ORDER BY c.id",
    ask: async (list) => {
      const count = "expand[products.category_id][count]=true&expand[products.category_id][limit]=1";
      const rows = await list(`categories?${count}`);
      return rows.map((row) => [row.name, row._count["products.category_id"]]);
    },
  },
  {
    title: "whose are the last ten orders, and who took them?",
    sql: "SELECT o.id, c.company, e.name FROM orders o JOIN customers c ON c.id = o.customer_id JOIN employees e ON e.id = o.employee_id ORDER BY o.ordered_at DESC, o.id DESC LIMIT 10",
    ask: async (list) => {
      const rows = await list("orders?sort=-ordered_at,-id&limit=10&expand=customer_id,employee_id");
      return rows.map((row) => [row.id, one(row, "customer_id").company, one(row, "employee_id").name]);
    },
  },
  {
    title: "what is in order 8, and of which category?",
    sql: "SELECT p.name, d.quantity, k.name AS category FROM order_details d JOIN products p ON p.id = d.product_id LEFT JOIN categories k ON k.id = p.category_id WHERE d.order_id = 8 ORDER BY d.product_id",
    ask: async (list) => {
      const rows = await list("order_details?where[order_id]=8&expand=product_id,product_id.category_id");
      return rows.map((row) => [
        one(row, "product_id").name,
        row.quantity,
        one(row, "product_id.category_id").name ?? null,
      ]);
    },
  },
  {
    title: "what was each customer's last order?",
    sql: "SELECT c.id, (SELECT o.id FROM orders o WHERE o.customer_id = c.id ORDER BY o.ordered_at DESC, o.id DESC LIMIT 1) FROM customers c ORDER BY c.id",
    ask: async (list) => {
      const last = "expand[orders.customer_id][sort]=-ordered_at,-id&expand[orders.customer_id][limit]=1";
      const rows = await list(`customers?${last}`);
      return rows.map((row) => [row.id, many(row, "orders.customer_id")[0]?.id ?? null]);
    },
  },
  {
    title: "which customers have never ordered?",
    sql: "SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders) ORDER BY id",
    ask: async (list) => {
      const rows = await list("customers?expand=orders.customer_id&expand[orders.customer_id][count]=true");
      return values("id")(rows.filter((row) => row._count["orders.customer_id"] === 0));
    },
  },
  {
    title: "how much of each product was sold, and for how much?",
    sql: "SELECT product_id, sum(quantity), sum(cents) FROM order_details GROUP BY product_id ORDER BY sum(cents) DESC, product_id",
    ask: async (list) =>
      values(
        "product_id",
        "sum_quantity",
        "sum_cents",
      )(await list("order_details/_svc/aggregate?group=product_id&sum=quantity,cents&sort=-sum_cents")),
  },
  {
    title: "what does it cost on average to ship what each employee sells?",
    sql: "SELECT employee_id, avg(freight), count(*) FROM orders GROUP BY employee_id ORDER BY employee_id",
    ask: async (list) =>
      values(
        "employee_id",
        "avg_freight",
        "count",
      )(await list("orders/_svc/aggregate?group=employee_id&avg=freight&count=*")),
  },
  {
    title: "when did each customer first and last order?",
    sql: "SELECT customer_id, min(ordered_at), max(ordered_at) FROM orders GROUP BY customer_id ORDER BY customer_id",
    ask: async (list) =>
      values(
        "customer_id",
        "min_ordered_at",
        "max_ordered_at",
      )(await list("orders/_svc/aggregate?group=customer_id&min=ordered_at&max=ordered_at")),
  },
  {
    title: "to how many customers has each employee sold?",
    sql: "SELECT employee_id, count(DISTINCT customer_id) FROM orders GROUP BY employee_id ORDER BY employee_id",
    ask: async (list) =>
      values(
        "employee_id",
        "count_distinct_customer_id",
      )(await list("orders/_svc/aggregate?group=employee_id&count_distinct=customer_id")),
  },
  {
    title: "who is everybody's boss, and the boss of that one?",
    sql: "SELECT e.name, b.name AS boss, bb.name AS their_boss FROM employees e LEFT JOIN employees b ON b.id = e.reports_to LEFT JOIN employees bb ON bb.id = b.reports_to ORDER BY e.id",
    ask: async (list) => {
      const rows = await list("employees?expand=reports_to,reports_to.reports_to");
      return rows.map((row) => [
        row.name,
        one(row, "reports_to").name ?? null,
        one(row, "reports_to.reports_to").name ?? null,
      ]);
    },
  },
  {
    title: "who reports to whom?",
    sql: "SELECT b.name, e.name AS other FROM employees b JOIN employees e ON e.reports_to = b.id ORDER BY b.id, e.name DESC",
    ask: async (list) => {
      const rows = await list("employees?expand[employees.reports_to][sort]=-name");
      return rows.flatMap((row) => many(row, "employees.reports_to").map(({ name }) => [row.name, name]));
    },
  },
  {
    title: "which products have tea in their name, in any case?",
    sql: "SELECT name FROM products WHERE name LIKE '%tea%' ORDER BY name",
    ask: async (list) => values("name")(await list("products?filter[name][icontains]=TEA&sort=name")),
  },
  {
    title: "which orders went to Berlin or London?",
    sql: "SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE city IN ('Berlin', 'London')) ORDER BY id",
    ask: async (list) => {
      const found = await list("customers?filter[city][in]=Berlin,London&select=id");
      const ids = found.map(({ id }) => id).join(",");
      return values("id")(await list(`orders?filter[customer_id][in]=${ids}`));
    },
  },
  {
    title: "which orders are open, or cost at least 9 to ship and were not taken by Ann?",
    sql: "SELECT id FROM orders WHERE shipped_at IS NULL OR (freight >= 9 AND NOT employee_id = 1) ORDER BY id",
    ask: async (list) =>
      values("id")(
        await list(
          "orders?filter[$or][0][shipped_at][is_null]=true&filter[$or][1][freight][gte]=9&filter[$or][1][$not][employee_id][eq]=1",
        ),
      ),
  },
  {
    title: "which orders are of one customer, or were taken by one employee?",
    sql: "SELECT id FROM orders WHERE customer_id = 'C05' OR employee_id = 2 ORDER BY id DESC",
    ask: async (list) =>
      values("id")(await list("orders?filter[$or][0][customer_id][eq]=C05&filter[$or][1][employee_id][eq]=2&sort=-id")),
  },
  {
    title: "which customers are known not to be in France or the UK?",
    sql: "SELECT id FROM customers WHERE country NOT IN ('France', 'UK') ORDER BY id",
    ask: async (list) => values("id")(await list("customers?filter[country][not_in]=France,UK")),
  },
  {
    title: "which companies are called harbour something?",
    sql: "SELECT company FROM customers WHERE ' ' || lower(company) LIKE '% harbour%' ORDER BY company",
    ask: async (list) => values("company")(await list("customers?search=harb&sort=company")),
  },
  {
    title: "who has ordered the dearest product, and when?",
    sql: "SELECT o.id, c.company FROM order_details d JOIN orders o ON o.id = d.order_id JOIN customers c ON c.id = o.customer_id WHERE d.product_id = (SELECT id FROM products ORDER BY cents DESC, id LIMIT 1) ORDER BY o.id",
    ask: async (list) => {
      const [dearest] = await list("products?sort=-cents,id&limit=1");
      const rows = await list(
        `order_details?where[product_id]=${dearest!.id}&sort=order_id&expand=order_id,order_id.customer_id`,
      );
      return rows.map((row) => [one(row, "order_id").id, one(row, "order_id.customer_id").company]);
    },
  },
  {
    title: "what are all orders, by customer, page after page?",
    sql: "SELECT customer_id, ordered_at, id FROM orders ORDER BY customer_id, ordered_at, id",
    ask: async (_, as) => {
      const pages = await pagesOf(as, "/api/orders?sort=customer_id,ordered_at&limit=20");
      return pages.flatMap(({ data }) => values("customer_id", "ordered_at", "id")(data));
    },
  },
  {
    title: "how many orders are not shipped, and how many are there in all?",
    sql: "SELECT sum(shipped_at IS NULL), count(*) FROM orders",
    ask: async (_, as) => {
      const totalOf = async (filter: string) => metaOf(await as.get(`/api/orders?limit=1${filter}`)).total;
      return [[await totalOf("&filter[shipped_at][is_null]=true"), await totalOf("")]];
    },
  },
  {
    title: "how often has each employee sold to each customer, the best pairs first, page after page?",
    sql: "SELECT employee_id, customer_id, count(*) FROM orders GROUP BY employee_id, customer_id ORDER BY count(*) DESC, employee_id, customer_id",
    ask: async (_, as) => {
      const pairs = "/api/orders/_svc/aggregate?group=employee_id,customer_id&count=*&sort=-count&limit=20";
      return (await pagesOf(as, pairs)).flatMap(({ data }) => values("employee_id", "customer_id", "count")(data));
    },
  },
  {
    title: "what do the lines of each order come to, of those that sell five pieces or more, the dearest ten first?",
    sql: "SELECT order_id, count(*), sum(quantity), max(cents) FROM order_details WHERE quantity >= 5 GROUP BY order_id ORDER BY max(cents) DESC, order_id LIMIT 10",
    ask: async (list) =>
      values(
        "order_id",
        "count",
        "sum_quantity",
        "max_cents",
      )(
        await list(
          "order_details/_svc/aggregate?group=order_id&count=*&sum=quantity&max=cents&filter[quantity][gte]=5&sort=-max_cents&limit=10",
        ),
      ),
  },
  {
    title: "as JSON: which orders of two customers, or of one employee's dear ones, are shipped?",
    sql: "SELECT id, freight FROM orders WHERE shipped_at IS NOT NULL AND (customer_id IN ('C03', 'C07') OR (employee_id = 2 AND freight > 4)) ORDER BY freight DESC, id",
    ask: async (_, as) => {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify({
        filter: {
          shipped_at: { is_null: false },
          $or: [
            { customer_id: { in: ["C03", "C07"] } },
            { $and: [{ employee_id: { eq: 2 } }, { freight: { gt: 4 } }] },
          ],
        },
        sort: ["-freight", "id"],
        select: ["id", "freight"],
        limit: 100,
      });
      return values("id", "freight")(dataOf(await as.send("QUERY", "/api/orders", { headers, body })));
    },
  },
  {
    title: "as JSON: what has been sold that is not a tea, product by product, page after page?",
    sql: "SELECT d.product_id, d.order_id, d.quantity FROM order_details d WHERE d.product_id NOT IN (SELECT id FROM products WHERE name LIKE '%tea%') ORDER BY d.product_id, d.quantity DESC, d.order_id",
    ask: async (_, as) => {
      const query = (table: string, body: unknown) => as.post(`/api/${table}/_svc/query`, body);
      const teas = dataOf<readonly Row[]>(
        await query("products", { filter: { name: { icontains: "tea" } }, select: ["id"], limit: 100 }),
      );
      const found: unknown[][] = [];
      let next: unknown = {
        filter: { product_id: { not_in: teas.map(({ id }) => id) } },
        sort: ["product_id", "-quantity", "order_id"],
        limit: 30,
      };
      while (next !== undefined) {
        const answer: Answer = await query("order_details", next);
        found.push(...values("product_id", "order_id", "quantity")(dataOf(answer)));
        const cursor: string | undefined = metaOf(answer).next_cursor;
        next = cursor === undefined ? undefined : { cursor };
      }
      return found;
    },
  },
  {
    title: "as JSON: what were the last five orders of those in France, and which products were in them?",
    sql: "SELECT o.id, d.product_id, d.quantity FROM (SELECT * FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE country = 'France') ORDER BY ordered_at DESC, id LIMIT 5) o JOIN order_details d ON d.order_id = o.id ORDER BY o.ordered_at DESC, o.id, d.product_id",
    ask: async (list, as) => {
      const customers = await list("customers?where[country]=France&select=id");
      const answer = await as.post("/api/orders/_svc/query", {
        filter: { customer_id: { in: customers.map(({ id }) => id) } },
        sort: ["-ordered_at", "id"],
        expand: { "order_details.order_id": { sort: ["product_id"] } },
        limit: 5,
      });
      return dataOf<readonly Expanded[]>(answer).flatMap((order) =>
        many(order, "order_details.order_id").map((line) => [order.id, line.product_id, line.quantity]),
      );
    },
  },
];

it("answers them as SQL does", async () => {
  const server = await serve({ schema, config });
  for (const sql of data) await run(server, sql);
  const as = client(server, await apiKey(server, "project:backend"));
  const list = async (path: string) => {
    const isLimited = /[?&]limit=/.test(path);
    const answer = await as.get(`/api/${path}${isLimited ? "" : `${path.includes("?") ? "&" : "?"}limit=100`}`);
    const rows = dataOf<readonly Expanded[]>(answer);
    expect(metaOf(answer).rows_read).not.toBeNull();
    return rows;
  };
  for (const { title, sql, ask } of questions) {
    const expected = await rowsOf(server, sql);
    expect(expected.length, title).toBeGreaterThan(0);
    expect(await ask(list, as), title).toEqual(expected);
  }
});
