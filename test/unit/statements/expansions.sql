-- GET /api/messages?where[room_id]=1&select=id&expand=room_id&expand[room_id][select]=name → 200
WITH _gates AS MATERIALIZED (SELECT *, ("_g0" IS 2) AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."id" AS "id"
      FROM "messages" AS _t INDEXED BY "messages(room_id,created_at)"
      WHERE _t."room_id" = ?
      LIMIT CASE WHEN (SELECT open
        FROM _gates) THEN 100001 ELSE 0 END) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id"
    FROM "messages" AS _t INDEXED BY "messages(room_id,created_at)"
    WHERE _t."room_id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."room_id" AS "room_id"
  FROM _sorted CROSS JOIN "messages" AS _r NOT INDEXED
  WHERE _r."id" = _sorted."id"), "_e0" AS MATERIALIZED (SELECT _p.k AS _k, "_x_0e"."name" AS "name", "_x_0e"."owner_id" AS "owner_id", "_x_0e"."id" AS "id", (SELECT 2
    FROM "room_members" AS "_x_0_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_0_m"."room_id" = "_x_0e"."id" AND "_x_0_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM (SELECT DISTINCT _before."room_id" AS k
    FROM (SELECT *
      FROM _page
      LIMIT ?) AS _before
    WHERE _before."room_id" IS NOT NULL) AS _p CROSS JOIN "rooms" AS "_x_0e" NOT INDEXED
  WHERE ("_x_0e"."id" = +_p.k AND CASE WHEN ifnull(octet_length("_x_0e"."name"), 0) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  LIMIT -1)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END) || char(10) || json_array(CASE WHEN _page."room_id" IS NOT NULL THEN json_array('i', CAST(_page."room_id" AS TEXT)) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched, CASE WHEN 1 THEN (SELECT group_concat(json_object('name', _found."name") || char(10) || json_array(CASE WHEN _found._k IS NOT NULL THEN json_array('i', CAST(_found._k AS TEXT)) END), ',\n')
  FROM (SELECT *
    FROM "_e0" AS _w
    WHERE (_w."owner_id" = ? OR (_w."_p0" IS 2))) AS _found) END AS "_e0", (SELECT json_array(count(*), count(_w."_p0"), 0)
  FROM "_e0" AS _w) AS "_e1", NULL AS "_e2"
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 8
--             MATERIALIZE _gates
--               CO-ROUTINE (subquery-2)
--                 SCAN CONSTANT ROW
--                 SCALAR SUBQUERY 1
--                   SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--               SCAN (subquery-2)
--             SCAN _gates
--           SCALAR SUBQUERY 9
--             MATERIALIZE _counted
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 6
--                 CO-ROUTINE _w
--                   SCALAR SUBQUERY 4
--                     SCAN _gates
--                   SEARCH _t USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--                 SCAN _w
--             SCAN _counted
--           SEARCH _t USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 17
--     SCAN _page
--   SCALAR SUBQUERY 18
--     SCAN _page
--   SCALAR SUBQUERY 19
--     SCAN _counted
--   SCALAR SUBQUERY 20
--     SCAN _counted
--   SCALAR SUBQUERY 21
--     SCAN _gates
--   SCALAR SUBQUERY 23
--     MATERIALIZE _e0
--       CO-ROUTINE _p
--         CO-ROUTINE _before
--           SCAN _page
--         SCAN _before
--         USE TEMP B-TREE FOR DISTINCT
--       SCAN _p
--       SEARCH _x_0e USING INTEGER PRIMARY KEY (rowid=?)
--       CORRELATED SCALAR SUBQUERY 13
--         SEARCH _x_0_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _w
--   SCALAR SUBQUERY 24
--     SCAN _w

-- GET /api/rooms?where[id]=1&select=id&expand[messages.room_id][sort]=-created_at,-id&expand[messages.room_id][select]=body → 200
WITH _gates AS MATERIALIZED (SELECT *, 1 AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."owner_id" = ? OR ((SELECT "_g0"
              FROM _gates) IS 2))), 0)
    FROM (SELECT _t."owner_id" AS "owner_id"
      FROM "rooms" AS _t NOT INDEXED
      WHERE _t."id" = ?
      LIMIT CASE WHEN (SELECT open
        FROM _gates) THEN 100000 ELSE 0 END) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id"
    FROM "rooms" AS _t NOT INDEXED
    WHERE _t."id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE (_w."owner_id" = ? OR ((SELECT "_g0"
        FROM _gates) IS 2))
  LIMIT ? + 1 OFFSET ?), "_c0" AS MATERIALIZED (SELECT _p.k AS _k, 0 AS _f, "_x_0e"."id" AS "id", "_x_0e"."created_at" AS "created_at", "_x_0e"."room_id" AS "room_id", (SELECT 2
    FROM "room_members" AS "_x_0_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_0_m"."room_id" = "_x_0e"."room_id" AND "_x_0_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM (SELECT DISTINCT _before."id" AS k
    FROM (SELECT *
      FROM _page
      LIMIT ?) AS _before
    WHERE _before."id" IS NOT NULL) AS _p CROSS JOIN "messages" AS "_x_0e" NOT INDEXED
  WHERE "_x_0e"."id" = (SELECT "_x_0n"."id"
    FROM "messages" AS "_x_0n" INDEXED BY "messages(room_id,created_at)"
    WHERE "_x_0n"."room_id" = +_p.k
    ORDER BY "_x_0n"."created_at" DESC, "_x_0n"."id" DESC
    LIMIT 1)
  UNION ALL
  SELECT _w._k AS _k, (_w._f + (((_w."_p0" IS 2)) IS TRUE)) AS _f, "_x_0e"."id" AS "id", "_x_0e"."created_at" AS "created_at", "_x_0e"."room_id" AS "room_id", (SELECT 2
    FROM "room_members" AS "_x_0_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_0_m"."room_id" = "_x_0e"."room_id" AND "_x_0_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM "_c0" AS _w CROSS JOIN "messages" AS "_x_0e" NOT INDEXED
  WHERE ((_w._f + (((_w."_p0" IS 2)) IS TRUE)) < 10 AND "_x_0e"."id" = coalesce((SELECT "_x_0n"."id"
        FROM "messages" AS "_x_0n" INDEXED BY "messages(room_id,created_at)"
        WHERE ("_x_0n"."room_id" = +_w._k AND ("_x_0n"."created_at" = _w."created_at" AND "_x_0n"."id" < _w."id"))
        ORDER BY "_x_0n"."created_at" DESC, "_x_0n"."id" DESC
        LIMIT 1), (SELECT "_x_0n"."id"
        FROM "messages" AS "_x_0n" INDEXED BY "messages(room_id,created_at)"
        WHERE ("_x_0n"."room_id" = +_w._k AND "_x_0n"."created_at" < _w."created_at")
        ORDER BY "_x_0n"."created_at" DESC, "_x_0n"."id" DESC
        LIMIT 1)))
  LIMIT 100001), "_e0" AS MATERIALIZED (SELECT _c._k AS _k, "_x_0r"."body" AS "body"
  FROM (SELECT *
    FROM "_c0" AS _w
    WHERE (_w."_p0" IS 2)) AS _c CROSS JOIN "messages" AS "_x_0r" NOT INDEXED
  WHERE ("_x_0r"."id" = _c."id" AND CASE WHEN ifnull(octet_length("_x_0r"."body"), 0) > 419430 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END) || char(10) || json_array(CASE WHEN _page."id" IS NOT NULL THEN json_array('i', CAST(_page."id" AS TEXT)) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array()
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."owner_id" AS "owner_id"
    FROM "rooms" AS _t NOT INDEXED
    WHERE _t."id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE 1) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched, CASE WHEN 1 THEN (SELECT group_concat(json_object('body', _found."body") || char(10) || json_array(CASE WHEN _found._k IS NOT NULL THEN json_array('i', CAST(_found._k AS TEXT)) END), ',\n')
  FROM "_e0" AS _found) END AS "_e0", (SELECT json_array(count(*), count(_w."_p0"), 0)
  FROM "_c0" AS _w) AS "_e1", NULL AS "_e2"
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 10
--           MATERIALIZE _gates
--             CO-ROUTINE (subquery-2)
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 1
--                 SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--             SCAN (subquery-2)
--           SCAN _gates
--         SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--       SCAN _w
--       SCALAR SUBQUERY 12
--         SCAN _gates
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 25
--     SCAN _page
--   SCALAR SUBQUERY 26
--     SCAN _page
--   SCALAR SUBQUERY 27
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 7
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 5
--             SCAN _gates
--           SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--         SCAN _w
--         SCALAR SUBQUERY 4
--           SCAN _gates
--     SCAN _counted
--   SCALAR SUBQUERY 30
--     CO-ROUTINE _w
--       SCALAR SUBQUERY 28
--         SCAN _gates
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _w
--   SCALAR SUBQUERY 31
--     SCAN _counted
--   SCALAR SUBQUERY 32
--     SCAN _gates
--   SCALAR SUBQUERY 33
--     MATERIALIZE _e0
--       MATERIALIZE _c0
--         SETUP
--           CO-ROUTINE _p
--             CO-ROUTINE _before
--               SCAN _page
--             SCAN _before
--             USE TEMP B-TREE FOR DISTINCT
--           SCAN _p
--           SEARCH _x_0e USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 17
--             SEARCH _x_0n USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--           CORRELATED SCALAR SUBQUERY 14
--             SEARCH _x_0_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--         RECURSIVE STEP
--           SCAN _w
--           SEARCH _x_0e USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 20
--             SEARCH _x_0n USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid<?)
--           CORRELATED SCALAR SUBQUERY 21
--             SEARCH _x_0n USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at<?)
--           CORRELATED SCALAR SUBQUERY 19
--             SEARCH _x_0_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--       SCAN _w
--       SEARCH _x_0r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _found
--   SCALAR SUBQUERY 34
--     SCAN _w

