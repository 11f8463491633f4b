-- GET /api/tags → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t NOT INDEXED
  WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."id"
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT count(*)
  FROM "tags") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SCAN _t
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SCAN tags USING COVERING INDEX tags(label)

-- GET /api/tags?limit=2&select=id,label → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label"
  FROM "tags" AS _t NOT INDEXED
  WHERE (1 AND CASE WHEN ifnull(octet_length(_t."label"), 0) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."id"
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT count(*)
  FROM "tags") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SCAN _t
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SCAN tags USING COVERING INDEX tags(label)

-- GET /api/tags?sort=-id&offset=1 → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t NOT INDEXED
  WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."id" DESC
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT count(*)
  FROM "tags") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SCAN _t
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SCAN tags USING COVERING INDEX tags(label)

-- GET /api/tags?sort=label → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t INDEXED BY "tags(label)"
  WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."label", _t."id"
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."label", json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT count(*)
  FROM "tags") AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SCAN _t USING INDEX tags(label)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SCAN tags USING COVERING INDEX tags(label)

-- GET /api/tags?sort=color,-label → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."color" AS "color", _t."label" AS "label", _t."id" AS "id"
      FROM "tags" AS _t NOT INDEXED
      WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      LIMIT 100001) AS _w) AS counted), _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."color", _w."label" DESC, _w."id"
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."color", _page."label", json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 4
--           MATERIALIZE _counted
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 2
--               CO-ROUTINE _w
--                 SCAN _t
--               SCAN _w
--           SCAN _counted
--         SCAN _t
--       SCAN _w
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 7
--     SCAN _page
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     SCAN _counted
--   SCALAR SUBQUERY 10
--     SCAN _counted

-- GET /api/tags?where[label]=tag+1 → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t INDEXED BY "tags(label)"
  WHERE (_t."label" = ? AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."id"
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, CASE WHEN (SELECT max(_e."id")
  FROM "tags" AS _e) - (SELECT min(_e."id")
  FROM "tags" AS _e) < 100000 THEN (SELECT count(*)
  FROM "tags" AS _t INDEXED BY "tags(label)"
  WHERE _t."label" = ?) ELSE (SELECT count(*)
  FROM (SELECT 1
    FROM "tags" AS _t INDEXED BY "tags(label)"
    WHERE _t."label" = ?
    ORDER BY _t."id"
    LIMIT 100000) AS _w) END AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SEARCH _t USING INDEX tags(label) (label=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SEARCH _e
--   SCALAR SUBQUERY 5
--     SEARCH _e
--   SCALAR SUBQUERY 6
--     SEARCH _t USING COVERING INDEX tags(label) (label=?)
--   SCALAR SUBQUERY 8
--     CO-ROUTINE _w
--       SEARCH _t USING COVERING INDEX tags(label) (label=?)
--     SCAN _w

-- GET /api/tags?filter[id][in]=1,2,3&sort=-id → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."id" AS "id"
      FROM "tags" AS _t NOT INDEXED
      WHERE _t."id" IN (SELECT value AS item
        FROM json_each(?))
      LIMIT 100001) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id"
    FROM "tags" AS _t NOT INDEXED
    WHERE _t."id" IN (SELECT value AS item
      FROM json_each(?))
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."id" DESC
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."label" AS "label", _r."color" AS "color"
  FROM _sorted CROSS JOIN "tags" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."label"), 0) + ifnull(octet_length(_r."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 6
--             MATERIALIZE _counted
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 3
--                 CO-ROUTINE _w
--                   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--                   LIST SUBQUERY 1
--                     SCAN json_each VIRTUAL TABLE INDEX 1:
--                 SCAN _w
--             SCAN _counted
--           SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--           LIST SUBQUERY 5
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 10
--     SCAN _page
--   SCALAR SUBQUERY 11
--     SCAN _page
--   SCALAR SUBQUERY 12
--     SCAN _counted
--   SCALAR SUBQUERY 13
--     SCAN _counted

-- GET /api/tags?filter[id][gte]=2&filter[id][lt]=4 → 200
WITH _page AS MATERIALIZED (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t NOT INDEXED
  WHERE ((_t."id" >= ? AND _t."id" < ?) AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
  ORDER BY _t."id"
  LIMIT max(0, min(? + 1, 100000 - ?)) OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, CASE WHEN (SELECT max(_e."id")
  FROM "tags" AS _e) - (SELECT min(_e."id")
  FROM "tags" AS _e) < 100000 THEN (SELECT count(*)
  FROM "tags" AS _t NOT INDEXED
  WHERE (_t."id" >= ? AND _t."id" < ?)) ELSE (SELECT count(*)
  FROM (SELECT 1
    FROM "tags" AS _t NOT INDEXED
    WHERE (_t."id" >= ? AND _t."id" < ?)
    ORDER BY _t."id"
    LIMIT 100000) AS _w) END AS counted, NULL AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 2
--     SCAN _page
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SEARCH _e
--   SCALAR SUBQUERY 5
--     SEARCH _e
--   SCALAR SUBQUERY 6
--     SEARCH _t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   SCALAR SUBQUERY 8
--     CO-ROUTINE _w
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN _w

-- GET /api/tags?filter[label][gt]=tag+1&filter[color][is_null]=true → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."label" > ? AND _w."color" IS NULL)), 0)
    FROM (SELECT _t."label" AS "label", _t."color" AS "color", _t."id" AS "id"
      FROM "tags" AS _t NOT INDEXED
      WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      ORDER BY _t."id"
      LIMIT 100000) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE (_w."label" > ? AND _w."color" IS NULL)
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."label" AS "label", _t."color" AS "color", _t."id" AS "id"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND _t."id" <= (SELECT "id"
        FROM _peeked) AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCAN _t
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 7
--     SCAN _page
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 2
--         CO-ROUTINE _w
--           SCAN _t
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 13
--     CO-ROUTINE _w
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid<?)
--       SCALAR SUBQUERY 10
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--     SCAN _w
--     SCALAR SUBQUERY 12
--       SCAN _peeked
--   SCALAR SUBQUERY 14
--     SCAN _counted

-- GET /api/tags?filter[label][contains]=ag&filter[label][starts_with]=t → 200
WITH _searched AS MATERIALIZED (SELECT count(*) AS n, ifnull(sum(_w."_s0"), 0) * (300 + octet_length(?)) <= 80000000000 AS fits
  FROM (SELECT octet_length(_t."label") AS "_s0"
    FROM "tags" AS _t NOT INDEXED
    WHERE 1
    ORDER BY _t."id"
    LIMIT 100000) AS _w), _counted AS MATERIALIZED (SELECT (SELECT CASE WHEN (SELECT max(_e."id")
      FROM "tags" AS _e) - (SELECT min(_e."id")
      FROM "tags" AS _e) < 100000 THEN (SELECT json_array(ifnull(sum(_w._n), 0), ifnull(sum(_w._n) FILTER (WHERE (instr(_w."label", ?) > 0 AND substr(_w."label", 1, length(?)) = ?)), 0), 0, 1, 0)
      FROM (SELECT count(*) AS _n, _t."label" AS "label"
        FROM "tags" AS _t INDEXED BY "tags(label)"
        GROUP BY _t."label"
        LIMIT CASE WHEN (SELECT fits
          FROM _searched) THEN -1 ELSE 0 END) AS _w) ELSE (SELECT json_array(count(*), count(*) FILTER (WHERE (instr(_w."label", ?) > 0 AND substr(_w."label", 1, length(?)) = ?)), 0)
      FROM (SELECT _t."label" AS "label", _t."id" AS "id"
        FROM "tags" AS _t NOT INDEXED
        WHERE 1
        ORDER BY _t."id"
        LIMIT CASE WHEN (SELECT fits
          FROM _searched) THEN 100000 ELSE 0 END) AS _w) END) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT CASE WHEN (SELECT fits
      FROM _searched) THEN 100000 ELSE 0 END) AS _w
  WHERE (instr(_w."label", ?) > 0 AND substr(_w."label", 1, length(?)) = ?)
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."label" AS "label", _t."id" AS "id"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND _t."id" <= (SELECT "id"
        FROM _peeked))
    ORDER BY _t."id"
    LIMIT CASE WHEN (SELECT fits
      FROM _searched) THEN 100000 ELSE 0 END) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, 0 AS gate_visits, (SELECT json_array(n, fits)
  FROM _searched) AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 14
