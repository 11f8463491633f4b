-- GET /api/tags/_svc/aggregate?count=* → 200
WITH _g AS MATERIALIZED (SELECT 1 AS _ok, count(*) AS _n, 0 AS _probed, count(*) AS "_a0"
  FROM (SELECT 1
    FROM "tags" AS _t NOT INDEXED
    WHERE 1
    LIMIT 100001) AS _w), _page AS MATERIALIZED (SELECT *
  FROM _g
  WHERE _ok
  LIMIT ? + 1)
SELECT _size.found AS found, CASE WHEN _size.bytes <= 33554432 THEN (SELECT json_group_array(json_array(_page."_a0"))
  FROM _page) END AS rows, CASE WHEN _size.found > ? THEN (SELECT json_array()
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0))
  FROM _g) AS examined, (SELECT count(*)
  FROM _g
  WHERE _ok) AS total, '[]' AS misfits, 0 AS links, 0 AS gate_visits, NULL AS searched
FROM (SELECT sum(0) AS bytes, count(*) AS found
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _g
--         CO-ROUTINE _w
--           SCAN _t
--         SCAN _w
--       SCAN _g
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 4
--     SCAN _page
--   SCALAR SUBQUERY 5
--     SCAN _page
--   SCALAR SUBQUERY 6
--     SCAN _g
--   SCALAR SUBQUERY 7
--     SCAN _g

-- GET /api/tags/_svc/aggregate?group=color&count=*&min=label&sum=id&avg=id&where[label]=tag+1&sort=-sum_id → 200
WITH _g AS MATERIALIZED (SELECT 1 AS _ok, count(*) AS _n, 0 AS _probed, _w."color" AS "_a0", count(*) AS "_a2", min(_w."label") AS "_a4", sum(_w."id" >> 32) + (sum(_w."id" & 4294967295) >> 32) AS "_a6", sum(_w."id" & 4294967295) & 4294967295 AS "_a7", (sum(_w."id" >> 32) * 4294967296.0 + sum(_w."id" & 4294967295)) / count(_w."id") AS "_a8"
  FROM (SELECT _t."color" AS "color", _t."label" AS "label", _t."id" AS "id"
    FROM "tags" AS _t INDEXED BY "tags(label)"
    WHERE _t."label" = ?
    LIMIT 100001) AS _w
  GROUP BY _w."color"), _page AS MATERIALIZED (SELECT *
  FROM _g
  WHERE _ok
  ORDER BY _g."_a6" DESC, _g."_a7" DESC, _g."_a0"
  LIMIT ? + 1)
SELECT _size.found AS found, CASE WHEN _size.bytes <= 33554432 THEN (SELECT json_group_array(json_array(_page."_a0", _page."_a2", _page."_a4", CASE WHEN _page."_a6" IS NOT NULL THEN json_array(CAST(_page."_a6" AS TEXT), _page."_a7") END, CASE WHEN typeof(_page."_a8") <> 'real' THEN _page."_a8"
    WHEN (_page."_a8" = 0.0 OR abs(_page."_a8") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."_a8"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."_a8") > 1e+200 THEN _page."_a8" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."_a8") > 1.0 THEN _page."_a8" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."_a8") < 1e-200 THEN _page."_a8" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."_a8" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."_a8") > 1e+200 THEN 896 WHEN abs(_page."_a8") > 1.0 THEN 448 WHEN abs(_page."_a8") < 1e-200 THEN -896 ELSE -448 END) END))
  FROM _page) END AS rows, CASE WHEN _size.found > ? THEN (SELECT json_array(CASE WHEN _page."_a6" IS NOT NULL THEN json_array('i', CAST(_page."_a6" AS TEXT)) END, CASE WHEN _page."_a7" IS NOT NULL THEN json_array('i', CAST(_page."_a7" AS TEXT)) END, _page."_a0")
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0))
  FROM _g) AS examined, (SELECT count(*)
  FROM _g
  WHERE _ok) AS total, '[]' AS misfits, 0 AS links, 0 AS gate_visits, NULL AS searched
