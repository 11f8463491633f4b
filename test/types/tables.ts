// Written by `svc gen types` from svc.schema.yaml: a change here is gone with the next one.

// A table with strict: false has the types that its columns say; SQLite does not hold its rows to them.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** For `createClient<Tables>`; a row is a `Tables["notes"]["row"]`, say. */
export interface Tables {
  notes: {
    row: {
      id: number;
      body: string;
      rate: number | null;
      done: boolean;
      extra: Json;
      image: string | null;
      secret?: string;
    };
    create: {
      id?: number;
      body: string;
      rate?: number | null;
      done?: boolean;
      extra: Json | object;
      image?: string | null;
      secret?: string;
    };
    update: {
      body?: string;
      rate?: number | null;
      done?: boolean;
      extra?: Json | object;
      image?: string | null;
      secret?: string;
    };
    key: number | { id: number };
  };
  members: {
    row: {
      room: string;
      since: number;
      constructor: string | null;
    };
    create: {
      room: string;
      since: number;
      constructor?: string | null;
    };
    update: {
      constructor?: string | null;
    };
    key: { room: string; since: number };
  };
  pairs: {
    row: {
      a: string;
      b: string;
    };
    create: {
      a: string;
      b: string;
    };
    update: never;
    key: { a: string; b: string };
  };
  log: {
    row: {
      line: string | null;
    };
    create: {
      line?: string | null;
    };
    update: never;
    key: never;
  };
  old: {
    row: {
      id: number;
      n: number | null;
    };
    create: {
      id?: number;
      n?: number | null;
    };
    update: {
      n?: number | null;
    };
    key: number | { id: number };
  };
  codes: {
    row: {
      code: string | null;
    };
    create: {
      code: string;
    };
    update: never;
    key: string | { code: string };
  };
  words: {
    row: {
      word: string | null;
    };
    create: never;
    update: never;
    key: never;
  };
}