--           MATERIALIZE _searched
--             CO-ROUTINE _w
--               SCAN _t
--             SCAN _w
--           SCAN _searched
--         SCAN _t
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 17
--     SCAN _page
--   SCALAR SUBQUERY 18
--     SCAN _page
--   SCALAR SUBQUERY 19
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 11
--         SCAN CONSTANT ROW
--         SCALAR SUBQUERY 3
--           SEARCH _e
--         SCALAR SUBQUERY 4
--           SEARCH _e
--         SCALAR SUBQUERY 7
--           CO-ROUTINE _w
--             SCALAR SUBQUERY 5
--               SCAN _searched
--             SCAN _t USING COVERING INDEX tags(label)
--           SCAN _w
--         SCALAR SUBQUERY 10
--           CO-ROUTINE _w
--             SCALAR SUBQUERY 8
--               SCAN _searched
--             SCAN _t
--           SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 24
--     CO-ROUTINE _w
--       SCALAR SUBQUERY 21
--         SCAN _searched
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid<?)
--       SCALAR SUBQUERY 20
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--     SCAN _w
--     SCALAR SUBQUERY 23
--       SCAN _peeked
--   SCALAR SUBQUERY 25
--     SCAN _counted
--   SCALAR SUBQUERY 26
--     SCAN _searched

-- GET /api/tags?filter[color][ne]=red&filter[label][lte]=z → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."color" <> ? AND _w."label" <= ?)), 0)
    FROM (SELECT _t."color" AS "color", _t."label" AS "label", _t."id" AS "id"
      FROM "tags" AS _t NOT INDEXED
      WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      ORDER BY _t."id"
      LIMIT 100000) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE (_w."color" <> ? AND _w."label" <= ?)
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."color" AS "color", _t."label" AS "label", _t."id" AS "id"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND _t."id" <= (SELECT "id"
        FROM _peeked) AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCAN _t
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 7
--     SCAN _page
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 2
--         CO-ROUTINE _w
--           SCAN _t
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 13
--     CO-ROUTINE _w
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid<?)
--       SCALAR SUBQUERY 10
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--     SCAN _w
--     SCALAR SUBQUERY 12
--       SCAN _peeked
--   SCALAR SUBQUERY 14
--     SCAN _counted

-- GET /api/rooms → 200
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
    FROM "_w1")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."_f0" AND 1)), 0, count(*) <= (100000 - (SELECT count(*)
          FROM "_l0")))
    FROM (SELECT *
      FROM (SELECT NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
        WHERE _t."id" = +_k.k)
      UNION ALL
      SELECT *
      FROM (SELECT NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
        WHERE _t."owner_id" = +_k.k) 
      LIMIT CASE WHEN (SELECT count(*)
        FROM "_l0") <= 100000 THEN (100000 - (SELECT count(*)
          FROM "_l0")) + 1 ELSE 0 END) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."owner_id", _w."name", _w."archived_at", _w."size"
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id", _t."name" AS "name", _t."archived_at" AS "archived_at", _t."size" AS "size", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
          FROM "_w0"), 0)) AS "_f0"
    FROM (WITH _q(w, k, p) AS (SELECT _keys.w AS w, _keys.k AS k, CASE _keys.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE _y0."id" = +_keys.k
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE _y1."owner_id" = +_keys.k
          ORDER BY _y1."id"
          LIMIT 1) END AS p
        FROM _keys
        WHERE CASE _keys.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE _y0."id" = +_keys.k
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE _y1."owner_id" = +_keys.k
          ORDER BY _y1."id"
          LIMIT 1) END IS NOT NULL
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, CASE _q.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE (_y0."id" = +_q.k AND _y0."id" > _q.p)
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE (_y1."owner_id" = +_q.k AND _y1."id" > _q.p)
          ORDER BY _y1."id"
          LIMIT 1) END AS p
        FROM _q
        WHERE CASE _q.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE (_y0."id" = +_q.k AND _y0."id" > _q.p)
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE (_y1."owner_id" = +_q.k AND _y1."id" > _q.p)
          ORDER BY _y1."id"
          LIMIT 1) END IS NOT NULL
        ORDER BY p, w
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN CASE WHEN (SELECT counted ->> 3
          FROM _counted) THEN 100000 ELSE 0 END ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
    WHERE (_t."id" = _k.p AND CASE WHEN (ifnull(octet_length(_t."owner_id"), 0) + ifnull(octet_length(_t."name"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)) AS _w
  WHERE (_w."_f0" AND 1)
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'owner_id', _page."owner_id", 'name', _page."name", 'archived_at', CASE WHEN _page."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."archived_at" ELSE CAST(_page."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
          FROM "_w0"), 0)) AS "_f0"
    FROM (WITH _q(w, k, p) AS (SELECT _keys.w AS w, _keys.k AS k, CASE _keys.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE _y0."id" = +_keys.k
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE _y1."owner_id" = +_keys.k
          ORDER BY _y1."id"
          LIMIT 1) END AS p
        FROM _keys CROSS JOIN _peeked AS _u
        WHERE (CASE _keys.w WHEN 0 THEN (SELECT _y0."id"
            FROM "rooms" AS _y0 NOT INDEXED
            WHERE _y0."id" = +_keys.k
            ORDER BY _y0."id"
            LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
            FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
            WHERE _y1."owner_id" = +_keys.k
            ORDER BY _y1."id"
            LIMIT 1) END IS NOT NULL AND CASE _keys.w WHEN 0 THEN (SELECT _y0."id"
            FROM "rooms" AS _y0 NOT INDEXED
            WHERE _y0."id" = +_keys.k
            ORDER BY _y0."id"
            LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
            FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
            WHERE _y1."owner_id" = +_keys.k
            ORDER BY _y1."id"
            LIMIT 1) END <= _u."id")
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, CASE _q.w WHEN 0 THEN (SELECT _y0."id"
          FROM "rooms" AS _y0 NOT INDEXED
          WHERE (_y0."id" = +_q.k AND _y0."id" > _q.p)
          ORDER BY _y0."id"
          LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
          FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
          WHERE (_y1."owner_id" = +_q.k AND _y1."id" > _q.p)
          ORDER BY _y1."id"
          LIMIT 1) END AS p
        FROM _q CROSS JOIN _peeked AS _u
        WHERE (CASE _q.w WHEN 0 THEN (SELECT _y0."id"
            FROM "rooms" AS _y0 NOT INDEXED
            WHERE (_y0."id" = +_q.k AND _y0."id" > _q.p)
            ORDER BY _y0."id"
            LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
            FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
            WHERE (_y1."owner_id" = +_q.k AND _y1."id" > _q.p)
            ORDER BY _y1."id"
            LIMIT 1) END IS NOT NULL AND CASE _q.w WHEN 0 THEN (SELECT _y0."id"
            FROM "rooms" AS _y0 NOT INDEXED
            WHERE (_y0."id" = +_q.k AND _y0."id" > _q.p)
            ORDER BY _y0."id"
            LIMIT 1) WHEN 1 THEN (SELECT _y1."id"
            FROM "rooms" AS _y1 INDEXED BY "rooms(owner_id)"
            WHERE (_y1."owner_id" = +_q.k AND _y1."id" > _q.p)
            ORDER BY _y1."id"
            LIMIT 1) END <= _u."id")
        ORDER BY p, w
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN CASE WHEN (SELECT counted ->> 3
          FROM _counted) THEN 100000 ELSE 0 END ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
    WHERE _t."id" = _k.p) AS _w
  WHERE 1) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _q
