import { median } from "../support/figures.js";
import { type Asked, type Contestant, connections, rate, type Work } from "./contestant.js";

/** So many short turns that a noisy machine is as noisy for all; `ROUNDS` and `SECONDS` prolong it. */
const rounds = Number(process.env.ROUNDS ?? 21);
const seconds = Number(process.env.SECONDS ?? 0.4);
export const works: readonly (readonly [work: Work, name: string])[] = [
  ["point", "point read, owner rule"],
  ["room", "50 of the 1,000 rows of a room, with total, membership rule"],
  ["all", "50 of all 100,000 rows, with total, membership rule"],
  ["create", "create, membership rule"],
  ["update", "update by key, owner rule"],
  ["delete", "delete by key, owner rule"],
];

/** Requests a second, and the ratio to those of the last contestant: of the same turn each, and then the median. */
export interface Compared {
  readonly rate: number;
  readonly ratio: number;
}

export async function compare<W extends Work>(contestants: readonly Asked<W>[], work: W): Promise<readonly Compared[]> {
  const rates: number[][] = [];
  for (const contestant of contestants) rates.push([await warmUp(contestant, work)]);
  for (let round = 0; round < rounds; round++)
    for (const [i, contestant] of contestants.entries())
      rates[i]!.push(await rateOf(contestant, work, rates[i]!.at(-1)! * seconds));
  const measured = rates.map(([, ...after]) => after);
  const last = measured.at(-1)!;
  return measured.map((of) => ({ rate: median(of), ratio: median(of.map((rate, i) => rate / last[i]!)) }));
}

/** Requests a second of two servers that take turns, ABBA: what changes in time, in the machine or the tables, meets both alike. */
export async function pairs(
  [a, b]: readonly [Contestant, Contestant],
  work: Work,
  count: number,
): Promise<readonly (readonly [number, number])[]> {
  const last = new Map([
    [a, await warmUp(a, work)],
    [b, await warmUp(b, work)],
  ]);
  return inPairs([a, b], count, async (contestant) => {
    const measured = await rateOf(contestant, work, last.get(contestant)! * seconds);
    last.set(contestant, measured);
    return measured;
  });
}

/** Measures both, one after the other, so many times; who begins changes from pair to pair. */
export async function inPairs<T>(
  [a, b]: readonly [T, T],
  count: number,
  measure: (one: T) => Promise<number>,
): Promise<readonly (readonly [number, number])[]> {
  const measured: [number, number][] = [];
  for (let pair = 0; pair < count; pair++) {
    if (pair % 2 === 0) {
      const first = await measure(a);
      measured.push([first, await measure(b)]);
    } else {
      const first = await measure(b);
      measured.push([await measure(a), first]);
    }
  }
  return measured;
}

/** Twice as many requests each time, until they take two seconds: by then what is hot has been compiled. */
async function warmUp<W extends Work>(contestant: Asked<W>, work: W): Promise<number> {
  for (let amount = connections; ; amount *= 2) {
    const measured = await rateOf(contestant, work, amount);
    if (amount / measured > 2) return measured;
  }
}

/** Of so many requests, all of which are answered: what a slow server still works on would be noise for the next one. */
async function rateOf<W extends Work>(contestant: Asked<W>, work: W, requests: number): Promise<number> {
  const amount = connections * Math.max(1, Math.round(requests / connections));
  await contestant.prepare(work, amount);
  // The end is looked for every ten milliseconds; sixteen slow lists at once may take longer than the default of ten seconds.
  return rate(contestant, work, { connections, amount, sampleInt: 10, timeout: 60 });
}