FROM (SELECT sum(((ifnull(octet_length(_page."_a0"), 0) + 0) + (ifnull(octet_length(_page."_a4"), 0) + 0 + 0))) AS bytes, count(*) AS found
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _g
--         CO-ROUTINE _w
--           SEARCH _t USING INDEX tags(label) (label=?)
--         SCAN _w
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN _g
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 4
--     SCAN _page
--   SCALAR SUBQUERY 5
--     SCAN _page
--   SCALAR SUBQUERY 6
--     SCAN _g
--   SCALAR SUBQUERY 7
--     SCAN _g

-- GET /api/rooms/_svc/aggregate?group=owner_id&sum=size&count_distinct=name → 200
WITH "_l0" AS MATERIALIZED (SELECT "_x_0_0_m"."room_id" AS k, 1 AS ok
  FROM "room_members" AS "_x_0_0_m" INDEXED BY "room_members(user_id)"
  WHERE "_x_0_0_m"."user_id" = ?
  LIMIT 100001), "_w0" AS MATERIALIZED (SELECT 0 AS w, k
  FROM (SELECT DISTINCT k
    FROM "_l0"
    WHERE ok AND k IS NOT NULL)), "_w1" AS MATERIALIZED (SELECT 1 AS w, ? AS k), _keys AS MATERIALIZED (SELECT *
  FROM (SELECT w, k
    FROM "_w0")
  UNION ALL
  SELECT *
  FROM (SELECT w, k
    FROM "_w1")), _g AS MATERIALIZED (SELECT ((_w."_f0" AND 1)) IS TRUE AS _ok, count(*) AS _n, 0 AS _probed, _w."owner_id" AS "_a0", sum(CAST(_w."size" AS REAL)) AS "_a2", count(DISTINCT _w."name") AS "_a4"
  FROM (SELECT *
    FROM (SELECT _t."owner_id" AS "owner_id", _t."size" AS "size", _t."name" AS "name", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
      WHERE _t."id" = +_k.k)
    UNION ALL
    SELECT *
    FROM (SELECT _t."owner_id" AS "owner_id", _t."size" AS "size", _t."name" AS "name", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
      WHERE _t."owner_id" = +_k.k) 
    LIMIT CASE WHEN (SELECT count(*)
      FROM "_l0") <= 100000 THEN (100000 - (SELECT count(*)
        FROM "_l0")) + 1 ELSE 0 END) AS _w
  GROUP BY 1, _w."owner_id"), _page AS MATERIALIZED (SELECT *
  FROM _g
  WHERE _ok
  ORDER BY _g."_a0"
  LIMIT ? + 1)
SELECT _size.found AS found, CASE WHEN _size.bytes <= 33554432 THEN (SELECT json_group_array(json_array(_page."_a0", CASE WHEN typeof(_page."_a2") <> 'real' THEN _page."_a2"
    WHEN (_page."_a2" = 0.0 OR abs(_page."_a2") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."_a2"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."_a2") > 1e+200 THEN _page."_a2" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."_a2") > 1.0 THEN _page."_a2" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."_a2") < 1e-200 THEN _page."_a2" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."_a2" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."_a2") > 1e+200 THEN 896 WHEN abs(_page."_a2") > 1.0 THEN 448 WHEN abs(_page."_a2") < 1e-200 THEN -896 ELSE -448 END) END, _page."_a4"))
  FROM _page) END AS rows, CASE WHEN _size.found > ? THEN (SELECT json_array(_page."_a0")
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0))
  FROM _g) AS examined, (SELECT count(*)
  FROM _g
  WHERE _ok) AS total, '[]' AS misfits, (SELECT count(*)
  FROM "_l0") AS links, 0 AS gate_visits, NULL AS searched