--         SCALAR SUBQUERY 31
--           MATERIALIZE _l0
--             SEARCH _x_0_0_m USING INDEX room_members(user_id) (user_id=?)
--           SCAN _l0
--         SCALAR SUBQUERY 32
--           MATERIALIZE _counted
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 18
--               CO-ROUTINE _w
--                 COMPOUND QUERY
--                   LEFT-MOST SUBQUERY
--                     MATERIALIZE _w0
--                       CO-ROUTINE (subquery-2)
--                         SCAN _l0
--                         USE TEMP B-TREE FOR DISTINCT
--                       SCAN (subquery-2)
--                     SCALAR SUBQUERY 15
--                       SCAN _l0
--                     SCALAR SUBQUERY 16
--                       SCAN _l0
--                     SCAN _k
--                     SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--                     LIST SUBQUERY 10
--                       SCAN _w0
--                   UNION ALL
--                     MATERIALIZE _w1
--                       SCAN CONSTANT ROW
--                     SCAN _k
--                     SEARCH _t USING COVERING INDEX rooms(owner_id) (owner_id=?)
--                     LIST SUBQUERY 13
--                       SCAN _w0
--               SCAN _w
--               SCALAR SUBQUERY 9
--                 SCAN _l0
--           SCAN _counted
--         SETUP
--           MATERIALIZE _keys
--             COMPOUND QUERY
--               LEFT-MOST SUBQUERY
--                 SCAN _w0
--               UNION ALL
--                 SCAN _w1
--           SCAN _keys
--           CORRELATED SCALAR SUBQUERY 24
--             SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 25
--             SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=?)
--           CORRELATED SCALAR SUBQUERY 22
--             SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 23
--             SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=?)
--         RECURSIVE STEP
--           SCAN _q
--           CORRELATED SCALAR SUBQUERY 29
--             SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 30
--             SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=? AND rowid>?)
--           CORRELATED SCALAR SUBQUERY 27
--             SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 28
--             SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=? AND rowid>?)
--       SCAN _q
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--       LIST SUBQUERY 21
--         SCAN _w0
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 37
--     SCAN _page
--   SCALAR SUBQUERY 38
--     SCAN _page
--   SCALAR SUBQUERY 39
--     SCAN _counted
--   SCALAR SUBQUERY 59
--     CO-ROUTINE _q
--       SCALAR SUBQUERY 54
--         SCAN _l0
--       SCALAR SUBQUERY 55
--         SCAN _counted
--       SETUP
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _keys
--         CORRELATED SCALAR SUBQUERY 43
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 44
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=?)
--         SCAN _u
--         CORRELATED SCALAR SUBQUERY 45
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 46
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=?)
--         CORRELATED SCALAR SUBQUERY 41
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 42
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=?)
--       RECURSIVE STEP
--         SCAN _q
--         CORRELATED SCALAR SUBQUERY 50
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 51
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=? AND rowid>?)
--         SCAN _u
--         CORRELATED SCALAR SUBQUERY 52
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 53
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=? AND rowid>?)
--         CORRELATED SCALAR SUBQUERY 48
--           SEARCH _y0 USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 49
--           SEARCH _y1 USING COVERING INDEX rooms(owner_id) (owner_id=? AND rowid>?)
--     SCAN _q
--     SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--   SCALAR SUBQUERY 60
--     SCAN _counted
--   SCALAR SUBQUERY 61
--     SCAN _l0

