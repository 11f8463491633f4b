import { describe, expect, it } from "vitest";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { introspect } from "../../../src/schema/pull/introspect.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { applied, chinook, rows, sound, soundness, value } from "./support.js";

describe("chinook", () => {
  it("is pulled to a file that reads back as what was found", async () => {
    const database = chinook();
    const { schema } = await introspect(database);
    const { text, notes } = await pullSchema(database);
    expect(notes).toEqual({
      leftOut: [],
      kept: [],
      choices: [],
      limited: [],
      narrowed: ["Employee.BirthDate", "Employee.HireDate", "Invoice.InvoiceDate"].map(
        (column) => `${column}: DATETIME turns texts that read as numbers into numbers, so it takes none of them`,
      ),
    });
    expect(parseSchema(text)).toEqual({ schema, problems: [] });
  });

  it("is adopted without a change, then takes a column, then a rebuild", async () => {
    const database = chinook();
    const before = await rows(
      database,
      "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
    );
    const tracks = await rows(database, "SELECT * FROM Track ORDER BY TrackId");
    const { text } = await pullSchema(database);
    const adopted = await applied(database, text);
    expect(adopted.steps.map(({ kind }) => kind)).toEqual(Array(11).fill("adopt_table"));
    expect(
      await rows(
        database,
        "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\' AND tbl_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
      ),
    ).toEqual(before);

    const longer = text.replace("Composer: ", "Rating: { type: integer, not_null: true, default: 3 }\n    Composer: ");
    const added = await applied(database, longer);
    expect(added.steps.flatMap(({ statements }) => statements)).toEqual([
      'ALTER TABLE "Track" ADD COLUMN "Rating" INTEGER NOT NULL DEFAULT 3',
    ]);

    const checked = longer.replace(
      "Milliseconds: { type: integer, not_null: true",
      'Milliseconds: { type: integer, not_null: true, check: "Milliseconds > 0"',
    );
    expect(checked).not.toBe(longer);
    const rebuilt = await applied(database, checked);
    expect(rebuilt.steps.map(({ kind, safe }) => [kind, safe])).toEqual([["rebuild_table", true]]);
    expect(
      await rows(
        database,
        "SELECT TrackId, Name, AlbumId, MediaTypeId, GenreId, Composer, Milliseconds, Bytes, UnitPrice FROM Track ORDER BY TrackId",
      ),
    ).toEqual(tracks);
    expect(await value(database, "SELECT count(*) FROM InvoiceLine")).toBe(2240);
    expect(await value(database, "SELECT count(*) FROM PlaylistTrack")).toBe(8715);
    expect(await soundness(database)).toEqual(sound);
  });
});
