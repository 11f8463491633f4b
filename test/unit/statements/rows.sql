-- GET /api/tags/1 → 200
SELECT CASE WHEN ? THEN 1 ELSE 0 END AS admitted, CASE WHEN (ifnull(octet_length(_w."label"), 0) + ifnull(octet_length(_w."color"), 0)) <= 33554432 THEN json_object('id', CASE WHEN _w."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."id" ELSE CAST(_w."id" AS TEXT) END, 'label', _w."label", 'color', _w."color") ELSE (ifnull(octet_length(_w."label"), 0) + ifnull(octet_length(_w."color"), 0)) END AS row, 0 AS probed
FROM (SELECT _t."id" AS "id", _t."label" AS "label", _t."color" AS "color"
  FROM "tags" AS _t
  WHERE _t."id" = ?) AS _w;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)

-- GET /api/rooms/1 → 200
SELECT CASE WHEN (_w."owner_id" = ? OR (_w."_p0" IS 2)) THEN 1 ELSE 0 END AS admitted, CASE WHEN (ifnull(octet_length(_w."owner_id"), 0) + ifnull(octet_length(_w."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN _w."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."id" ELSE CAST(_w."id" AS TEXT) END, 'owner_id', _w."owner_id", 'name', _w."name", 'archived_at', CASE WHEN _w."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."archived_at" ELSE CAST(_w."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_w."size") <> 'real' THEN _w."size"
    WHEN (_w."size" = 0.0 OR abs(_w."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _w."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_w."size") > 1e+200 THEN _w."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_w."size") > 1.0 THEN _w."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_w."size") < 1e-200 THEN _w."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _w."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_w."size") > 1e+200 THEN 896 WHEN abs(_w."size") > 1.0 THEN 448 WHEN abs(_w."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE (ifnull(octet_length(_w."owner_id"), 0) + ifnull(octet_length(_w."name"), 0)) END AS row, (_w."_p0" IS NOT NULL) AS probed
FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id", _t."name" AS "name", _t."archived_at" AS "archived_at", _t."size" AS "size", (SELECT 2
    FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM "rooms" AS _t
  WHERE _t."id" = ?
  LIMIT 1) AS _w;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)