FROM (SELECT sum((ifnull(octet_length(_page."_a0"), 0) + 0 + 0)) AS bytes, count(*) AS found
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _g
--         CO-ROUTINE _w
--           COMPOUND QUERY
--             LEFT-MOST SUBQUERY
--               MATERIALIZE _w0
--                 CO-ROUTINE (subquery-2)
--                   MATERIALIZE _l0
--                     SEARCH _x_0_0_m USING INDEX room_members(user_id) (user_id=?)
--                   SCAN _l0
--                   USE TEMP B-TREE FOR DISTINCT
--                 SCAN (subquery-2)
--               SCALAR SUBQUERY 14
--                 SCAN _l0
--               SCALAR SUBQUERY 15
--                 SCAN _l0
--               SCAN _k
--               SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--               LIST SUBQUERY 9
--                 SCAN _w0
--             UNION ALL
--               MATERIALIZE _w1
--                 SCAN CONSTANT ROW
--               SCAN _k
--               SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--               LIST SUBQUERY 12
--                 SCAN _w0
--         SCAN _w
--         USE TEMP B-TREE FOR GROUP BY
--         USE TEMP B-TREE FOR count(DISTINCT)
--       SCAN _g
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 19
--     SCAN _page
--   SCALAR SUBQUERY 20
--     SCAN _page
--   SCALAR SUBQUERY 21
--     SCAN _g
--   SCALAR SUBQUERY 22
--     SCAN _g
--   SCALAR SUBQUERY 23
--     SCAN _l0

-- GET /api/messages/_svc/aggregate?count=*&where[room_id]=1 → 200
WITH _gates AS MATERIALIZED (SELECT *, ("_g0" IS 2) AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _g AS MATERIALIZED (SELECT 1 AS _ok, count(*) AS _n, 0 AS _probed, count(*) AS "_a0"
  FROM (SELECT 1
    FROM "messages" AS _t INDEXED BY "messages(room_id,created_at)"
    WHERE _t."room_id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100001 ELSE 0 END) AS _w), _page AS MATERIALIZED (SELECT *
  FROM _g
  WHERE _ok
  LIMIT ? + 1)
SELECT _size.found AS found, CASE WHEN _size.bytes <= 33554432 THEN (SELECT json_group_array(json_array(_page."_a0"))
  FROM _page) END AS rows, CASE WHEN _size.found > ? THEN (SELECT json_array()
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0))
  FROM _g) AS examined, (SELECT count(*)
  FROM _g
  WHERE _ok) AS total, '[]' AS misfits, 0 AS links, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched
FROM (SELECT sum(0) AS bytes, count(*) AS found
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _g
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 4
--             MATERIALIZE _gates
--               CO-ROUTINE (subquery-2)
--                 SCAN CONSTANT ROW
--                 SCALAR SUBQUERY 1
--                   SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--               SCAN (subquery-2)
--             SCAN _gates
--           SEARCH _t USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--         SCAN _w
--       SCAN _g
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     SCAN _page
--   SCALAR SUBQUERY 10
--     SCAN _g
--   SCALAR SUBQUERY 11
--     SCAN _g
--   SCALAR SUBQUERY 12
--     SCAN _gates

-- GET what follows /api/tags/_svc/aggregate?group=label,color&count=*&sort=-count&limit=2 → 200
WITH _g AS MATERIALIZED (SELECT 1 AS _ok, count(*) AS _n, 0 AS _probed, _w."label" AS "_a0", _w."color" AS "_a2", count(*) AS "_a4"
  FROM (SELECT _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE 1
    LIMIT 100001) AS _w
  GROUP BY _w."label", _w."color"), _page AS MATERIALIZED (SELECT *
  FROM _g
  WHERE (_ok AND ((_g."_a4" = ? AND _g."_a0" = ? AND _g."_a2" > ?) OR (_g."_a4" = ? AND _g."_a0" > ?) OR _g."_a4" < ? OR _g."_a4" IS NULL))
  ORDER BY _g."_a4" DESC, _g."_a0", _g."_a2"
  LIMIT ? + 1)
SELECT _size.found AS found, CASE WHEN _size.bytes <= 33554432 THEN (SELECT json_group_array(json_array(_page."_a0", _page."_a2", _page."_a4"))
  FROM _page) END AS rows, CASE WHEN _size.found > ? THEN (SELECT json_array(CASE WHEN _page."_a4" IS NOT NULL THEN json_array('i', CAST(_page."_a4" AS TEXT)) END, _page."_a0", _page."_a2")
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0))
  FROM _g) AS examined, (SELECT count(*)
  FROM _g
  WHERE _ok) AS total, '[]' AS misfits, 0 AS links, 0 AS gate_visits, NULL AS searched
FROM (SELECT sum((ifnull(octet_length(_page."_a0"), 0) + ifnull(octet_length(_page."_a2"), 0) + 0)) AS bytes, count(*) AS found
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _g
--         CO-ROUTINE _w
--           SCAN _t
--         SCAN _w
--         USE TEMP B-TREE FOR GROUP BY
--       SCAN _g
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 4
--     SCAN _page
--   SCALAR SUBQUERY 5
--     SCAN _page
--   SCALAR SUBQUERY 6
--     SCAN _g
--   SCALAR SUBQUERY 7
--     SCAN _g