-- GET /api/rooms?filter[archived_at][is_null]=true → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."owner_id" = ? OR (_w."_p0" IS 2))), count(_w."_p0"))
    FROM (SELECT _t."owner_id" AS "owner_id", _t."id" AS "id", (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
        LIMIT 1) AS "_p0"
      FROM "rooms" AS _t INDEXED BY "rooms(archived_at)"
      WHERE _t."archived_at" IS NULL
      ORDER BY _t."id"
      LIMIT 100000) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."owner_id", _w."name", _w."archived_at", _w."size"
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id", _t."name" AS "name", _t."archived_at" AS "archived_at", _t."size" AS "size", (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    FROM "rooms" AS _t INDEXED BY "rooms(archived_at)"
    WHERE (_t."archived_at" IS NULL AND CASE WHEN (ifnull(octet_length(_t."owner_id"), 0) + ifnull(octet_length(_t."name"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE (_w."owner_id" = ? OR (_w."_p0" IS 2))
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'owner_id', _page."owner_id", 'name', _page."name", 'archived_at', CASE WHEN _page."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."archived_at" ELSE CAST(_page."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), count(_w."_p0"))
  FROM (SELECT _t."owner_id" AS "owner_id", _t."id" AS "id", (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    FROM "rooms" AS _t INDEXED BY "rooms(archived_at)"
    WHERE (_t."archived_at" IS NULL AND _t."id" <= (SELECT "id"
        FROM _peeked))
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SEARCH _t USING INDEX rooms(archived_at) (archived_at=?)
--         CORRELATED SCALAR SUBQUERY 6
--           SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 9
--     SCAN _page
--   SCALAR SUBQUERY 10
--     SCAN _page
--   SCALAR SUBQUERY 11
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 3
--         CO-ROUTINE _w
--           SEARCH _t USING INDEX rooms(archived_at) (archived_at=?)
--           CORRELATED SCALAR SUBQUERY 1
--             SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 16
--     CO-ROUTINE _w
--       SEARCH _t USING INDEX rooms(archived_at) (archived_at=? AND rowid<?)
--       SCALAR SUBQUERY 13
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--       CORRELATED SCALAR SUBQUERY 12
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _w
--     SCALAR SUBQUERY 15
--       SCAN _peeked
--   SCALAR SUBQUERY 17
--     SCAN _counted

-- GET /api/rooms?filter[archived_at][is_null]=false&where[owner_id]=nobody → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."archived_at" IS NOT NULL AND (_w."_p0" IS 2))), count(_w."_p0"))
    FROM (SELECT _t."archived_at" AS "archived_at", _t."id" AS "id", CASE WHEN _t."archived_at" IS NOT NULL THEN (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
        LIMIT 1) END AS "_p0"
      FROM "rooms" AS _t INDEXED BY "rooms(owner_id)"
      WHERE _t."owner_id" = ?
      ORDER BY _t."id"
      LIMIT 100000) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."owner_id", _w."name", _w."archived_at", _w."size"
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id", _t."name" AS "name", _t."archived_at" AS "archived_at", _t."size" AS "size", CASE WHEN _t."archived_at" IS NOT NULL THEN (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) END AS "_p0"
    FROM "rooms" AS _t INDEXED BY "rooms(owner_id)"
    WHERE (_t."owner_id" = ? AND CASE WHEN (ifnull(octet_length(_t."owner_id"), 0) + ifnull(octet_length(_t."name"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE (_w."archived_at" IS NOT NULL AND (_w."_p0" IS 2))
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'owner_id', _page."owner_id", 'name', _page."name", 'archived_at', CASE WHEN _page."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."archived_at" ELSE CAST(_page."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), count(_w."_p0"))
  FROM (SELECT _t."archived_at" AS "archived_at", _t."id" AS "id", CASE WHEN _t."archived_at" IS NOT NULL THEN (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) END AS "_p0"
    FROM "rooms" AS _t INDEXED BY "rooms(owner_id)"
    WHERE (_t."owner_id" = ? AND _t."id" <= (SELECT "id"
        FROM _peeked))
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--         CORRELATED SCALAR SUBQUERY 6
--           SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 9
--     SCAN _page
--   SCALAR SUBQUERY 10
--     SCAN _page
--   SCALAR SUBQUERY 11
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 3
--         CO-ROUTINE _w
--           SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--           CORRELATED SCALAR SUBQUERY 1
--             SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 16
--     CO-ROUTINE _w
--       SEARCH _t USING INDEX rooms(owner_id) (owner_id=? AND rowid<?)
--       SCALAR SUBQUERY 13
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--       CORRELATED SCALAR SUBQUERY 12
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _w
--     SCALAR SUBQUERY 15
--       SCAN _peeked
--   SCALAR SUBQUERY 17
--     SCAN _counted

-- GET /api/rooms?filter[size][in]=1,2.5&sort=name,-size → 200
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
    FROM "_w1")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."_f0" AND _w."size" IN (SELECT value AS item
            FROM json_each(?)))), 0)
    FROM (SELECT *
      FROM (SELECT _t."size" AS "size", _t."name" AS "name", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
        WHERE _t."id" = +_k.k)
      UNION ALL
      SELECT *
      FROM (SELECT _t."size" AS "size", _t."name" AS "name", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
        WHERE _t."owner_id" = +_k.k) 
      LIMIT CASE WHEN (SELECT count(*)
        FROM "_l0") <= 100000 THEN (100000 - (SELECT count(*)
          FROM "_l0")) + 1 ELSE 0 END) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."name", _w."size", _w."id"
  FROM (SELECT *
    FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
      WHERE _t."id" = +_k.k)
    UNION ALL
    SELECT *
    FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
      WHERE _t."owner_id" = +_k.k) 
    LIMIT CASE WHEN (SELECT count(*)
      FROM "_l0") <= 100000 THEN CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= (100000 - (SELECT count(*)
        FROM "_l0")) THEN -1 ELSE 0 END ELSE 0 END) AS _w
  WHERE (_w."_f0" AND _w."size" IN (SELECT value AS item
      FROM json_each(?)))
  ORDER BY _w."name", _w."size" DESC, _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."owner_id" AS "owner_id", _sorted."name", _r."archived_at" AS "archived_at", _sorted."size"
  FROM _sorted CROSS JOIN "rooms" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."owner_id"), 0) + ifnull(octet_length(_r."name"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'owner_id', _page."owner_id", 'name', _page."name", 'archived_at', CASE WHEN _page."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."archived_at" ELSE CAST(_page."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."name", CASE WHEN _page."size" IS NOT NULL THEN CASE WHEN abs(_page."size") = 9e999 THEN json_array('r', CASE WHEN _page."size" > 0 THEN 1 ELSE -1 END, 1024) ELSE json_array('r', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END) END END, json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
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
--               SCALAR SUBQUERY 25
--                 SCAN _l0
--               SCALAR SUBQUERY 26
--                 MATERIALIZE _counted
--                   SCAN CONSTANT ROW
--                   SCALAR SUBQUERY 18
--                     CO-ROUTINE _w
--                       COMPOUND QUERY
--                         LEFT-MOST SUBQUERY
--                           SCALAR SUBQUERY 15
--                             SCAN _l0
--                           SCALAR SUBQUERY 16
--                             SCAN _l0
--                           SCAN _k
--                           SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--                           LIST SUBQUERY 10
--                             SCAN _w0
--                         UNION ALL
--                           MATERIALIZE _w1
--                             SCAN CONSTANT ROW
--                           SCAN _k
--                           SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--                           LIST SUBQUERY 13
--                             SCAN _w0
--                     SCAN _w
--                     LIST SUBQUERY 9
--                       SCAN json_each VIRTUAL TABLE INDEX 1:
--                 SCAN _counted
--               SCALAR SUBQUERY 27
--                 SCAN _l0
--               SCAN _k
--               SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--               LIST SUBQUERY 20
--                 SCAN _w0
--             UNION ALL
--               SCAN _k
--               SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--               LIST SUBQUERY 23
--                 SCAN _w0
--         SCAN _w
--         LIST SUBQUERY 29
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 32
--     SCAN _page
--   SCALAR SUBQUERY 33
--     SCAN _page
--   SCALAR SUBQUERY 34
--     SCAN _counted
--   SCALAR SUBQUERY 35
--     SCAN _counted
--   SCALAR SUBQUERY 36
--     SCAN _l0

-- GET /api/messages → 200
WITH "_l0" AS MATERIALIZED (SELECT "_x_0_0_m"."room_id" AS k, 1 AS ok
  FROM "room_members" AS "_x_0_0_m" INDEXED BY "room_members(user_id)"
  WHERE "_x_0_0_m"."user_id" = ?
  LIMIT 100001), "_w0" AS MATERIALIZED (SELECT 0 AS w, k
  FROM (SELECT DISTINCT k
    FROM "_l0"
    WHERE ok AND k IS NOT NULL)), _keys AS MATERIALIZED (SELECT w, k
  FROM "_w0"), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."id" AS "id"
      FROM "_w0" AS _k CROSS JOIN "messages" AS _t INDEXED BY "messages(room_id,created_at)"
      WHERE _t."room_id" = +_k.k
      LIMIT CASE WHEN (SELECT count(*)
        FROM "_l0") <= 100000 THEN (100000 - (SELECT count(*)
          FROM "_l0")) + 1 ELSE 0 END) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id"
    FROM "_w0" AS _k CROSS JOIN "messages" AS _t INDEXED BY "messages(room_id,created_at)"
    WHERE _t."room_id" = +_k.k
    LIMIT CASE WHEN (SELECT count(*)
      FROM "_l0") <= 100000 THEN CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= (100000 - (SELECT count(*)
        FROM "_l0")) THEN -1 ELSE 0 END ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."room_id" AS "room_id", _r."author_id" AS "author_id", _r."body" AS "body", _r."created_at" AS "created_at", _r."attachment" AS "attachment"
  FROM _sorted CROSS JOIN "messages" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."author_id"), 0) + ifnull(octet_length(_r."body"), 0) + ifnull(octet_length(_r."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           MATERIALIZE _w0
--             CO-ROUTINE (subquery-2)
--               MATERIALIZE _l0
--                 SEARCH _x_0_0_m USING INDEX room_members(user_id) (user_id=?)
--               SCAN _l0
--               USE TEMP B-TREE FOR DISTINCT
--             SCAN (subquery-2)
--           SCALAR SUBQUERY 10
--             SCAN _l0
--           SCALAR SUBQUERY 11
--             MATERIALIZE _counted
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 8
--                 CO-ROUTINE _w
--                   SCALAR SUBQUERY 5
--                     SCAN _l0
--                   SCALAR SUBQUERY 6
--                     SCAN _l0
--                   SCAN _k
--                   SEARCH _t USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--                 SCAN _w
--             SCAN _counted
--           SCALAR SUBQUERY 12
--             SCAN _l0
--           SCAN _k
--           SEARCH _t USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 16
--     SCAN _page
--   SCALAR SUBQUERY 17
--     SCAN _page
--   SCALAR SUBQUERY 18
--     SCAN _counted
--   SCALAR SUBQUERY 19
--     SCAN _counted
--   SCALAR SUBQUERY 20
--     SCAN _l0

-- GET /api/messages?sort=created_at&total=none → 200
WITH "_l0" AS MATERIALIZED (SELECT "_x_0_0_m"."room_id" AS k, 1 AS ok
  FROM "room_members" AS "_x_0_0_m" INDEXED BY "room_members(user_id)"
  WHERE "_x_0_0_m"."user_id" = ?
  LIMIT 100001), "_w0" AS MATERIALIZED (SELECT 0 AS w, k
  FROM (SELECT DISTINCT k
    FROM "_l0"
    WHERE ok AND k IS NOT NULL)), _keys AS MATERIALIZED (SELECT w, k
  FROM "_w0"), _page AS MATERIALIZED (SELECT _w."id", _w."room_id", _w."author_id", _w."body", _w."created_at", _w."attachment"
  FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment"
    FROM (WITH _q(w, k, p, "_o0", "_o1") AS (SELECT _keys.w AS w, _keys.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _keys CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = (SELECT _y0."id"
          FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
          WHERE _y0."room_id" = +_keys.k
          ORDER BY _y0."created_at", _y0."id"
          LIMIT 1)
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _q CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND (_y0."created_at" = _q."_o0" AND _y0."id" > _q."_o1"))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND _y0."created_at" > _q."_o0")
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        ORDER BY "_o0", "_o1"
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN 100000 ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "messages" AS _t NOT INDEXED
    WHERE (_t."id" = _k.p AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."body"), 0) + ifnull(octet_length(_t."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)) AS _w
  WHERE 1
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."created_at" AS TEXT)), json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, NULL AS counted, CASE WHEN NOT _size.found > ? THEN (SELECT count(*)
  FROM (SELECT 1
    FROM (WITH _q(w, k, p, "_o0", "_o1") AS (SELECT _keys.w AS w, _keys.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _keys CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = (SELECT _y0."id"
          FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
          WHERE _y0."room_id" = +_keys.k
          ORDER BY _y0."created_at", _y0."id"
          LIMIT 1)
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _q CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND (_y0."created_at" = _q."_o0" AND _y0."id" > _q."_o1"))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND _y0."created_at" > _q."_o0")
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        ORDER BY "_o0", "_o1"
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN 100000 ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "messages" AS _t NOT INDEXED
    WHERE _t."id" = _k.p) AS _w) END AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _q
--         SCALAR SUBQUERY 9
--           MATERIALIZE _l0
--             SEARCH _x_0_0_m USING INDEX room_members(user_id) (user_id=?)
--           SCAN _l0
--         SETUP
--           MATERIALIZE _keys
--             MATERIALIZE _w0
--               CO-ROUTINE (subquery-2)
--                 SCAN _l0
--                 USE TEMP B-TREE FOR DISTINCT
--               SCAN (subquery-2)
--             SCAN _w0
--           SCAN _keys
--           SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 5
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--         RECURSIVE STEP
--           SCAN _q
--           SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 7
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--           CORRELATED SCALAR SUBQUERY 8
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--       SCAN _q
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 14
--     SCAN _page
--   SCALAR SUBQUERY 15
--     SCAN _page
--   SCALAR SUBQUERY 24
--     CO-ROUTINE _q
--       SCALAR SUBQUERY 20
--         SCAN _l0
--       SETUP
--         SCAN _keys
--         SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 16
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--       RECURSIVE STEP
--         SCAN _q
--         SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 18
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--         CORRELATED SCALAR SUBQUERY 19
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--     SCAN _q
--     SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--   SCALAR SUBQUERY 25
--     SCAN _l0

-- GET /api/messages?where[room_id]=1&sort=-created_at → 200
WITH _gates AS MATERIALIZED (SELECT *, ("_g0" IS 2) AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."created_at" AS "created_at", _t."id" AS "id"
      FROM "messages" AS _t INDEXED BY "messages(room_id,created_at)"
      WHERE _t."room_id" = ?
      LIMIT CASE WHEN (SELECT open
        FROM _gates) THEN 100001 ELSE 0 END) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."created_at", _w."id"
  FROM (SELECT _t."created_at" AS "created_at", _t."id" AS "id"
    FROM "messages" AS _t INDEXED BY "messages(room_id,created_at)"
    WHERE _t."room_id" = ?
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."created_at" DESC, _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."room_id" AS "room_id", _r."author_id" AS "author_id", _r."body" AS "body", _sorted."created_at", _r."attachment" AS "attachment"
  FROM _sorted CROSS JOIN "messages" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."author_id"), 0) + ifnull(octet_length(_r."body"), 0) + ifnull(octet_length(_r."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."created_at" AS TEXT)), json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched
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
--   SCALAR SUBQUERY 13
--     SCAN _page
--   SCALAR SUBQUERY 14
--     SCAN _page
--   SCALAR SUBQUERY 15
--     SCAN _counted
--   SCALAR SUBQUERY 16
--     SCAN _counted
--   SCALAR SUBQUERY 17
--     SCAN _gates

-- GET /api/messages?where[room_id]=1&where[author_id]=nobody → 200
WITH _gates AS MATERIALIZED (SELECT *, ("_g0" IS 2) AS open
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_g0")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE _w."room_id" = ?), 0)
    FROM (SELECT _t."room_id" AS "room_id", _t."id" AS "id"
      FROM "messages" AS _t INDEXED BY "messages(author_id)"
      WHERE _t."author_id" = ?
      ORDER BY _t."id"
      LIMIT CASE WHEN (SELECT open
        FROM _gates) THEN 100000 ELSE 0 END) AS _w) AS counted), _peeked AS (SELECT *
  FROM _page
  LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."room_id", _w."author_id", _w."body", _w."created_at", _w."attachment"
  FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment"
    FROM "messages" AS _t INDEXED BY "messages(author_id)"
    WHERE (_t."author_id" = ? AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."body"), 0) + ifnull(octet_length(_t."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE _w."room_id" = ?
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), 0)
  FROM (SELECT _t."room_id" AS "room_id", _t."id" AS "id"
    FROM "messages" AS _t INDEXED BY "messages(author_id)"
    WHERE (_t."author_id" = ? AND _t."id" <= (SELECT "id"
        FROM _peeked))
    ORDER BY _t."id"
    LIMIT CASE WHEN (SELECT open
      FROM _gates) THEN 100000 ELSE 0 END) AS _w
  WHERE _w."id" <= (SELECT "id"
    FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
  FROM _counted) END AS examined, (SELECT "_g0" IS NOT NULL
  FROM _gates) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 9
--           MATERIALIZE _gates
--             CO-ROUTINE (subquery-2)
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 1
--                 SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--             SCAN (subquery-2)
--           SCAN _gates
--         SEARCH _t USING INDEX messages(author_id) (author_id=?)
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 12
--     SCAN _page
--   SCALAR SUBQUERY 13
--     SCAN _page
--   SCALAR SUBQUERY 14
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 6
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 4
--             SCAN _gates
--           SEARCH _t USING INDEX messages(author_id) (author_id=?)
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 19
--     CO-ROUTINE _w
--       SCALAR SUBQUERY 16
--         SCAN _gates
--       SEARCH _t USING INDEX messages(author_id) (author_id=? AND rowid<?)
--       SCALAR SUBQUERY 15
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--     SCAN _w
--     SCALAR SUBQUERY 18
--       SCAN _peeked
--   SCALAR SUBQUERY 20
--     SCAN _counted
--   SCALAR SUBQUERY 21
--     SCAN _gates

-- GET /api/messages?filter[author_id][in]=a,b&filter[created_at][gt]=5 → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (_w."created_at" > ? AND (_w."_p0" IS 2))), count(_w."_p0"))
    FROM (SELECT _t."created_at" AS "created_at", _t."room_id" AS "room_id", _t."id" AS "id", CASE WHEN _t."created_at" > ? THEN (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = _t."room_id" AND "_x_m"."user_id" = ?)
        LIMIT 1) END AS "_p0"
      FROM "messages" AS _t INDEXED BY "messages(author_id)"
      WHERE _t."author_id" IN (SELECT value AS item
        FROM json_each(?))
      LIMIT 100001) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."id"
  FROM (SELECT _t."id" AS "id", _t."created_at" AS "created_at", _t."room_id" AS "room_id", CASE WHEN _t."created_at" > ? THEN (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) END AS "_p0"
    FROM "messages" AS _t INDEXED BY "messages(author_id)"
    WHERE _t."author_id" IN (SELECT value AS item
      FROM json_each(?))
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE (_w."created_at" > ? AND (_w."_p0" IS 2))
  ORDER BY _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."room_id" AS "room_id", _r."author_id" AS "author_id", _r."body" AS "body", _r."created_at" AS "created_at", _r."attachment" AS "attachment"
  FROM _sorted CROSS JOIN "messages" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."author_id"), 0) + ifnull(octet_length(_r."body"), 0) + ifnull(octet_length(_r."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 8
--             MATERIALIZE _counted
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 4
--                 CO-ROUTINE _w
--                   SEARCH _t USING INDEX messages(author_id) (author_id=?)
--                   LIST SUBQUERY 2
--                     SCAN json_each VIRTUAL TABLE INDEX 1:
--                   CORRELATED SCALAR SUBQUERY 1
--                     SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--                 SCAN _w
--             SCAN _counted
--           SEARCH _t USING INDEX messages(author_id) (author_id=?)
--           LIST SUBQUERY 7
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--           CORRELATED SCALAR SUBQUERY 6
--             SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 12
--     SCAN _page
--   SCALAR SUBQUERY 13
--     SCAN _page
--   SCALAR SUBQUERY 14
--     SCAN _counted
--   SCALAR SUBQUERY 15
--     SCAN _counted

-- GET /api/room_members → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE 1), 0)
    FROM (SELECT _t."room_id" AS "room_id"
      FROM "room_members" AS _t INDEXED BY "room_members(user_id)"
      WHERE _t."user_id" = ?
      LIMIT 100001) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."room_id", _w."_rowid_"
  FROM (SELECT _t."room_id" AS "room_id", _t."_rowid_" AS "_rowid_"
    FROM "room_members" AS _t INDEXED BY "room_members(user_id)"
    WHERE _t."user_id" = ?
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE 1
  ORDER BY _w."room_id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."room_id", _r."user_id" AS "user_id", _r."role" AS "role"
  FROM _sorted CROSS JOIN "room_members" AS _r NOT INDEXED
  WHERE (_r."_rowid_" = _sorted."_rowid_" AND CASE WHEN (ifnull(octet_length(_r."user_id"), 0) + ifnull(octet_length(_r."role"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'user_id', _page."user_id", 'role', _page."role"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."room_id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
  FROM _counted) AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
--         CO-ROUTINE _w
--           SCALAR SUBQUERY 4
--             MATERIALIZE _counted
--               SCAN CONSTANT ROW
--               SCALAR SUBQUERY 2
--                 CO-ROUTINE _w
--                   SEARCH _t USING INDEX room_members(user_id) (user_id=?)
--                 SCAN _w
--             SCAN _counted
--           SEARCH _t USING INDEX room_members(user_id) (user_id=?)
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     SCAN _page
--   SCALAR SUBQUERY 10
--     SCAN _counted
--   SCALAR SUBQUERY 11
--     SCAN _counted

-- GET /api/reports → 200
SELECT *
FROM (SELECT (SELECT max(version)
    FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
  FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0) LEFT JOIN (WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE ((_w."_p0" IS 2) OR (_w."_p1" IS 2))), (count(_w."_p0") + count(_w."_p1")))
      FROM (SELECT _t."author_id" AS "author_id", _t."kind" AS "kind", _t."id" AS "id", (SELECT CASE WHEN "_x_u"."role" = ? THEN 2 ELSE 1 END
          FROM "_users" AS "_x_u" 
          WHERE "_x_u"."id" = _t."author_id"
          LIMIT 1) AS "_p0", CASE WHEN EXISTS (SELECT 1
          FROM "_users" AS "_x_u"
          WHERE "_x_u"."role" = _t."kind") THEN 2 END AS "_p1"
        FROM "reports" AS _t NOT INDEXED
        WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."kind"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
        ORDER BY _t."id"
        LIMIT 100000) AS _w) AS counted), _peeked AS (SELECT *
    FROM _page
    LIMIT 1 OFFSET ?), _page AS MATERIALIZED (SELECT _w."id", _w."author_id", _w."kind"
    FROM (SELECT _t."id" AS "id", _t."author_id" AS "author_id", _t."kind" AS "kind", (SELECT CASE WHEN "_x_u"."role" = ? THEN 2 ELSE 1 END
        FROM "_users" AS "_x_u" 
        WHERE "_x_u"."id" = _t."author_id"
        LIMIT 1) AS "_p0", CASE WHEN EXISTS (SELECT 1
        FROM "_users" AS "_x_u"
        WHERE "_x_u"."role" = _t."kind") THEN 2 END AS "_p1"
      FROM "reports" AS _t NOT INDEXED
      WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."kind"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      ORDER BY _t."id"
      LIMIT 100000) AS _w
    WHERE ((_w."_p0" IS 2) OR (_w."_p1" IS 2))
    LIMIT ? + 1 OFFSET ?)
  SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'author_id', _page."author_id", 'kind', _page."kind"), ',\n')
    FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
    FROM _page
    LIMIT 1 OFFSET ? - 1) END AS last_key, (SELECT counted
    FROM _counted) AS counted, CASE WHEN _size.found > ? THEN (SELECT json_array(count(*), (count(_w."_p0") + count(_w."_p1")))
    FROM (SELECT _t."author_id" AS "author_id", _t."kind" AS "kind", _t."id" AS "id", (SELECT CASE WHEN "_x_u"."role" = ? THEN 2 ELSE 1 END
        FROM "_users" AS "_x_u" 
        WHERE "_x_u"."id" = _t."author_id"
        LIMIT 1) AS "_p0", CASE WHEN EXISTS (SELECT 1
        FROM "_users" AS "_x_u"
        WHERE "_x_u"."role" = _t."kind") THEN 2 END AS "_p1"
      FROM "reports" AS _t NOT INDEXED
      WHERE (1 AND _t."id" <= (SELECT "id"
          FROM _peeked) AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."kind"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      ORDER BY _t."id"
      LIMIT 100000) AS _w
    WHERE _w."id" <= (SELECT "id"
      FROM _peeked)) ELSE (SELECT json_array(min(counted ->> 0, 100000), ifnull(counted ->> 4, counted ->> 2))
    FROM _counted) END AS examined, 0 AS gate_visits, NULL AS searched
  FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
    FROM _page) AS _size) ON 1;