-- GET /api/rooms/9 → 404
SELECT *
FROM (SELECT (SELECT max(version)
    FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
  FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0) LEFT JOIN (SELECT CASE WHEN (_w."owner_id" = ? OR (_w."_p0" IS 2)) THEN 1 ELSE 0 END AS admitted, CASE WHEN (ifnull(octet_length(_w."owner_id"), 0) + ifnull(octet_length(_w."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN _w."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."id" ELSE CAST(_w."id" AS TEXT) END, 'owner_id', _w."owner_id", 'name', _w."name", 'archived_at', CASE WHEN _w."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."archived_at" ELSE CAST(_w."archived_at" AS TEXT) END, 'size', CASE WHEN typeof(_w."size") <> 'real' THEN _w."size"
    WHEN (_w."size" = 0.0 OR abs(_w."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', _w."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs(_w."size") > 1e+200 THEN _w."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs(_w."size") > 1.0 THEN _w."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs(_w."size") < 1e-200 THEN _w."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE _w."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs(_w."size") > 1e+200 THEN 896 WHEN abs(_w."size") > 1.0 THEN 448 WHEN abs(_w."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE (ifnull(octet_length(_w."owner_id"), 0) + ifnull(octet_length(_w."name"), 0)) END AS row, (_w."_p0" IS NOT NULL) AS probed
  FROM (SELECT _t."id" AS "id", _t."owner_id" AS "owner_id", _t."name" AS "name", _t."archived_at" AS "archived_at", _t."size" AS "size", (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _t."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    FROM "rooms" AS _t
    WHERE _t."id" = ?
    LIMIT 1) AS _w) ON 1;
--   CO-ROUTINE (subquery-2)
--     SCAN CONSTANT ROW
--   MATERIALIZE _w
--     SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--     CORRELATED SCALAR SUBQUERY 4
--       SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--   SCAN (subquery-2)
--   SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--   SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--   SCAN _w LEFT-JOIN
--   SCALAR SUBQUERY 1
--     SEARCH _schema

-- GET /api/messages/1 → 200
SELECT CASE WHEN (_w."_p0" IS 2) THEN 1 ELSE 0 END AS admitted, CASE WHEN (ifnull(octet_length(_w."author_id"), 0) + ifnull(octet_length(_w."body"), 0) + ifnull(octet_length(_w."attachment"), 0)) <= 33554432 THEN json_object('id', CASE WHEN _w."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."id" ELSE CAST(_w."id" AS TEXT) END, 'room_id', CASE WHEN _w."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."room_id" ELSE CAST(_w."room_id" AS TEXT) END, 'author_id', _w."author_id", 'body', _w."body", 'created_at', CASE WHEN _w."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN _w."created_at" ELSE CAST(_w."created_at" AS TEXT) END, 'attachment', CASE WHEN _w."attachment" IS NOT NULL THEN hex(_w."attachment") END) ELSE (ifnull(octet_length(_w."author_id"), 0) + ifnull(octet_length(_w."body"), 0) + ifnull(octet_length(_w."attachment"), 0)) END AS row, (_w."_p0" IS NOT NULL) AS probed
FROM (SELECT _t."id" AS "id", _t."room_id" AS "room_id", _t."author_id" AS "author_id", _t."body" AS "body", _t."created_at" AS "created_at", _t."attachment" AS "attachment", (SELECT 2
    FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
    WHERE ("_x_m"."room_id" = _t."room_id" AND "_x_m"."user_id" = ?)
    LIMIT 1) AS "_p0"
  FROM "messages" AS _t
  WHERE _t."id" = ?
  LIMIT 1) AS _w;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)

-- POST /api/tags {"label":"new"} → 201
INSERT OR ABORT INTO "tags" ("label")
VALUES (?)
RETURNING CASE WHEN (ifnull(octet_length("tags"."label"), 0) + ifnull(octet_length("tags"."color"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "tags"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "tags"."id" ELSE CAST("tags"."id" AS TEXT) END, 'label', "tags"."label", 'color', "tags"."color") ELSE json_object('id', CASE WHEN "tags"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "tags"."id" ELSE CAST("tags"."id" AS TEXT) END) END AS row;

-- POST /api/tags {} → 400
INSERT OR ABORT INTO "tags" DEFAULT
VALUES
RETURNING CASE WHEN (ifnull(octet_length("tags"."label"), 0) + ifnull(octet_length("tags"."color"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "tags"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "tags"."id" ELSE CAST("tags"."id" AS TEXT) END, 'label', "tags"."label", 'color', "tags"."color") ELSE json_object('id', CASE WHEN "tags"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "tags"."id" ELSE CAST("tags"."id" AS TEXT) END) END AS row;

-- POST /api/rooms {"owner_id":"","name":"fourth","size":2.5} → 201
WITH _n AS MATERIALIZED (SELECT ? AS "owner_id", ? AS "name", ? AS "size") INSERT OR ABORT INTO "rooms" ("owner_id", "name", "size")
SELECT "owner_id", "name", "size"
FROM _n
WHERE _n."owner_id" = ?
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN ("rooms"."owner_id" = ? OR (_r."_p0" IS 2)) THEN CASE WHEN (ifnull(octet_length("rooms"."owner_id"), 0) + ifnull(octet_length("rooms"."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END, 'owner_id', "rooms"."owner_id", 'name', "rooms"."name", 'archived_at', CASE WHEN "rooms"."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."archived_at" ELSE CAST("rooms"."archived_at" AS TEXT) END, 'size', CASE WHEN typeof("rooms"."size") <> 'real' THEN "rooms"."size"
    WHEN ("rooms"."size" = 0.0 OR abs("rooms"."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', "rooms"."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs("rooms"."size") > 1e+200 THEN "rooms"."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs("rooms"."size") > 1.0 THEN "rooms"."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs("rooms"."size") < 1e-200 THEN "rooms"."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE "rooms"."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs("rooms"."size") > 1e+200 THEN 896 WHEN abs("rooms"."size") > 1.0 THEN 448 WHEN abs("rooms"."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "rooms"."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   MATERIALIZE _n
--     SCAN CONSTANT ROW
--   SCAN _n
--   SEARCH messages USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--   CORRELATED SCALAR SUBQUERY 5
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r

-- POST /api/messages {"room_id":1,"author_id":"somebody","body":"as another"} → 403
SELECT (SELECT CASE WHEN (c0,c1,c2,c3,c4) IS (?,?,?,?,?) THEN 1 ELSE json('{' || ifnull(c0, '')) END AS holds
   
  FROM (SELECT (SELECT max(version)
      FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
    FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0)) AS holds, (WITH _n AS MATERIALIZED (SELECT ? AS "room_id", ? AS "author_id", ? AS "body")
  SELECT (_g."_p0" IS NOT NULL) AS probed
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _n."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    FROM _n
    WHERE 1
    LIMIT 1) AS _g) AS v0;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 4
--     CO-ROUTINE (subquery-2)
--       SCAN CONSTANT ROW
--     SCAN (subquery-2)
--     SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--     SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--   SCALAR SUBQUERY 8
--     CO-ROUTINE _g
--       MATERIALIZE _n
--         SCAN CONSTANT ROW
--       SCAN _n
--       CORRELATED SCALAR SUBQUERY 6
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
WITH _n AS MATERIALIZED (SELECT ? AS "room_id", ? AS "author_id", ? AS "body") INSERT OR ABORT INTO "messages" ("room_id", "author_id", "body")
SELECT "room_id", "author_id", "body"
FROM _n
WHERE EXISTS (SELECT 1
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = _n."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _g
  WHERE (_n."author_id" = ? AND (_g."_p0" IS 2)))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN (_r."_p0" IS 2) THEN CASE WHEN (ifnull(octet_length("messages"."author_id"), 0) + ifnull(octet_length("messages"."body"), 0) + ifnull(octet_length("messages"."attachment"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END, 'room_id', CASE WHEN "messages"."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."room_id" ELSE CAST("messages"."room_id" AS TEXT) END, 'author_id', "messages"."author_id", 'body', "messages"."body", 'created_at', CASE WHEN "messages"."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."created_at" ELSE CAST("messages"."created_at" AS TEXT) END, 'attachment', CASE WHEN "messages"."attachment" IS NOT NULL THEN hex("messages"."attachment") END) ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   MATERIALIZE _n
--     SCAN CONSTANT ROW
--   SCAN _n
--   CORRELATED SCALAR SUBQUERY 4
--     CO-ROUTINE _g
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 2
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
--   CORRELATED SCALAR SUBQUERY 8
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 6
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r

-- PATCH /api/rooms/1 {"name":"renamed"} → 200
UPDATE OR ABORT "rooms"
SET "name" = ?
WHERE ("rooms"."id" = ? AND ("rooms"."owner_id" = ? AND "rooms"."archived_at" IS NULL))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN ("rooms"."owner_id" = ? OR (_r."_p0" IS 2)) THEN CASE WHEN (ifnull(octet_length("rooms"."owner_id"), 0) + ifnull(octet_length("rooms"."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END, 'owner_id', "rooms"."owner_id", 'name', "rooms"."name", 'archived_at', CASE WHEN "rooms"."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."archived_at" ELSE CAST("rooms"."archived_at" AS TEXT) END, 'size', CASE WHEN typeof("rooms"."size") <> 'real' THEN "rooms"."size"
    WHEN ("rooms"."size" = 0.0 OR abs("rooms"."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', "rooms"."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs("rooms"."size") > 1e+200 THEN "rooms"."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs("rooms"."size") > 1.0 THEN "rooms"."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs("rooms"."size") < 1e-200 THEN "rooms"."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE "rooms"."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs("rooms"."size") > 1e+200 THEN 896 WHEN abs("rooms"."size") > 1.0 THEN 448 WHEN abs("rooms"."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "rooms"."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   SEARCH rooms USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r

-- PATCH /api/rooms/1 {"archived_at":1} → 403
UPDATE OR ABORT "rooms"
SET "archived_at" = ?
WHERE ("rooms"."id" = ? AND (("rooms"."owner_id" = ? AND "rooms"."archived_at" IS NULL) AND ? IS NULL))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN ("rooms"."owner_id" = ? OR (_r."_p0" IS 2)) THEN CASE WHEN (ifnull(octet_length("rooms"."owner_id"), 0) + ifnull(octet_length("rooms"."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END, 'owner_id', "rooms"."owner_id", 'name', "rooms"."name", 'archived_at', CASE WHEN "rooms"."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."archived_at" ELSE CAST("rooms"."archived_at" AS TEXT) END, 'size', CASE WHEN typeof("rooms"."size") <> 'real' THEN "rooms"."size"
    WHEN ("rooms"."size" = 0.0 OR abs("rooms"."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', "rooms"."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs("rooms"."size") > 1e+200 THEN "rooms"."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs("rooms"."size") > 1.0 THEN "rooms"."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs("rooms"."size") < 1e-200 THEN "rooms"."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE "rooms"."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs("rooms"."size") > 1e+200 THEN 896 WHEN abs("rooms"."size") > 1.0 THEN 448 WHEN abs("rooms"."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "rooms"."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   SEARCH rooms USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r
SELECT 1
FROM "rooms" AS _t
WHERE _t."id" = ?
LIMIT 1;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)

-- PATCH /api/rooms/9 {"name":"none"} → 404
UPDATE OR ABORT "rooms"
SET "name" = ?
WHERE ("rooms"."id" = ? AND ("rooms"."owner_id" = ? AND "rooms"."archived_at" IS NULL))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN ("rooms"."owner_id" = ? OR (_r."_p0" IS 2)) THEN CASE WHEN (ifnull(octet_length("rooms"."owner_id"), 0) + ifnull(octet_length("rooms"."name"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END, 'owner_id', "rooms"."owner_id", 'name', "rooms"."name", 'archived_at', CASE WHEN "rooms"."archived_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."archived_at" ELSE CAST("rooms"."archived_at" AS TEXT) END, 'size', CASE WHEN typeof("rooms"."size") <> 'real' THEN "rooms"."size"
    WHEN ("rooms"."size" = 0.0 OR abs("rooms"."size") BETWEEN 1e-75 AND 1e+75) THEN json(printf('%!.17g', "rooms"."size"))
    ELSE json_array(json(printf('%!.17g', CASE WHEN abs("rooms"."size") > 1e+200 THEN "rooms"."size" * 8.6361685550944446e-78 * 8.6361685550944446e-78 * 1.5930919111324523e-58 * 1.5930919111324523e-58 WHEN abs("rooms"."size") > 1.0 THEN "rooms"."size" * 8.6361685550944446e-78 * 1.5930919111324523e-58 WHEN abs("rooms"."size") < 1e-200 THEN "rooms"."size" * 1.1579208923731620e+77 * 1.1579208923731620e+77 * 6.2771017353866808e+57 * 6.2771017353866808e+57 ELSE "rooms"."size" * 1.1579208923731620e+77 * 6.2771017353866808e+57 END)), CASE WHEN abs("rooms"."size") > 1e+200 THEN 896 WHEN abs("rooms"."size") > 1.0 THEN 448 WHEN abs("rooms"."size") < 1e-200 THEN -896 ELSE -448 END) END) ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "rooms"."id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   SEARCH rooms USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r
SELECT 1
FROM "rooms" AS _t
WHERE _t."id" = ?
LIMIT 1;
--   SEARCH _t USING INTEGER PRIMARY KEY (rowid=?)

-- PATCH /api/messages/1 {"body":"hi"} → 200
SELECT (SELECT CASE WHEN (c0,c1,c2,c3,c4) IS (?,?,?,?,?) THEN 1 ELSE json('{' || ifnull(c0, '')) END AS holds
   
  FROM (SELECT (SELECT max(version)
      FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
    FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0)) AS holds, (
  SELECT (_g."_p0" IS NOT NULL) AS probed
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    FROM "messages"
    WHERE "messages"."id" = ?
    LIMIT 1) AS _g) AS v0;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 4
--     CO-ROUTINE (subquery-2)
--       SCAN CONSTANT ROW
--     SCAN (subquery-2)
--     SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--     SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--   SCALAR SUBQUERY 7
--     CO-ROUTINE _g
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
UPDATE OR ABORT "messages"
SET "body" = ?
WHERE ("messages"."id" = ? AND EXISTS (SELECT 1
    FROM (SELECT (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
        LIMIT 1) AS "_p0"
      LIMIT 1) AS _g
    WHERE ("messages"."author_id" = ? AND (_g."_p0" IS 2))))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN (_r."_p0" IS 2) THEN CASE WHEN (ifnull(octet_length("messages"."author_id"), 0) + ifnull(octet_length("messages"."body"), 0) + ifnull(octet_length("messages"."attachment"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END, 'room_id', CASE WHEN "messages"."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."room_id" ELSE CAST("messages"."room_id" AS TEXT) END, 'author_id', "messages"."author_id", 'body', "messages"."body", 'created_at', CASE WHEN "messages"."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."created_at" ELSE CAST("messages"."created_at" AS TEXT) END, 'attachment', CASE WHEN "messages"."attachment" IS NOT NULL THEN hex("messages"."attachment") END) ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     CO-ROUTINE _g
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
--   CORRELATED SCALAR SUBQUERY 6
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 4
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r

-- PATCH /api/messages/1 {"room_id":2} → 403
SELECT (SELECT CASE WHEN (c0,c1,c2,c3,c4) IS (?,?,?,?,?) THEN 1 ELSE json('{' || ifnull(c0, '')) END AS holds
   
  FROM (SELECT (SELECT max(version)
      FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
    FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0)) AS holds, (
  SELECT ((_g."_p0" IS NOT NULL) + (_g."_p1" IS NOT NULL)) AS probed
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0", (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p1"
    FROM "messages"
    WHERE "messages"."id" = ?
    LIMIT 1) AS _g) AS v0;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 4
--     CO-ROUTINE (subquery-2)
--       SCAN CONSTANT ROW
--     SCAN (subquery-2)
--     SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--     SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--   SCALAR SUBQUERY 8
--     CO-ROUTINE _g
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--       SCALAR SUBQUERY 6
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
UPDATE OR ABORT "messages"
SET "room_id" = ?
WHERE ("messages"."id" = ? AND EXISTS (SELECT 1
    FROM (SELECT (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
        LIMIT 1) AS "_p0", (SELECT 2
        FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
        WHERE ("_x_m"."room_id" = ? AND "_x_m"."user_id" = ?)
        LIMIT 1) AS "_p1"
      LIMIT 1) AS _g
    WHERE (("messages"."author_id" = ? AND (_g."_p0" IS 2)) AND (_g."_p1" IS 2))))
RETURNING (SELECT ((_r."_p0" IS NOT NULL)) || CASE WHEN (_r."_p0" IS 2) THEN CASE WHEN (ifnull(octet_length("messages"."author_id"), 0) + ifnull(octet_length("messages"."body"), 0) + ifnull(octet_length("messages"."attachment"), 0)) <= 33554432 THEN json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END, 'room_id', CASE WHEN "messages"."room_id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."room_id" ELSE CAST("messages"."room_id" AS TEXT) END, 'author_id', "messages"."author_id", 'body', "messages"."body", 'created_at', CASE WHEN "messages"."created_at" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."created_at" ELSE CAST("messages"."created_at" AS TEXT) END, 'attachment', CASE WHEN "messages"."attachment" IS NOT NULL THEN hex("messages"."attachment") END) ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END ELSE json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) END
  FROM (SELECT (SELECT 2
      FROM "room_members" AS "_x_m" INDEXED BY "sqlite_autoindex_room_members_1"
      WHERE ("_x_m"."room_id" = "messages"."room_id" AND "_x_m"."user_id" = ?)
      LIMIT 1) AS "_p0"
    LIMIT 1) AS _r
  WHERE 1) AS row;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 4
--     CO-ROUTINE _g
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--       SCALAR SUBQUERY 2
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _g
--   CORRELATED SCALAR SUBQUERY 7
--     CO-ROUTINE _r
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH _x_m USING COVERING INDEX sqlite_autoindex_room_members_1 (room_id=? AND user_id=?)
--     SCAN _r

-- DELETE /api/messages/1 → 200
DELETE
FROM "messages"
WHERE ("messages"."id" = ? AND ("messages"."author_id" = ? AND "messages"."created_at" > ?))
RETURNING json_object('id', CASE WHEN "messages"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "messages"."id" ELSE CAST("messages"."id" AS TEXT) END) AS row;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)

-- DELETE /api/rooms/3 → 200
SELECT (SELECT CASE WHEN (c0,c1,c2,c3,c4) IS (?,?,?,?,?) THEN 1 ELSE json('{' || ifnull(c0, '')) END AS holds
   
  FROM (SELECT (SELECT max(version)
      FROM _schema) AS c0, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4
    FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0)) AS holds, (
  SELECT (_g."_p0" IS NOT NULL) AS probed
  FROM (SELECT (SELECT 2
      FROM "messages" AS "_x_m" INDEXED BY "messages(room_id,created_at)"
      WHERE "_x_m"."room_id" = "rooms"."id"
      LIMIT 1) AS "_p0"
    FROM "rooms"
    WHERE "rooms"."id" = ?
    LIMIT 1) AS _g) AS v0;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 4
--     CO-ROUTINE (subquery-2)
--       SCAN CONSTANT ROW
--     SCAN (subquery-2)
--     SEARCH s USING PRIMARY KEY (id=?) LEFT-JOIN
--     SEARCH u USING PRIMARY KEY (id=?) LEFT-JOIN
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--     SCALAR SUBQUERY 1
--       SEARCH _schema
--   SCALAR SUBQUERY 7
--     CO-ROUTINE _g
--       SEARCH rooms USING INTEGER PRIMARY KEY (rowid=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH _x_m USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--     SCAN _g
DELETE
FROM "rooms"
WHERE ("rooms"."id" = ? AND EXISTS (SELECT 1
    FROM (SELECT (SELECT 2
        FROM "messages" AS "_x_m" INDEXED BY "messages(room_id,created_at)"
        WHERE "_x_m"."room_id" = "rooms"."id"
        LIMIT 1) AS "_p0"
      LIMIT 1) AS _g
    WHERE ("rooms"."owner_id" = ? AND NOT ((_g."_p0" IS 2)))))
RETURNING json_object('id', CASE WHEN "rooms"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "rooms"."id" ELSE CAST("rooms"."id" AS TEXT) END) AS row;
--   SEARCH rooms USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     CO-ROUTINE _g
--       SCAN CONSTANT ROW
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH _x_m USING COVERING INDEX messages(room_id,created_at) (room_id=?)
--     SCAN _g
--   SEARCH messages USING COVERING INDEX messages(room_id,created_at) (room_id=?)

-- DELETE /api/tags/5 → 200
DELETE
FROM "tags"
WHERE ("tags"."id" = ? AND 1)
RETURNING json_object('id', CASE WHEN "tags"."id" BETWEEN -9007199254740991 AND 9007199254740991 THEN "tags"."id" ELSE CAST("tags"."id" AS TEXT) END) AS row;
--   SEARCH tags USING INTEGER PRIMARY KEY (rowid=?)
