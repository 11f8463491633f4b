-- GET /admin/api/data/messages/1 → 200
SELECT CASE WHEN ? THEN 1 ELSE 0 END AS admitted, CASE WHEN (ifnull(min(octet_length(_w."author_id"), 1000), 0) + ifnull(min(octet_length(_w."body"), 1000), 0) + ifnull(min(octet_length(_w."attachment"), 1000), 0)) <= 33554432 THEN json_object('id', CASE WHEN _w."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."id" ELSE CAST(_w."id" AS TEXT) END, 'room_id', CASE WHEN _w."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."room_id" ELSE CAST(_w."room_id" AS TEXT) END, 'author_id', CASE WHEN octet_length(_w."author_id") > 1000 THEN json_object('$preview', CASE typeof(substr(_w."author_id", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_w."author_id", 1, 500))) || '''' ELSE substr(substr(CAST(_w."author_id" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_w."author_id" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_w."author_id" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_w."author_id")) ELSE _w."author_id" END, 'body', CASE WHEN octet_length(_w."body") > 1000 THEN json_object('$preview', CASE typeof(substr(_w."body", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_w."body", 1, 500))) || '''' ELSE substr(substr(CAST(_w."body" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_w."body" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_w."body" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_w."body")) ELSE _w."body" END, 'created_at', CASE WHEN _w."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."created_at" ELSE CAST(_w."created_at" AS TEXT) END, 'attachment', CASE WHEN octet_length(_w."attachment") > 1000 THEN json_object('$preview', hex(substr(CAST(_w."attachment" AS BLOB), 1, 750)), 'bytes', octet_length(_w."attachment")) ELSE CASE WHEN _w."attachment" IS NOT NULL THEN hex(_w."attachment") END END) ELSE (ifnull(min(octet_length(_w."author_id"), 1000), 0) + ifnull(min(octet_length(_w."body"), 1000), 0) + ifnull(min(octet_length(_w."attachment"), 1000), 0)) END AS row, 0 AS probed
FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment"
  FROM "messages" AS _t
  WHERE _t."id" = ?) AS _w;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)

-- GET /admin/api/data/messages → 200
WITH _page AS MATERIALIZED (SELECT _q."id" AS "id", json_object('id', CASE WHEN _q."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _q."id" ELSE CAST(_q."id" AS TEXT) END, 'room_id', CASE WHEN _q."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _q."room_id" ELSE CAST(_q."room_id" AS TEXT) END, 'author_id', CASE WHEN octet_length(_q."author_id") > 1000 THEN json_object('$preview', CASE typeof(substr(_q."author_id", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_q."author_id", 1, 500))) || '''' ELSE substr(substr(CAST(_q."author_id" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_q."author_id" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_q."author_id" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_q."author_id")) ELSE _q."author_id" END, 'body', CASE WHEN octet_length(_q."body") > 1000 THEN json_object('$preview', CASE typeof(substr(_q."body", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_q."body", 1, 500))) || '''' ELSE substr(substr(CAST(_q."body" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_q."body" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_q."body" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_q."body")) ELSE _q."body" END, 'created_at', CASE WHEN _q."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _q."created_at" ELSE CAST(_q."created_at" AS TEXT) END, 'attachment', CASE WHEN octet_length(_q."attachment") > 1000 THEN json_object('$preview', hex(substr(CAST(_q."attachment" AS BLOB), 1, 750)), 'bytes', octet_length(_q."attachment")) ELSE CASE WHEN _q."attachment" IS NOT NULL THEN hex(_q."attachment") END END) AS _row
  FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment"
    FROM "messages" AS _t NOT INDEXED
    WHERE 1
    ORDER BY _t."id"
    LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?) AS _q
  WHERE 1), _size AS MATERIALIZED (SELECT (SELECT count(*)
    FROM _page) AS found, CASE WHEN least IS NULL THEN 0 ELSE max(n, 1) END AS fitting, coalesce(most, least, 0) AS bytes
  FROM (SELECT count(*) FILTER (WHERE bytes <= 4194304) AS n, min(bytes) AS least, max(bytes) FILTER (WHERE bytes <= 4194304) AS most
    FROM (SELECT sum(octet_length(_page._row)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
      FROM _page
      LIMIT ?)))
SELECT _size.found AS found, _size.fitting AS fitting, CASE WHEN _size.bytes <= 33554432 THEN (SELECT group_concat(_page._row, ',\n')
  FROM (SELECT *
    FROM _page
    LIMIT (SELECT fitting
      FROM _size)) AS _page) END AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET (SELECT fitting
    FROM _size) - 1) END AS last_key, (SELECT count(*)
  FROM "messages") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM _size;