--   CO-ROUTINE (subquery-2)
--     SCAN CONSTANT ROW
--   MATERIALIZE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCAN _t
--         CORRELATED SCALAR SUBQUERY 10
--           SEARCH _x_u USING PRIMARY KEY (id=?)
--         CORRELATED SCALAR SUBQUERY 11
--           SCAN _x_u
--       SCAN _w
--     SCAN _page
--   SCAN (subquery-2)
--   SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--   SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--   SCAN _size LEFT-JOIN
--   SCALAR SUBQUERY 1
--     SEARCH _schema
--   SCALAR SUBQUERY 14
--     SCAN _page
--   SCALAR SUBQUERY 15
--     SCAN _page
--   SCALAR SUBQUERY 16
--     MATERIALIZE _counted
--       SCAN CONSTANT ROW
--       SCALAR SUBQUERY 7
--         CO-ROUTINE _w
--           SCAN _t
--           CORRELATED SCALAR SUBQUERY 4
--             SEARCH _x_u USING PRIMARY KEY (id=?)
--           CORRELATED SCALAR SUBQUERY 5
--             SCAN _x_u
--         SCAN _w
--     SCAN _counted
--   SCALAR SUBQUERY 22
--     CO-ROUTINE _w
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid<?)
--       SCALAR SUBQUERY 19
--         MATERIALIZE _peeked
--           SCAN _page
--         SCAN _peeked
--       CORRELATED SCALAR SUBQUERY 17
--         SEARCH _x_u USING PRIMARY KEY (id=?)
--       CORRELATED SCALAR SUBQUERY 18
--         SCAN _x_u
--     SCAN _w
--     SCALAR SUBQUERY 21
--       SCAN _peeked
--   SCALAR SUBQUERY 23
--     SCAN _counted

