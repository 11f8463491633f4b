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
    references: {
      "comments.note": ["comments"];
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
  tasks: {
    row: {
      id: number;
      title: string;
      made: number;
      changed: string | null;
      made_by: string | null;
      version: number;
    };
    references: Record<never, never>;
    create: {
      id?: number;
      title: string;
    };
    update: {
      title?: string;
    };
    key: number | { id: number };
  };
  members: {
    row: {
      room: string;
      since: number;
      constructor: string | null;
    };
    references: Record<never, never>;
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
    references: Record<never, never>;
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
    references: Record<never, never>;
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
    references: Record<never, never>;
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
    references: Record<never, never>;
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
    references: Record<never, never>;
    create: never;
    update: never;
    key: never;
  };
  comments: {
    row: {
      id: number;
      note: number;
      answers: number | null;
      body: string;
    };
    references: {
      note: "notes";
      answers: "comments";
      "comments.answers": ["comments"];
    };
    create: {
      id?: number;
      note: number;
      answers?: number | null;
      body: string;
    };
    update: {
      note?: number;
      answers?: number | null;
      body?: string;
    };
    key: number | { id: number };
  };
}

/** For `createClient<Tables, Operations>`, beside `Tables`. */
export interface Operations {
  rate: {
    params: { note: number; rate: number | null; why?: Json | object };
    result: { id: number; body: string; rate: number | null; why: Json };
  };
  bodies: {
    params: { like?: string };
    result: { body: string }[];
  };
  clear: {
    params: Record<never, never>;
    result: null;
  };
}
