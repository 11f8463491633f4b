// Loaded by Node before a server under test: a slow client, or one that is held up, is no subject of most tests. So idle
// connections are kept, and requests may arrive as slowly as they do.
import { Server } from "node:http";

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.keepAliveTimeout = 600_000;
  this.headersTimeout = 600_000;
  this.requestTimeout = 600_000;
  return listen.apply(this, args);
};