-- GET what follows /api/tags?limit=2 → 200
WITH _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND _t."id" > ? AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    ORDER BY _t."id"
    LIMIT 100000) AS _w
  WHERE 1
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, NULL AS counted, CASE WHEN NOT _size.found > ? THEN (SELECT count(*)
  FROM (SELECT 1
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND _t."id" > ?)
    ORDER BY _t."id"
    LIMIT 100000) AS _w) END AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SEARCH _t USING INTEGER PRIMARY KEY (rowid>?)
--       SCAN _w
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 3
--     SCAN _page
--   SCALAR SUBQUERY 4
--     SCAN _page
--   SCALAR SUBQUERY 6
--     CO-ROUTINE _w
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid>?)
--     SCAN _w

-- GET what follows /api/tags?limit=2&sort=color,-label → 200
WITH _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (((_w."color" = ? AND _w."label" = ? AND _w."id" > ?) OR (_w."color" = ? AND _w."label" < ?) OR _w."color" > ?) AND 1)), 0)
    FROM (SELECT _t."color" AS "color", _t."label" AS "label", _t."id" AS "id"
      FROM "tags" AS _t NOT INDEXED
      WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
      LIMIT 100001) AS _w) AS counted), _page AS MATERIALIZED (SELECT _w."id", _w."label", _w."color"
  FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
    FROM "tags" AS _t NOT INDEXED
    WHERE (1 AND CASE WHEN (ifnull(octet_length(_t."label"), 0) + ifnull(octet_length(_t."color"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)
    LIMIT CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= 100000 THEN -1 ELSE 0 END) AS _w
  WHERE (((_w."color" = ? AND _w."label" = ? AND _w."id" > ?) OR (_w."color" = ? AND _w."label" < ?) OR _w."color" > ?) AND 1)
  ORDER BY _w."color", _w."label" DESC, _w."id"
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'label', _page."label", 'color', _page."color"), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."color", _page."label", json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, NULL AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, 0 AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _w
--         SCALAR SUBQUERY 4
--           MATERIALIZE _counted
--             SCAN CONSTANT ROW
--             SCALAR SUBQUERY 2
--               CO-ROUTINE _w
--                 SCAN _t
--               SCAN _w
--           SCAN _counted
--         SCAN _t
--       SCAN _w
--       USE TEMP B-TREE FOR ORDER BY
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 7
--     SCAN _page
--   SCALAR SUBQUERY 8
--     SCAN _page
--   SCALAR SUBQUERY 9
--     SCAN _counted

-- GET what follows /api/rooms?limit=2&sort=name,-size → 200
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
    FROM "_w1")), _counted AS MATERIALIZED (SELECT (SELECT json_array(count(*), count(*) FILTER (WHERE (((_w."name" = ? AND _w."size" IS NULL AND _w."id" > ?) OR _w."name" > ?) AND (_w."_f0" AND 1))), 0)
    FROM (SELECT *
      FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
        WHERE _t."id" = +_k.k)
      UNION ALL
      SELECT *
      FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
              FROM "_w0"), 0)) AS "_f0"
        FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
        WHERE _t."owner_id" = +_k.k) 
      LIMIT CASE WHEN (SELECT count(*)
        FROM "_l0") <= 100000 THEN (100000 - (SELECT count(*)
          FROM "_l0")) + 1 ELSE 0 END) AS _w) AS counted), _sorted AS MATERIALIZED (SELECT _w."name", _w."size", _w."id"
  FROM (SELECT *
    FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w0" AS _k CROSS JOIN "rooms" AS _t NOT INDEXED
      WHERE _t."id" = +_k.k)
    UNION ALL
    SELECT *
    FROM (SELECT _t."name" AS "name", _t."size" AS "size", _t."id" AS "id", NOT (_k.w > 0 AND ifnull(_t."id" IN (SELECT k
            FROM "_w0"), 0)) AS "_f0"
      FROM "_w1" AS _k CROSS JOIN "rooms" AS _t INDEXED BY "rooms(owner_id)"
      WHERE _t."owner_id" = +_k.k) 
    LIMIT CASE WHEN (SELECT count(*)
      FROM "_l0") <= 100000 THEN CASE WHEN (SELECT counted ->> 0
      FROM _counted) <= (100000 - (SELECT count(*)
        FROM "_l0")) THEN -1 ELSE 0 END ELSE 0 END) AS _w
  WHERE (((_w."name" = ? AND _w."size" IS NULL AND _w."id" > ?) OR _w."name" > ?) AND (_w."_f0" AND 1))
  ORDER BY _w."name", _w."size" DESC, _w."id"
  LIMIT ? + 1 OFFSET ?), _page AS MATERIALIZED (SELECT _sorted."id", _r."owner_id" AS "owner_id", _sorted."name", _r."archived_at" AS "archived_at", _sorted."size"
  FROM _sorted CROSS JOIN "rooms" AS _r NOT INDEXED
  WHERE (_r."id" = _sorted."id" AND CASE WHEN (ifnull(octet_length(_r."owner_id"), 0) + ifnull(octet_length(_r."name"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END))
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'owner_id', _page."owner_id", 'name', _page."name", 'archived_at', CASE WHEN _page."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."archived_at" ELSE CAST(_page."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(_page."name", CASE WHEN _page."size" IS NOT NULL THEN CASE WHEN abs(_page."size") = 9e999 THEN json_array('r', CASE WHEN _page."size" > 0 THEN 1 ELSE -1 END, 1024) ELSE json_array('r', CASE WHEN typeof(_page."size") <> 'real' THEN _page."size"
    WHEN (_page."size" = 0.0 OR abs(_page."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _page."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_page."size") > 1e+200 THEN _page."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_page."size") > 1.0 THEN _page."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_page."size") < 1e-200 THEN _page."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _page."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_page."size") > 1e+200 THEN 896 WHEN abs(_page."size") > 1.0 THEN 448 WHEN abs(_page."size") < 1e-200 THEN -896 ELSE -448 END) END) END END, json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, NULL AS counted, (SELECT json_array(counted ->> 0, counted ->> 2)
  FROM _counted) AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       MATERIALIZE _sorted
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
--               SCALAR SUBQUERY 24
--                 SCAN _l0
--               SCALAR SUBQUERY 25
--                 MATERIALIZE _counted
--                   SCAN CONSTANT ROW
--                   SCALAR SUBQUERY 17
--                     CO-ROUTINE _w
--                       COMPOUND QUERY
--                         LEFT-MOST SUBQUERY
--                           SCALAR SUBQUERY 14
--                             SCAN _l0
--                           SCALAR SUBQUERY 15
--                             SCAN _l0
--                           SCAN _k
--                           SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--                           LIST SUBQUERY 9
--                             SCAN _w0
--                         UNION ALL
--                           MATERIALIZE _w1
--                             SCAN CONSTANT ROW
--                           SCAN _k
--                           SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--                           LIST SUBQUERY 12
--                             SCAN _w0
--                     SCAN _w
--                 SCAN _counted
--               SCALAR SUBQUERY 26
--                 SCAN _l0
--               SCAN _k
--               SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--               LIST SUBQUERY 19
--                 SCAN _w0
--             UNION ALL
--               SCAN _k
--               SEARCH _t USING INDEX rooms(owner_id) (owner_id=?)
--               LIST SUBQUERY 22
--                 SCAN _w0
--         SCAN _w
--         USE TEMP B-TREE FOR ORDER BY
--       SCAN _sorted
--       SEARCH _r USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 30
--     SCAN _page
--   SCALAR SUBQUERY 31
--     SCAN _page
--   SCALAR SUBQUERY 32
--     SCAN _counted
--   SCALAR SUBQUERY 33
--     SCAN _l0

-- GET what follows /api/messages?limit=1&sort=created_at → 200
WITH "_l0" AS MATERIALIZED (SELECT "_x_0_0_m"."room_id" AS k, 1 AS ok
  FROM "room_members" AS "_x_0_0_m" INDEXED BY "room_members(user_id)"
  WHERE "_x_0_0_m"."user_id" = ?
  LIMIT 100001), "_w0" AS MATERIALIZED (SELECT 0 AS w, k
  FROM (SELECT DISTINCT k
    FROM "_l0"
    WHERE ok AND k IS NOT NULL)), _keys AS MATERIALIZED (SELECT w, k
  FROM "_w0"), _page AS MATERIALIZED (SELECT _w."id", _w."room_id", _w."author_id", _w."body", _w."created_at", _w."attachment"
  FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment"
    FROM (WITH _q(w, k, p, "_o0", "_o1") AS (SELECT _keys.w AS w, _keys.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _keys CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_keys.k AND (_y0."created_at" = ? AND _y0."id" > ?))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_keys.k AND _y0."created_at" > ?)
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _q CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND (_y0."created_at" = _q."_o0" AND _y0."id" > _q."_o1"))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND _y0."created_at" > _q."_o0")
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        ORDER BY "_o0", "_o1"
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN 100000 ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "messages" AS _t NOT INDEXED
    WHERE (_t."id" = _k.p AND CASE WHEN (ifnull(octet_length(_t."author_id"), 0) + ifnull(octet_length(_t."body"), 0) + ifnull(octet_length(_t."attachment"), 0)) > 4194304 / (? + 1) THEN json_extract('{}', 'svc:00000000000000000000000000000000:long value') ELSE 1 END)) AS _w
  WHERE 1
  LIMIT ? + 1 OFFSET ?)
