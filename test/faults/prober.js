// A process of its own, so that nothing of the test's is measured: asks a server for /health and for a row, over and over,
// until its standard input ends, and prints how long that took and what the server holds.
//   node prober.js URL ROW-PATH TOKEN PID
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";

const [, , url, path, token, pid] = process.argv;
const everyMs = 10;
const agent = new Agent({ keepAlive: true });
const milliseconds = [];
let failures = 0;
let residentMb = 0;
let isOver = false;

function ask(target, headers) {
  const fromMs = performance.now();
  return new Promise((resolve) => {
    get(target, { agent, headers }, (response) => {
      if (response.statusCode !== 200) failures++;
      response.resume().once("end", () => resolve(performance.now() - fromMs));
    }).once("error", () => {
      failures++;
      resolve(performance.now() - fromMs);
    });
  });
}

function resident() {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes ?? 0) / 1024;
}

process.stdin.resume().once("end", () => {
  isOver = true;
});
while (!isOver) {
  milliseconds.push(await ask(`${url}/health`, {}));
  milliseconds.push(await ask(`${url}${path}`, { Authorization: `Bearer ${token}` }));
  residentMb = Math.max(residentMb, resident());
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
agent.destroy();
console.log(JSON.stringify({ milliseconds, failures, residentMb }));
