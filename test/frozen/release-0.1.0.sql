CREATE TABLE _schema (
    version INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  ) STRICT;

CREATE TABLE _users (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    role TEXT NOT NULL CHECK (role IN ('user', 'admin')),
    disabled INTEGER NOT NULL DEFAULT 0,
    email_verified INTEGER NOT NULL DEFAULT 0,
    registration_unconfirmed INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _sessions (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _refresh_tokens (
    hash TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES _sessions (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    successor TEXT
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _service_keys (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL CHECK (json_valid(scopes)),
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _throttle (
    key TEXT PRIMARY KEY NOT NULL,
    started_at INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _known_addresses (
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    PRIMARY KEY (user_id, address)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _project (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL
  ) STRICT;

CREATE TABLE _identities (
    provider TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _oauth_states (
    hash TEXT PRIMARY KEY NOT NULL,
    provider TEXT NOT NULL,
    redirect_to TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _oauth_codes (
    hash TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    code_challenge TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _links (
    id TEXT PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL CHECK (purpose IN ('email_verification', 'invitation', 'password_reset')),
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    password_hash TEXT,
    role TEXT,
    redirect_to TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    used_by TEXT
  ) STRICT;

CREATE TABLE _outbox (
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    link_id TEXT,
    action_url TEXT,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    leased_until INTEGER NOT NULL DEFAULT 0
  ) STRICT;

CREATE TABLE _usage_entries (
    day TEXT NOT NULL,
    id TEXT NOT NULL,
    receipts TEXT NOT NULL,
    PRIMARY KEY (day, id)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _usage_days (
    day TEXT NOT NULL,
    table_name TEXT NOT NULL,
    principal_kind TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    rows_read INTEGER NOT NULL,
    rows_written INTEGER NOT NULL,
    rows_returned INTEGER NOT NULL,
    unknown_reads INTEGER NOT NULL,
    PRIMARY KEY (day, table_name, principal_kind, principal_id)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE _usage_gaps (
    id TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    attempts_max INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE "teams" (
  "id" TEXT NOT NULL,
  "owner_id" TEXT NOT NULL REFERENCES "_users" ("id") ON DELETE CASCADE,
  "name" TEXT NOT NULL,
  PRIMARY KEY ("id")
) STRICT;

CREATE TABLE "team_members" (
  "team_id" TEXT NOT NULL REFERENCES "teams" ("id") ON DELETE CASCADE,
  "user_id" TEXT NOT NULL REFERENCES "_users" ("id") ON DELETE CASCADE,
  PRIMARY KEY ("team_id", "user_id")
) STRICT;

CREATE TABLE "notes" (
  "id" INTEGER PRIMARY KEY NOT NULL,
  "team_id" TEXT NOT NULL REFERENCES "teams" ("id") ON DELETE CASCADE,
  "author_id" TEXT REFERENCES "_users" ("id") ON DELETE SET NULL,
  "body" TEXT NOT NULL CHECK (length(body) > 0),
  "meta" TEXT,
  "seen" INTEGER DEFAULT 0,
  "weight" REAL,
  "file" BLOB
) STRICT;

CREATE INDEX _users_created_at ON _users (created_at);

CREATE INDEX _sessions_user_id ON _sessions (user_id);

CREATE INDEX _sessions_revoked ON _sessions (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE INDEX _refresh_tokens_session_id ON _refresh_tokens (session_id);

CREATE INDEX _refresh_tokens_expires_at ON _refresh_tokens (expires_at);

CREATE INDEX _refresh_tokens_sealed ON _refresh_tokens (used_at) WHERE successor IS NOT NULL;

CREATE INDEX _throttle_started_at ON _throttle (started_at);

CREATE INDEX _identities_user_id ON _identities (user_id);

CREATE INDEX _oauth_states_expires_at ON _oauth_states (expires_at);

CREATE INDEX _oauth_codes_user_id ON _oauth_codes (user_id);

CREATE INDEX _oauth_codes_expires_at ON _oauth_codes (expires_at);

CREATE INDEX _links_user_id ON _links (user_id);

CREATE INDEX _links_expires_at ON _links (expires_at);

CREATE INDEX _outbox_next_attempt_at ON _outbox (next_attempt_at);

CREATE UNIQUE INDEX "unique teams(name)" ON "teams" ("name");

CREATE INDEX "team_members(user_id)" ON "team_members" ("user_id");

CREATE INDEX "notes(team_id,-id)" ON "notes" ("team_id", "id" DESC);

INSERT INTO "_schema" VALUES(1,'2d5f1dc3c7ad7e7db7a40f33ca2a6f6b48846c038361c09d317a6c082535d2dc','$auth: { email_verification: { required: false } }
teams:
  columns:
    id: { type: text, primary_key: true }
    owner_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    name: { type: text, not_null: true, unique: true }
',1767225600000);

INSERT INTO "_schema" VALUES(2,'e5453088a699fab3fa6be77ab0bc6b479d76b8173f5126be8514e6e550d412f6','$auth: { email_verification: { required: true } }
teams:
  columns:
    id: { type: text, primary_key: true }
    owner_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    name: { type: text, not_null: true, unique: true }
team_members:
  primary_key: [team_id, user_id]
  columns:
    team_id: { type: text, not_null: true, references: { table: teams, on_delete: cascade } }
    user_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
  indexes: [{ columns: [user_id] }]
notes:
  columns:
    id: { type: integer, primary_key: true }
    team_id: { type: text, not_null: true, references: { table: teams, on_delete: cascade } }
    author_id: { type: text, references: { table: $users, on_delete: set_null } }
    body: { type: text, not_null: true, check: "length(body) > 0" }
    meta: { type: json }
    seen: { type: boolean, default: false }
    weight: { type: real }
    file: { type: blob }
  indexes: [{ columns: [team_id, -id] }]
',1767225600000);

INSERT INTO "_users" VALUES('22d621ef5dfd865b39e98448429156cd','Ada@example.com','ada@example.com','$argon2id$v=19$m=19456,t=2,p=1$4gOqCPiEDXvU7U95n3b/TQ$r894wRIf6eBo2DSp+iOZcMQ1rxWimuL8c+Uv5sQOZoI','user',0,1,0,'2026-01-01T00:00:00.000Z');

INSERT INTO "_users" VALUES('53bdf24c2d2fd25133e4a76e6ba4c4b5','dee@example.com','dee@example.com',NULL,'user',0,0,0,'2026-01-01T00:00:00.000Z');

INSERT INTO "_users" VALUES('7589f7bcd6a84c80ea5d330cd315c080','bob@example.com','bob@example.com','$argon2id$v=19$m=19456,t=2,p=1$4gOqCPiEDXvU7U95n3b/TQ$r894wRIf6eBo2DSp+iOZcMQ1rxWimuL8c+Uv5sQOZoI','user',0,1,0,'2026-01-01T00:00:00.000Z');

INSERT INTO "_users" VALUES('e172115f7a4bd8c020bd2fdacaade094','root@example.com','root@example.com','$argon2id$v=19$m=19456,t=2,p=1$4gOqCPiEDXvU7U95n3b/TQ$r894wRIf6eBo2DSp+iOZcMQ1rxWimuL8c+Uv5sQOZoI','admin',0,1,0,'2026-01-01T00:00:00.000Z');

INSERT INTO "_users" VALUES('e4da100e59069be1d9c06c9f15243d26','cy@example.com','cy@example.com','$argon2id$v=19$m=19456,t=2,p=1$4gOqCPiEDXvU7U95n3b/TQ$r894wRIf6eBo2DSp+iOZcMQ1rxWimuL8c+Uv5sQOZoI','user',0,0,1,'2026-01-01T00:00:00.000Z');

INSERT INTO "_users" VALUES('imported','eve@example.com','eve@example.com','$2b$04$abcdefghijklmnopqrstuuKx0Ay0yOUxw0GzM1fC2uXcO2JmN5lSa','user',1,1,0,'2026-01-01T00:00:00.000Z');

INSERT INTO "_sessions" VALUES('1e5c885da6f324d65afc034b260549e7','22d621ef5dfd865b39e98448429156cd',1767225600000,1767225600000);

INSERT INTO "_sessions" VALUES('29363c7493fccfa18fbb9bf9d85f2ab1','e172115f7a4bd8c020bd2fdacaade094',1767225600000,NULL);

INSERT INTO "_sessions" VALUES('715ed3d7dc954dcefceb2279e307feb4','22d621ef5dfd865b39e98448429156cd',1767225600000,NULL);

INSERT INTO "_sessions" VALUES('9371603f4ca0ec2cdc82d476c6b1d529','7589f7bcd6a84c80ea5d330cd315c080',1767225600000,NULL);

INSERT INTO "_refresh_tokens" VALUES('3BgSbrKWUK4oPEexdbpvmyaVuKsgtpzCHMQFf1FySys','9371603f4ca0ec2cdc82d476c6b1d529',1767225600000,1769817600000,NULL,NULL);

INSERT INTO "_refresh_tokens" VALUES('7z7-RPzlIMa-6WFEMRplOGPzpFz42I2S3Gw62vfBkg0','29363c7493fccfa18fbb9bf9d85f2ab1',1767225600000,1769817600000,NULL,NULL);

INSERT INTO "_refresh_tokens" VALUES('UCDq634nYqaNSpE6E2VeRzRd0ODz6DaNcItjWBwX1Pk','715ed3d7dc954dcefceb2279e307feb4',1767225600000,1769817600000,NULL,NULL);

INSERT INTO "_refresh_tokens" VALUES('tMOIOynwa1ax66LeqhixCTkzlKTWSuxsEfRmztnu4oA','1e5c885da6f324d65afc034b260549e7',1767225600000,1769817600000,NULL,NULL);

INSERT INTO "_refresh_tokens" VALUES('zad_pqpwvt_hVAE8e7AuOFVPGMgi_ufM9lvlguEfipM','715ed3d7dc954dcefceb2279e307feb4',1767225600000,1769817600000,1767225600000,'U5mnIi5mrQ52J192b2KZnzwmNy7FPhWHAabQtv7_1wEs1W0YiNTZeTv5N6969aMGuUgA8rsSErzJMwYXLY8cWR1CqEkm_XKw4aWGkkPG');

INSERT INTO "_service_keys" VALUES('3fd0125ab968aed1569dc47baf31e0a1','test','qxg6lgjy8HZ1lrkWTGxVpnjmJ7hgG9lBgL-9bXJ04C4','["project:backend"]','2026-01-01T00:00:00.000Z',NULL,NULL);

INSERT INTO "_service_keys" VALUES('def619a8f5d09b484cbce5786c34c365','revoked','SUGfeYVEyPhr3UWXVUIHrpazbfQmzQsYDNK8T4IWAFo','["resource:notes:read"]','2026-01-01T00:00:00.000Z',NULL,'2026-01-01T00:00:00.000Z');

INSERT INTO "_throttle" VALUES('-sRLev7HvIqkewcrrC4inlbjZqAzmAsV3RhJBE-g_4k',1767225600000,1);

INSERT INTO "_throttle" VALUES('0OkNBtlDWtww6mZz8z70kSSgGZiStokOiYIJAqsvDRk',1767225600000,1);

INSERT INTO "_throttle" VALUES('3d3n6dmd5vnBlMpOchAK4bDvdKPwc6OiBrZ-nRjkswg',1767225600000,1);

INSERT INTO "_throttle" VALUES('DDqhbBNhPOsKqfMF-ZDzKL0_O-JRTj_t74Kz4ZxSq3Q',1767225600000,0);

INSERT INTO "_throttle" VALUES('N4UBa9rNJXl1O1xv2p3t9sSjmSvQfO9pzzBfh-mQZ7k',1767225600000,0);

INSERT INTO "_throttle" VALUES('YbjTTRXpUdZa7hXWdhQ18-qE50wmHl8ZFZgjZSmktLY',1767225600000,1);

INSERT INTO "_throttle" VALUES('_xODttWN965yFEDE41ZyYHquHPlYZ3zN_Vnw8CHNp8k',1767225600000,1);

INSERT INTO "_throttle" VALUES('goUx9UDrh0wBdaYLTc1661ld4UoqipYFgmEw6MDKzGw',1767225600000,1);

INSERT INTO "_throttle" VALUES('xt1Tmcey824lHfoE9JyuRsfxtdxKuPB-mELHY-_rl6s',1767225600000,1);

INSERT INTO "_known_addresses" VALUES('22d621ef5dfd865b39e98448429156cd','iAxayFKpay6U3U6sW2doOjP-bl24Ys6NXqNvb8dG3Eo');

INSERT INTO "_known_addresses" VALUES('e172115f7a4bd8c020bd2fdacaade094','iAxayFKpay6U3U6sW2doOjP-bl24Ys6NXqNvb8dG3Eo');

INSERT INTO "_project" VALUES(1,'e09edcb9c5fa5c037bb17bcdfdfc2516');

INSERT INTO "_identities" VALUES('google','subject-1','22d621ef5dfd865b39e98448429156cd','Ada@example.com',1767225600000);

INSERT INTO "_oauth_states" VALUES('hash','google','https://app.example.com/cb','challenge',1767225600000,1767226200000,NULL);

INSERT INTO "_links" VALUES('4b580d8c4e9928a93cbd3bb43acd1f44','KccXyTMWmQdzDp4QI3aAWn2DigGMwjtO5_dTJ2XpgFk','email_verification','e4da100e59069be1d9c06c9f15243d26','$argon2id$v=19$m=19456,t=2,p=1$4gOqCPiEDXvU7U95n3b/TQ$r894wRIf6eBo2DSp+iOZcMQ1rxWimuL8c+Uv5sQOZoI',NULL,NULL,1767225600000,1767312000000,NULL,NULL);

INSERT INTO "_links" VALUES('ff0d913cd02d5f895923b8f800e3cb6b','DflIiPdIUedc0_uwsrt9gmMIBdJmYsEnQAu5OUV4NTI','invitation','53bdf24c2d2fd25133e4a76e6ba4c4b5',NULL,NULL,NULL,1767225600000,1767830400000,NULL,NULL);

INSERT INTO "_links" VALUES('13ffe731108c583ad2cb68ed27a309cd','D4CrqRNObTtUlhKLBjR1AYH4hZCLcjBUB4RbT3MfE0w','password_reset','7589f7bcd6a84c80ea5d330cd315c080',NULL,NULL,NULL,1767225600000,1767229200000,NULL,NULL);

INSERT INTO "_links" VALUES('2f894310640b8d045f4fe037c667dd71','l9SaoZjMuAhlVvI2RGVVg5_Urqd72NVdw4bPTcuT0qU','password_reset','22d621ef5dfd865b39e98448429156cd',NULL,NULL,NULL,1767225600000,1767229200000,NULL,NULL);

INSERT INTO "_outbox" VALUES('05226e79fff74f0786b973b87631635e','password_reset','Ada@example.com','2f894310640b8d045f4fe037c667dd71',NULL,1767225600000,1,1767225610000,0);

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-70fc-b808-301abe380737','[["019b76da-a800-70fc-b808-301abe380737",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","GET","notes","list",200,10,0,2]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-753f-b15e-dc5d99c8a92b','[["019b76da-a800-753f-b15e-dc5d99c8a92b",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","team_members","create",201,0,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-766f-8083-536f6f3578d7','[["019b76da-a800-766f-8083-536f6f3578d7",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","notes","create",201,1,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-777b-837a-82c53a8e2d1f','[["019b76da-a800-777b-837a-82c53a8e2d1f",1767225600000,"user","7589f7bcd6a84c80ea5d330cd315c080","POST","notes","create",201,1,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-780b-a5ee-a873dacad72c','[["019b76da-a800-780b-a5ee-a873dacad72c",1767225600000,"user","7589f7bcd6a84c80ea5d330cd315c080","POST","teams","create",201,0,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-790c-8d2d-26394a4d990f','[["019b76da-a800-790c-8d2d-26394a4d990f",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","team_members","create",201,0,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-7d4c-a1f6-0047b846bcbc','[["019b76da-a800-7d4c-a1f6-0047b846bcbc",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","teams","create",201,0,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-7fb8-906d-86dff71f75c5','[["019b76da-a800-7fb8-906d-86dff71f75c5",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","team_members","create",201,0,1,1]]');

INSERT INTO "_usage_entries" VALUES('2026-01-01','019b76da-a800-7fbb-9b2f-a42fb74e7f23','[["019b76da-a800-7fbb-9b2f-a42fb74e7f23",1767225600000,"user","22d621ef5dfd865b39e98448429156cd","POST","notes","create",201,1,1,1]]');

INSERT INTO "_usage_days" VALUES('2026-01-01','notes','user','22d621ef5dfd865b39e98448429156cd',3,12,2,4,0);

INSERT INTO "_usage_days" VALUES('2026-01-01','notes','user','7589f7bcd6a84c80ea5d330cd315c080',1,1,1,1,0);

INSERT INTO "_usage_days" VALUES('2026-01-01','team_members','user','22d621ef5dfd865b39e98448429156cd',3,0,3,3,0);

INSERT INTO "_usage_days" VALUES('2026-01-01','teams','user','22d621ef5dfd865b39e98448429156cd',1,0,1,1,0);

INSERT INTO "_usage_days" VALUES('2026-01-01','teams','user','7589f7bcd6a84c80ea5d330cd315c080',1,0,1,1,0);

INSERT INTO "_usage_gaps" VALUES('gap',1767225600000,'crash',7);

INSERT INTO "teams" VALUES('t1','22d621ef5dfd865b39e98448429156cd','one');

INSERT INTO "teams" VALUES('t2','7589f7bcd6a84c80ea5d330cd315c080','two');

INSERT INTO "team_members" VALUES('t1','22d621ef5dfd865b39e98448429156cd');

INSERT INTO "team_members" VALUES('t1','7589f7bcd6a84c80ea5d330cd315c080');

INSERT INTO "team_members" VALUES('t2','7589f7bcd6a84c80ea5d330cd315c080');

INSERT INTO "notes" VALUES(1,'t1','22d621ef5dfd865b39e98448429156cd','it''s "quoted"
and 🙂','{"a":[1,null]}',1,0.1,X'00FF');

INSERT INTO "notes" VALUES(2,'t1','22d621ef5dfd865b39e98448429156cd','plain',NULL,0,NULL,NULL);

INSERT INTO "notes" VALUES(9007199254740993,'t2','7589f7bcd6a84c80ea5d330cd315c080','of bob',NULL,0,1.0e+300,NULL);