SELECT _size.found AS found, _size.fitting AS fitting, (SELECT group_concat(json_object('id', CASE WHEN _page."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."id" ELSE CAST(_page."id" AS TEXT) END, 'room_id', CASE WHEN _page."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."room_id" ELSE CAST(_page."room_id" AS TEXT) END, 'author_id', _page."author_id", 'body', _page."body", 'created_at', CASE WHEN _page."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _page."created_at" ELSE CAST(_page."created_at" AS TEXT) END, 'attachment', CASE WHEN _page."attachment" IS NOT NULL THEN hex(_page."attachment") END), ',\n')
  FROM _page) AS rows, CASE WHEN _size.found > _size.fitting THEN (SELECT json_array(json_array('i', CAST(_page."created_at" AS TEXT)), json_array('i', CAST(_page."id" AS TEXT)))
  FROM _page
  LIMIT 1 OFFSET ? - 1) END AS last_key, NULL AS counted, CASE WHEN NOT _size.found > ? THEN (SELECT count(*)
  FROM (SELECT 1
    FROM (WITH _q(w, k, p, "_o0", "_o1") AS (SELECT _keys.w AS w, _keys.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _keys CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_keys.k AND (_y0."created_at" = ? AND _y0."id" > ?))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_keys.k AND _y0."created_at" > ?)
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        UNION ALL
        SELECT _q.w AS w, _q.k AS k, _h."id" AS p, _h."created_at" AS "_o0", _h."id" AS "_o1"
        FROM _q CROSS JOIN "messages" AS _h NOT INDEXED
        WHERE _h."id" = coalesce((SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND (_y0."created_at" = _q."_o0" AND _y0."id" > _q."_o1"))
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1), (SELECT _y0."id"
            FROM "messages" AS _y0 INDEXED BY "messages(room_id,created_at)"
            WHERE (_y0."room_id" = +_q.k AND _y0."created_at" > _q."_o0")
            ORDER BY _y0."created_at", _y0."id"
            LIMIT 1))
        ORDER BY "_o0", "_o1"
        LIMIT CASE WHEN (SELECT count(*)
          FROM "_l0") <= 100000 THEN 100000 ELSE 0 END)
      SELECT *
      FROM _q) AS _k CROSS JOIN "messages" AS _t NOT INDEXED
    WHERE _t."id" = _k.p) AS _w) END AS examined, json_array(0, (SELECT count(*)
    FROM "_l0")) AS gate_visits, NULL AS searched
