import { describe, expect, it } from "vitest";
import { parseTriggerText, unprovedInTrigger } from "../../../src/sqlite/trigger-text.js";

const scope = { tables: new Set(["notes", "lines"]), others: new Set(["hidden"]) };

/** The problems of a text, whether it can be read or not. */
function problemsOf(text: string): readonly string[] {
  const trigger = parseTriggerText(text);
  return typeof trigger === "string" ? [trigger] : unprovedInTrigger(trigger, scope);
}

describe("the text of a trigger", () => {
  it("is read as SQLite reads it", () => {
    expect(
      parseTriggerText(
        `BEFORE update OF "body", size ON [notes] FOR EACH ROW -- begin
        WHEN new.begin = ';' /* begin */ BEGIN ; insert into lines values ('end; begin'); select case when 1 then 2 end; END`,
      ),
    ).toEqual({
      event: "update",
      of: ["body", "size"],
      table: "notes",
      when: "new.begin = ';'",
      statements: ["insert into lines values ('end; begin')", "select case when 1 then 2 end"],
    });
    expect(parseTriggerText("insert on notes begin select 1; end")).toMatchObject({
      event: "insert",
      when: null,
    });
  });

  it.each([
    "",
    "after",
    "after insert",
    "after insert on",
    "after insert notes begin select 1; end",
    "after insert or delete on notes begin select 1; end",
    "after update of on notes begin select 1; end",
    "after insert of body on notes begin select 1; end",
    "after insert on main.notes begin select 1; end",
    "after insert on notes select 1; end",
    "after insert on notes where 1 begin select 1; end",
    "after insert on notes for each statement begin select 1; end",
    "instead of insert on notes begin select 1; end",
    "temp after insert on notes begin select 1; end",
    "after insert on notes begin select 1;",
    "after insert on notes begin select 1; end -- that is all",
    "after insert on notes begin select 1; end /* that",
    "after insert on notes begin select 1; /* end",
    "after insert on notes begin select 1; 'end'",
    `after insert on notes begin ${"select 1; ".repeat(2_000)} end`,
  ])("is refused where it is none: %s", (text) => {
    expect(typeof parseTriggerText(text)).toBe("string");
  });

  it.each([
    "after insert on notes begin select 1; end; drop table notes; select case when 1 then 2 end",
    "after insert on notes begin select 1; end; create trigger more after insert on notes begin select 1; end",
    "after insert on notes begin pragma foreign_keys = off; end",
    "after insert on notes begin attach 'x' as y; end",
    "after insert on notes begin select * from sqlite_master; end",
    "after insert on notes begin select * from pragma_table_info('notes'); end",
    "after insert on notes begin update _users set role = 'admin'; end",
    "after insert on notes begin update \"_users\" set role = 'admin'; end",
    "after insert on notes begin insert into lines select email from notes, [_users]; end",
    "after insert on notes when exists (select 1 from _users) begin select 1; end",
    "after insert on notes when 1 in hidden begin select 1; end",
    "after insert on notes begin select 1 in 'hidden'; end",
    "after insert on notes when load_extension('x') begin select 1; end",
    "after insert on notes begin select raise(rollback, 'no'); end",
    "after insert on notes begin select raise(fail, 'no'); end",
    "after insert on notes begin insert or replace into lines values (1); end",
    "after insert on notes begin select ?1; end",
    "after insert on notes begin select :id; end",
    "after insert on notes begin select 'a\0b'; end",
  ])("is refused where it does what it must not: %s", (text) => {
    expect(problemsOf(text)).not.toEqual([]);
  });

  it.each([
    "after insert on notes begin select raise(abort, 'no') where new.id < 0; end",
    "before delete on notes when old.id = 1 begin select raise(ignore); end",
    "after insert on notes begin insert into lines (line) select count(*) from notes where id <> new.id; end",
    "after insert on notes begin insert into lines (line) values (1) on conflict do nothing; end",
    "after update on notes begin delete from lines where line in (select value from json_each(new.body)); end",
  ])("is proved: %s", (text) => {
    expect(problemsOf(text)).toEqual([]);
  });
});
