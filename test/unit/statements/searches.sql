-- GET /api/letters?search=red+sho&sort=id&select=id → 200
WITH _few AS MATERIALIZED (SELECT count(*) < 1001 AS few
  FROM (SELECT 1
    FROM "_search_letters_words" AS _f
    WHERE _f."_search_letters_words" MATCH ?
    LIMIT 1001)), _own AS MATERIALIZED (SELECT _t."id" AS "id"
  FROM "letters" AS _t INDEXED BY "letters(author_id)"
  WHERE _t."author_id" = ?
  LIMIT CASE WHEN (SELECT few
    FROM _few) THEN 0 ELSE 100001 END), _docs AS MATERIALIZED (SELECT _dk.doc AS doc
  FROM _own AS _o CROSS JOIN "_search_letters_keys" AS _dk
  WHERE _dk."k0" = _o."id"), _matches AS MATERIALIZED (SELECT *
  FROM (SELECT _d."k0" AS "_k0", 0 AS "_rank"
    FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED CROSS JOIN "letters" AS _s
    WHERE (_f."_search_letters_words" MATCH ? AND _d.doc = _f.rowid AND _s."id" = _d."k0")
    LIMIT CASE WHEN (SELECT few
      FROM _few) THEN 100001 ELSE 0 END)
  UNION ALL
  SELECT *
  FROM (SELECT _d."k0" AS "_k0", 0 AS "_rank"
    FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED
    WHERE (_f."_search_letters_words" MATCH ? AND +_f.rowid IN (SELECT doc
        FROM _docs) AND _d.doc = _f.rowid)
    LIMIT CASE WHEN (SELECT few
      FROM _few) THEN 0 ELSE 100001 END)), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE _w."author_id" = ?), 0)
    FROM (SELECT _t."author_id" AS "author_id", _t."id" AS "id"
      FROM _matches AS _m CROSS JOIN "letters" AS _t
      WHERE (_t."id" = _m."_k0" AND CASE WHEN ifnull(octet_length(_t."id"), 0) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      LIMIT 100000 + 1) AS _w) AS counted), _page AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id", _t."author_id" AS "author_id"
    FROM _matches AS _m CROSS JOIN "letters" AS _t
    WHERE (_t."id" = _m."_k0" AND CASE WHEN ifnull(octet_length(_t."id"), 0) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE _w."author_id" = ?
  ORDER BY _w."id"
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', _page."id"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."id")
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, json_array(0, (SELECT count(*)
    FROM _own)) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         MATERIALIZE _matches
--           COMPOUND QUERY
--             LEFT-MOST SUBQUERY
--               CO-ROUTINE (subquery-7)
--                 SCALAR SUBQUERY 6
--                   MATERIALIZE _few
--                     CO-ROUTINE (subquery-1)
--                       SCAN _f VIRTUAL TABLE INDEX 0:M2
--                     SCAN (subquery-1)
--                   SCAN _few
--                 SCAN _f VIRTUAL TABLE INDEX 0:M2
--                 SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                 SEARCH _s USING COVERING INDEX sqlite_autoindex_letters_1 (id=?)
--               SCAN (subquery-7)
--             UNION ALL
--               CO-ROUTINE (subquery-11)
--                 SCALAR SUBQUERY 10
--                   SCAN _few
--                 SCAN _f VIRTUAL TABLE INDEX 0:M2
--                 LIST SUBQUERY 9
--                   MATERIALIZE _docs
--                     MATERIALIZE _own
--                       SCALAR SUBQUERY 3
--                         SCAN _few
--                       SEARCH _t USING INDEX letters(author_id) (author_id=?)
--                     SCAN _o
--                     SEARCH _dk USING COVERING INDEX sqlite_autoindex__search_letters_keys_1 (k0=?)
--                   SCAN _docs
--                 SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--               SCAN (subquery-11)
--         SCALAR SUBQUERY 16
--           MATERIALIZE _counted
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 14
--               CO-ROUTINE _w
--                 SCAN _m
--                 SEARCH _t USING INDEX sqlite_autoindex_letters_1 (id=?)
--               SCAN _w
--           SCAN _counted
--         SCAN _m
--         SEARCH _t USING INDEX sqlite_autoindex_letters_1 (id=?)
--       SCAN _w
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 19
--     SCAN _page
--   SCALAR SUBQUERY 20
--     SCAN _page
--   SCALAR SUBQUERY 21
--     SCAN _counted
--   SCALAR SUBQUERY 22
--     SCAN _counted
--   SCALAR SUBQUERY 23
--     SCAN _own

-- GET /api/letters?search="red+shoe"&filter[author_id][ne]=bob → 200
WITH _few AS MATERIALIZED (SELECT count(*) < 1001 AS few
  FROM (SELECT 1
    FROM "_search_letters_words" AS _f
    WHERE _f."_search_letters_words" MATCH ?
    LIMIT 1001)), _own AS MATERIALIZED (SELECT _t."id" AS "id"
  FROM "letters" AS _t INDEXED BY "letters(author_id)"
  WHERE _t."author_id" = ?
  LIMIT CASE WHEN (SELECT few
    FROM _few) THEN 0 ELSE 100001 END), _docs AS MATERIALIZED (SELECT _dk.doc AS doc
  FROM _own AS _o CROSS JOIN "_search_letters_keys" AS _dk
  WHERE _dk."k0" = _o."id"), _matches AS MATERIALIZED (SELECT "_k0", min("_rank") AS "_rank"
  FROM (SELECT *
    FROM (SELECT *
      FROM (SELECT _d."k0" AS "_k0", 0 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED CROSS JOIN "letters" AS _s
        WHERE (_f."_search_letters_words" MATCH ? AND _d.doc = _f.rowid AND _s."id" = _d."k0")
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 100001 ELSE 0 END)
      UNION ALL
      SELECT *
      FROM (SELECT _d."k0" AS "_k0", 0 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED
        WHERE (_f."_search_letters_words" MATCH ? AND +_f.rowid IN (SELECT doc
            FROM _docs) AND _d.doc = _f.rowid)
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 0 ELSE 100001 END))
    UNION ALL
    SELECT *
    FROM (SELECT *
      FROM (SELECT _d."k0" AS "_k0", 1 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED CROSS JOIN "letters" AS _s
        WHERE (_f."_search_letters_words" MATCH ? AND _d.doc = _f.rowid AND _s."id" = _d."k0")
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 100001 ELSE 0 END)
      UNION ALL
      SELECT *
      FROM (SELECT _d."k0" AS "_k0", 1 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED
        WHERE (_f."_search_letters_words" MATCH ? AND +_f.rowid IN (SELECT doc
            FROM _docs) AND _d.doc = _f.rowid)
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 0 ELSE 100001 END))
    UNION ALL
    SELECT *
    FROM (SELECT *
      FROM (SELECT _d."k0" AS "_k0", 2 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED CROSS JOIN "letters" AS _s
        WHERE (_f."_search_letters_words" MATCH ? AND _d.doc = _f.rowid AND _s."id" = _d."k0")
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 100001 ELSE 0 END)
      UNION ALL
      SELECT *
      FROM (SELECT _d."k0" AS "_k0", 2 AS "_rank"
        FROM "_search_letters_words" AS _f CROSS JOIN "_search_letters_keys" AS _d NOT INDEXED
        WHERE (_f."_search_letters_words" MATCH ? AND +_f.rowid IN (SELECT doc
            FROM _docs) AND _d.doc = _f.rowid)
        LIMIT CASE WHEN (SELECT few
          FROM _few) THEN 0 ELSE 100001 END))
    LIMIT -1)
  GROUP BY "_k0"), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."author_id" <> ? AND _w."author_id" = ?)), 0)
    FROM (SELECT _t."author_id" AS "author_id", _m."_rank" AS "_rank", _t."id" AS "id"
      FROM _matches AS _m CROSS JOIN "letters" AS _t
      WHERE _t."id" = _m."_k0"
      LIMIT 100000 + 1) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."_rank", _w."id", _w."_rowid_"
  FROM (SELECT _m."_rank" AS "_rank", _t."id" AS "id", _t."_rowid_" AS "_rowid_", _t."author_id" AS "author_id"
    FROM _matches AS _m CROSS JOIN "letters" AS _t
    WHERE _t."id" = _m."_k0"
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE (_w."author_id" <> ? AND _w."author_id" = ?)
  ORDER BY _w."_rank", _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."author_id" AS "author_id", _r."title" AS "title", _r."body" AS "body", _sorted."_rank"
  FROM _sorted CROSS JOIN "letters" AS _r NOT INDEXED
  WHERE (_r."_rowid_" = _sorted."_rowid_" AND CASE WHEN (ifnull(octet_length(_r."id"), 0) + ifnull(octet_length(_r."author_id"), 0) + ifnull(octet_length(_r."title"), 0) + ifnull(octet_length(_r."body"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', _page."id", 'author_id', _page."author_id", 'title', _page."title", 'body', _page."body"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."_rank" AS TEXT)), _page."id")
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, json_array(0, (SELECT count(*)
    FROM _own)) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           MATERIALIZE _matches
--             CO-ROUTINE (subquery-29)
--               COMPOUND QUERY
--                 LEFT-MOST SUBQUERY
--                   COMPOUND QUERY
--                     LEFT-MOST SUBQUERY
--                       CO-ROUTINE (subquery-7)
--                         SCALAR SUBQUERY 6
--                           MATERIALIZE _few
--                             CO-ROUTINE (subquery-1)
--                               SCAN _f VIRTUAL TABLE INDEX 0:M2
--                             SCAN (subquery-1)
--                           SCAN _few
--                         SCAN _f VIRTUAL TABLE INDEX 0:M2
--                         SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                         SEARCH _s USING COVERING INDEX sqlite_autoindex_letters_1 (id=?)
--                       SCAN (subquery-7)
--                     UNION ALL
--                       CO-ROUTINE (subquery-11)
--                         SCALAR SUBQUERY 10
--                           SCAN _few
--                         SCAN _f VIRTUAL TABLE INDEX 0:M2
--                         LIST SUBQUERY 9
--                           MATERIALIZE _docs
--                             MATERIALIZE _own
--                               SCALAR SUBQUERY 3
--                                 SCAN _few
--                               SEARCH _t USING INDEX letters(author_id) (author_id=?)
--                             SCAN _o
--                             SEARCH _dk USING COVERING INDEX sqlite_autoindex__search_letters_keys_1 (k0=?)
--                           SCAN _docs
--                         SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                       SCAN (subquery-11)
--                     UNION ALL
--                       COMPOUND QUERY
--                         LEFT-MOST SUBQUERY
--                           CO-ROUTINE (subquery-15)
--                             SCALAR SUBQUERY 14
--                               SCAN _few
--                             SCAN _f VIRTUAL TABLE INDEX 0:M2
--                             SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                             SEARCH _s USING COVERING INDEX sqlite_autoindex_letters_1 (id=?)
--                           SCAN (subquery-15)
--                         UNION ALL
--                           CO-ROUTINE (subquery-19)
--                             SCALAR SUBQUERY 18
--                               SCAN _few
--                             SCAN _f VIRTUAL TABLE INDEX 0:M2
--                             LIST SUBQUERY 17
--                               SCAN _docs
--                             SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                           SCAN (subquery-19)
--                         UNION ALL
--                           COMPOUND QUERY
--                             LEFT-MOST SUBQUERY
--                               CO-ROUTINE (subquery-23)
--                                 SCALAR SUBQUERY 22
--                                   SCAN _few
--                                 SCAN _f VIRTUAL TABLE INDEX 0:M2
--                                 SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                                 SEARCH _s USING COVERING INDEX sqlite_autoindex_letters_1 (id=?)
--                               SCAN (subquery-23)
--                             UNION ALL
--                               CO-ROUTINE (subquery-27)
--                                 SCALAR SUBQUERY 26
--                                   SCAN _few
--                                 SCAN _f VIRTUAL TABLE INDEX 0:M2
--                                 LIST SUBQUERY 25
--                                   SCAN _docs
--                                 SEARCH _d USING INTEGER PRIMARY KEY (rowid=?)
--                               SCAN (subquery-27)
--                     SCAN (subquery-29)
--                     USE TEMP B-TREE FOR GROUP BY
--                   SCALAR SUBQUERY 34
--                     MATERIALIZE _counted
--                       SCAN CONSTANT ROW
--                       SCALAR SUBQUERY 32
--                         CO-ROUTINE _w
--                           SCAN _m
--                           SEARCH _t USING INDEX sqlite_autoindex_letters_1 (id=?)
--                         SCAN _w
--                     SCAN _counted
--                   SCAN _m
--                   SEARCH _t USING INDEX sqlite_autoindex_letters_1 (id=?)
--                 SCAN _w
--                 USE TEMP B-TREE FOR ORDER BY
--               SCAN _sorted
--               SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--             SCAN _page
--           SCAN _size
--           SCALAR SUBQUERY 38
--             SCAN _page
--           SCALAR SUBQUERY 39
--             SCAN _page
--           SCALAR SUBQUERY 40
--             SCAN _counted
--           SCALAR SUBQUERY 41
--             SCAN _counted
--           SCALAR SUBQUERY 42
--             SCAN _own