--   MATERIALIZE _size
--     CO-ROUTINE (subquery-5)
--       CO-ROUTINE (subquery-4)
--         CO-ROUTINE (subquery-14)
--           MATERIALIZE _page
--             CO-ROUTINE _q
--               SCAN _t
--             SCAN _q
--           SCAN _page
--         SCAN (subquery-14)
--       SCAN (subquery-4)
--     SCAN (subquery-5)
--     SCALAR SUBQUERY 3
--       SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 9
--     CO-ROUTINE _page
--       SCALAR SUBQUERY 7
--         SCAN _size
--       SCAN _page
--     SCAN _page
--   SCALAR SUBQUERY 11
--     SCALAR SUBQUERY 10
--       SCAN _size
--     SCAN _page
--   SCALAR SUBQUERY 12
--     SCAN messages USING COVERING INDEX messages(room_id,created_at)

-- GET /admin/api/data/letters?sort=title&select=title,body → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."title" AS "title", _t."id" AS "id"
      FROM "letters" AS _t NOT INDEXED
      WHERE 1
      LIMIT 100001) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."title", _w."id", _w."_rowid_"
  FROM (SELECT _t."title" AS "title", _t."id" AS "id", _t."_rowid_" AS "_rowid_"
    FROM "letters" AS _t NOT INDEXED
    WHERE 1
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."title", _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _q."title" AS "title", _q."id" AS "id", json_object('title', CASE WHEN octet_length(_q."title") > 1000 THEN json_object('$preview', CASE typeof(substr(_q."title", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_q."title", 1, 500))) || '''' ELSE substr(substr(CAST(_q."title" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_q."title" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_q."title" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_q."title")) ELSE _q."title" END, 'body', CASE WHEN octet_length(_q."body") > 1000 THEN json_object('$preview', CASE typeof(substr(_q."body", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_q."body", 1, 500))) || '''' ELSE substr(substr(CAST(_q."body" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_q."body" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_q."body" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_q."body")) ELSE _q."body" END) AS _row
  FROM (SELECT _sorted."title", _r."body" AS "body", _sorted."id"
    FROM _sorted CROSS JOIN "letters" AS _r NOT INDEXED
    WHERE _r."_rowid_" = _sorted."_rowid_") AS _q
  WHERE 1), _size AS MATERIALIZED (SELECT (SELECT count(*)
    FROM _page) AS found, CASE WHEN least IS NULL THEN 0 ELSE max(n, 1) END AS fitting, coalesce(most, least, 0) AS bytes
  FROM (SELECT count(*) FILTER (WHERE bytes <= 4194304) AS n, min(bytes) AS least, max(bytes) FILTER (WHERE bytes <= 4194304) AS most
    FROM (SELECT sum(octet_length(_page._row)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
      FROM _page
      LIMIT ?)))
SELECT _size.found AS found, _size.fitting AS fitting, CASE WHEN _size.bytes <= 33554432 THEN (SELECT group_concat(_page._row, ',\n')
  FROM (SELECT *
    FROM _page
    LIMIT (SELECT fitting
      FROM _size)) AS _page) END AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."title", _page."id")
  FROM _page
  LIMIT 1 OFFSET (SELECT fitting
    FROM _size) - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM _size;
--   MATERIALIZE _size
--     CO-ROUTINE (subquery-11)
--       CO-ROUTINE (subquery-10)
--         CO-ROUTINE (subquery-21)
--           MATERIALIZE _page
--             MATERIALIZE _sorted
--               CO-ROUTINE _w
--                 SCALAR SUBQUERY 4
--                   MATERIALIZE _counted
--                     SCAN CONSTANT ROW
--                     SCALAR SUBQUERY 2
--                       CO-ROUTINE _w
--                         SCAN _t
--                       SCAN _w
--                   SCAN _counted
--                 SCAN _t
--               SCAN _w
--               USE TEMP B-TREE FOR ORDER BY
--             SCAN _sorted
--             SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--           SCAN _page
--         SCAN (subquery-21)
--       SCAN (subquery-10)
--     SCAN (subquery-11)
--     SCALAR SUBQUERY 9
--       SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 15
--     CO-ROUTINE _page
--       SCALAR SUBQUERY 13
--         SCAN _size
--       SCAN _page
--     SCAN _page
--   SCALAR SUBQUERY 17
--     SCALAR SUBQUERY 16
--       SCAN _size
--     SCAN _page
--   SCALAR SUBQUERY 18
--     SCAN _counted
--   SCALAR SUBQUERY 19
--     SCAN _counted

-- GET /admin/api/data/messages?select=id&expand=room_id&expand[room_id][select]=name → 200
WITH _page AS MATERIALIZED (SELECT _q."room_id" AS "room_id", _q."id" AS "id", json_object('id', CASE WHEN _q."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _q."id" ELSE CAST(_q."id" AS TEXT) END) AS _row
  FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id"
    FROM "messages" AS _t NOT INDEXED
    WHERE 1
    ORDER BY _t."id"
    LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?) AS _q
  WHERE 1), _size AS MATERIALIZED (SELECT (SELECT count(*)
    FROM _page) AS found, CASE WHEN least IS NULL THEN 0 ELSE max(n, 1) END AS fitting, coalesce(most, least, 0) AS bytes
  FROM (SELECT count(*) FILTER (WHERE bytes <= 4194304) AS n, min(bytes) AS least, max(bytes) FILTER (WHERE bytes <= 4194304) AS most
    FROM (SELECT sum(octet_length(_page._row)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
      FROM _page
      LIMIT ?))), "_e0" AS MATERIALIZED (SELECT _p.k AS _k, "_x_0e"."name" AS "name"
  FROM (SELECT DISTINCT _before."room_id" AS k
    FROM (SELECT *
      FROM _page
      LIMIT (SELECT fitting
        FROM _size)) AS _before
    WHERE _before."room_id" IS NOT NULL) AS _p CROSS JOIN "rooms" AS "_x_0e" NOT INDEXED
  WHERE "_x_0e"."id" = +_p.k
  LIMIT -1)
SELECT _size.found AS found, _size.fitting AS fitting, CASE WHEN _size.bytes + ifnull((SELECT sum(ifnull(min(octet_length(_found."name"), 1000), 0))
    FROM (SELECT *
      FROM "_e0" AS _w
      WHERE 1) AS _found), 0) <= 4194304 THEN (SELECT group_concat(_page._row || char(10) || json_array(CASE WHEN _page."room_id" IS NOT NULL THEN json_array('i', CAST(_page."room_id" AS TEXT)) END), ',\n')
  FROM (SELECT *
    FROM _page
    LIMIT (SELECT fitting
      FROM _size)) AS _page) END AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET (SELECT fitting
    FROM _size) - 1) END AS last_key, (SELECT count(*)
  FROM "messages") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched, CASE WHEN _size.bytes + ifnull((SELECT sum(ifnull(min(octet_length(_found."name"), 1000), 0))
    FROM (SELECT *
      FROM "_e0" AS _w
      WHERE 1) AS _found), 0) <= 4194304 THEN (SELECT group_concat(json_object('name', CASE WHEN octet_length(_found."name") > 1000 THEN json_object('$preview', CASE typeof(substr(_found."name", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr(_found."name", 1, 500))) || '''' ELSE substr(substr(CAST(_found."name" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST(_found."name" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST(_found."name" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length(_found."name")) ELSE _found."name" END) || char(10) || json_array(CASE WHEN _found._k IS NOT NULL THEN json_array('i', CAST(_found._k AS TEXT)) END), ',\n')
  FROM (SELECT *
    FROM "_e0" AS _w
    WHERE 1) AS _found) END AS "_e0", (SELECT json_array(count(*), 0, 0)
  FROM "_e0" AS _w) AS "_e1", NULL AS "_e2"
FROM _size;
--   MATERIALIZE _size
--     CO-ROUTINE (subquery-5)
--       CO-ROUTINE (subquery-4)
--         CO-ROUTINE (subquery-25)
--           MATERIALIZE _page
--             CO-ROUTINE _q
--               SCAN _t
--             SCAN _q
--           SCAN _page
--         SCAN (subquery-25)
--       SCAN (subquery-4)
--     SCAN (subquery-5)
--     SCALAR SUBQUERY 3
--       SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 12
--     MATERIALIZE _e0
--       CO-ROUTINE _p
--         CO-ROUTINE _before
--           SCALAR SUBQUERY 7
--             SCAN _size
--           SCAN _page
--         SCAN _before
--         USE TEMP B-TREE FOR DISTINCT
--       SCAN _p
--       SEARCH _x_0e USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _w
--   SCALAR SUBQUERY 15
--     CO-ROUTINE _page
--       SCALAR SUBQUERY 13
--         SCAN _size
--       SCAN _page
--     SCAN _page
--   SCALAR SUBQUERY 17
--     SCALAR SUBQUERY 16
--       SCAN _size
--     SCAN _page
--   SCALAR SUBQUERY 18
--     SCAN messages USING COVERING INDEX messages(room_id,created_at)
--   SCALAR SUBQUERY 20
--     SCAN _w
--   SCALAR SUBQUERY 22
--     SCAN _w
--   SCALAR SUBQUERY 23
--     SCAN _w

-- PATCH /admin/api/data/messages/1 {"body":"new"} → 200
UPDATE OR ABORT "messages"
SET "body" = ?
WHERE ("messages"."id" = ? AND 1)
RETURNING CASE WHEN (ifnull(min(octet_length("messages"."author_id"), 1000), 0) + ifnull(min(octet_length("messages"."body"), 1000), 0) + ifnull(min(octet_length("messages"."attachment"), 1000), 0)) <= 33554432 THEN json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END, 'room_id', CASE WHEN "messages"."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."room_id" ELSE CAST("messages"."room_id" AS TEXT) END, 'author_id', CASE WHEN octet_length("messages"."author_id") > 1000 THEN json_object('$preview', CASE typeof(substr("messages"."author_id", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr("messages"."author_id", 1, 500))) || '''' ELSE substr(substr(CAST("messages"."author_id" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST("messages"."author_id" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST("messages"."author_id" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length("messages"."author_id")) ELSE "messages"."author_id" END, 'body', CASE WHEN octet_length("messages"."body") > 1000 THEN json_object('$preview', CASE typeof(substr("messages"."body", 1, 500)) WHEN 'blob' THEN 'x''' || lower(hex(substr("messages"."body", 1, 500))) || '''' ELSE substr(substr(CAST("messages"."body" AS TEXT), 1, 1000), 1, length(CAST(substr(CAST(substr(CAST("messages"."body" AS TEXT), 1, 1000) AS BLOB), 1, 1000) AS TEXT)) - (hex(substr(CAST(substr(CAST("messages"."body" AS TEXT), 1, 1000) AS BLOB), 1001, 1)) BETWEEN '80' AND 'BF')) END, 'bytes', octet_length("messages"."body")) ELSE "messages"."body" END, 'created_at', CASE WHEN "messages"."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."created_at" ELSE CAST("messages"."created_at" AS TEXT) END, 'attachment', CASE WHEN octet_length("messages"."attachment") > 1000 THEN json_object('$preview', hex(substr(CAST("messages"."attachment" AS BLOB), 1, 750)), 'bytes', octet_length("messages"."attachment")) ELSE CASE WHEN "messages"."attachment" IS NOT NULL THEN hex("messages"."attachment") END END) ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END AS row;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