-- GET /api/rooms?where[id]=1&select=id&expand[messages.room_id][count]=true&expand[messages.room_id][sort]=author_id → 200
WITH _gates AS MATERIALIZED (SELECT *, 1 AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."owner_id" = ? OR ((SELECT "_g0"
              FROM _gates) IS 2))), 0)
    FROM (SELECT _t."owner_id" AS "owner_id"
      FROM "rooms" AS _t NOT INDEXED
      WHERE _t."id" = ?
      LIMIT CASE WHEN (SELECT open
        FROM _gates) THEN 100000 ELSE 0 END) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id"
    FROM "rooms" AS _t NOT INDEXED
    WHERE _t."id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE (_w."owner_id" = ? OR ((SELECT "_g0"
        FROM _gates) IS 2))
  LIMIT ? + 1 OFFSET ?), "_c0" AS MATERIALIZED (SELECT _p.k AS _k, "_x_0e"."id" AS "id", "_x_0e"."author_id" AS "author_id", "_x_0e"."room_id" AS "room_id", (SELECT 2
    FROM "room_members" AS "_x_0_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_0_m"."room_id" = "_x_0e"."room_id" AND "_x_0_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM (SELECT DISTINCT _before."id" AS k
    FROM (SELECT *
      FROM _page
      LIMIT ?) AS _before
    WHERE _before."id" IS NOT NULL) AS _p CROSS JOIN "messages" AS "_x_0e" INDEXED BY "messages(room_id,created_at)"
  WHERE "_x_0e"."room_id" = +_p.k
  LIMIT 100001), "_e0" AS MATERIALIZED (SELECT _c._k AS _k, "_x_0r"."id" AS "id", "_x_0r"."room_id" AS "room_id", "_x_0r"."author_id" AS "author_id", "_x_0r"."body" AS "body", "_x_0r"."created_at" AS "created_at", "_x_0r"."attachment" AS "attachment"
  FROM (SELECT *
    FROM (SELECT _w.*, row_number() OVER (PARTITION BY _w._k
        ORDER BY _w."author_id", _w."id") AS _n
      FROM "_c0" AS _w
      WHERE (_w."_p0" IS 2))
    WHERE _n <= 10) AS _c CROSS JOIN "messages" AS "_x_0r" NOT INDEXED
  WHERE ("_x_0r"."id" = _c."id" AND CASE WHEN (ifnull(octet_length("_x_0r"."author_id"), 0) + ifnull(octet_length("_x_0r"."body"), 0) + ifnull(octet_length("_x_0r"."attachment"), 0)) > 419430 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END) || char(10) || json_array(CASE WHEN _page."id" IS NOT NULL THEN json_array('i', CAST(_page."id" AS TEXT)) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array()
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."owner_id" AS "owner_id"
    FROM "rooms" AS _t NOT INDEXED
    WHERE _t."id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE 1) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched, CASE WHEN 1 THEN (SELECT group_concat(json_object('id', CASE WHEN _found."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _found."id" ELSE CAST(_found."id" AS TEXT) END, 'room_id', CASE WHEN _found."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _found."room_id" ELSE CAST(_found."room_id" AS TEXT) END, 'author_id', _found."author_id", 'body', _found."body", 'created_at', CASE WHEN _found."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _found."created_at" ELSE CAST(_found."created_at" AS TEXT) END, 'attachment', CASE WHEN _found."attachment" IS NOT NULL THEN hex(_found."attachment") END) || char(10) || json_array(CASE WHEN _found._k IS NOT NULL THEN json_array('i', CAST(_found._k AS TEXT)) END), ',\n')
  FROM "_e0" AS _found) END AS "_e0", (SELECT json_array(count(*), count(_w."_p0"), 0)
  FROM "_c0" AS _w) AS "_e1", (SELECT json_group_array(json_array(CASE WHEN _k IS NOT NULL THEN json_array('i', CAST(_k AS TEXT)) END, _n))
  FROM (SELECT _w._k AS _k, count(*) AS _n
    FROM "_c0" AS _w
    WHERE (_w."_p0" IS 2)
    GROUP BY _w._k)) AS "_e2"
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 10
--           MATERIALIZE _gates
--             CO-ROUTINE (subquery-2)
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 1
--                 SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--             SCAN (subquery-2)
--           SCAN _gates
--         SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--       SCAN _w
--       SCALAR SUBQUERY 12
--         SCAN _gates
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 21
--     SCAN _page
--   SCALAR SUBQUERY 22
--     SCAN _page
--   SCALAR SUBQUERY 23
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 7
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 5
--             SCAN _gates
--           SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--         SCAN _w
--         SCALAR SUBQUERY 4
--           SCAN _gates
--     SCAN _counted
--   SCALAR SUBQUERY 26
--     CO-ROUTINE _w
--       SCALAR SUBQUERY 24
--         SCAN _gates
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _w
--   SCALAR SUBQUERY 27
--     SCAN _counted
--   SCALAR SUBQUERY 28
--     SCAN _gates
--   SCALAR SUBQUERY 29
--     MATERIALIZE _e0
--       CO-ROUTINE (subquery-18)
--         CO-ROUTINE (subquery-35)
--           MATERIALIZE _c0
--             CO-ROUTINE _p
--               CO-ROUTINE _before
--                 SCAN _page
--               SCAN _before
--               USE TEMP B-TREE FOR DISTINCT
--             SCAN _p
--             SEARCH _x_0e USING INDEX messages(room_id,created_at) (room_id=?)
--             CORRELATED SCALAR SUBQUERY 14
--               SEARCH _x_0_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--           SCAN _w
--           USE TEMP B-TREE FOR ORDER BY
--         SCAN (subquery-35)
--       SCAN (subquery-18)
--       SEARCH _x_0r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _found
--   SCALAR SUBQUERY 30
--     SCAN _w
--   SCALAR SUBQUERY 32
--     CO-ROUTINE (subquery-31)
--       SCAN _w
--       USE TEMP B-TREE FOR GROUP BY
--     SCAN (subquery-31)