FROM (SELECT count(*) AS found, min(count(*), ?) AS fitting
  FROM _page) AS _size;
--   CO-ROUTINE _size
--     MATERIALIZE _page
--       CO-ROUTINE _q
--         SCALAR SUBQUERY 10
--           MATERIALIZE _l0
--             SEARCH _x_0_0_m USING INDEX room_members(user_id) (user_id=?)
--           SCAN _l0
--         SETUP
--           MATERIALIZE _keys
--             MATERIALIZE _w0
--               CO-ROUTINE (subquery-2)
--                 SCAN _l0
--                 USE TEMP B-TREE FOR DISTINCT
--               SCAN (subquery-2)
--             SCAN _w0
--           SCAN _keys
--           SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 5
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--           CORRELATED SCALAR SUBQUERY 6
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--         RECURSIVE STEP
--           SCAN _q
--           SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--           CORRELATED SCALAR SUBQUERY 8
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--           CORRELATED SCALAR SUBQUERY 9
--             SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--       SCAN _q
--       SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN _page
--   SCAN _size
--   SCALAR SUBQUERY 15
--     SCAN _page
--   SCALAR SUBQUERY 16
--     SCAN _page
--   SCALAR SUBQUERY 26
--     CO-ROUTINE _q
--       SCALAR SUBQUERY 22
--         SCAN _l0
--       SETUP
--         SCAN _keys
--         SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 17
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--         CORRELATED SCALAR SUBQUERY 18
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--       RECURSIVE STEP
--         SCAN _q
--         SEARCH _h USING INTEGER PRIMARY KEY (rowid=?)
--         CORRELATED SCALAR SUBQUERY 20
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at=? AND rowid>?)
--         CORRELATED SCALAR SUBQUERY 21
--           SEARCH _y0 USING COVERING INDEX messages(room_id,created_at) (room_id=? AND created_at>?)
--     SCAN _q
--     SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--   SCALAR SUBQUERY 27
--     SCAN _l0
