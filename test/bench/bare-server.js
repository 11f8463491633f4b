// What the server is measured against: node:http and prepared statements, without users, rules or metering.
// `node bare-server.js FILE`: tables as in chat.ts, tokens of nobody, one transaction for each write.
import { createServer } from "node:http";
import Libsql from "libsql";

const database = new Libsql(process.argv[2]);
database.exec("PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA foreign_keys = on");
const prepare = (sql) => database.prepare(sql).raw(true);
const columns = "id, room_id, author_id, body, created_at";
const isMember = "EXISTS (SELECT 1 FROM members m WHERE m.room_id = t.room_id AND m.user_id = ?)";
const draft = prepare("SELECT id, owner_id, body FROM drafts WHERE id = ?");
const roomPage = prepare(`SELECT ${columns} FROM messages WHERE room_id = ? ORDER BY id LIMIT 50`);
const roomCount = prepare("SELECT count(*) FROM messages WHERE room_id = ?");
const page = prepare(`SELECT ${columns} FROM messages t WHERE ${isMember} ORDER BY id LIMIT 50`);
const count = prepare(`SELECT count(*) FROM messages t WHERE ${isMember}`);
const insert = prepare(`INSERT INTO messages (room_id, author_id, body) VALUES (?, ?, ?) RETURNING ${columns}`);
const update = prepare(`UPDATE messages SET body = ? WHERE id = ? RETURNING ${columns}`);
const remove = prepare("DELETE FROM messages WHERE id = ? RETURNING id");

const message = ([id, room_id, author_id, body, created_at]) => ({
  id,
  room_id,
  author_id,
  body,
  created_at,
});
const listed = (rows, [total]) => ({ data: rows.map(message), meta: { limit: 50, offset: 0, total } });

const routes = {
  "GET drafts": ([id]) => ({ data: (([id, owner_id, body]) => ({ id, owner_id, body }))(draft.get([id])) }),
  "GET room": ([room]) => listed(roomPage.all([room]), roomCount.get([room])),
  "GET messages": ([user]) => listed(page.all([user]), count.get([user])),
  "POST messages": (_, { room_id, author_id, body }) => ({
    data: message(insert.get([room_id, author_id, body])),
  }),
  "PATCH messages": ([id], { body }) => ({ data: message(update.get([body, id])) }),
  "DELETE messages": ([id]) => ({ data: { id: remove.get([id])[0] } }),
};

const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const [, name, ...path] = request.url.split("/");
  const answer = JSON.stringify(routes[`${request.method} ${name}`](path, text && JSON.parse(text)));
  response.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(answer),
  });
  response.end(answer);
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
