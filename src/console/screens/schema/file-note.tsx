import { Button } from "../../parts/button.js";
import { saveFile } from "../../parts/save-file.js";
import type { SchemaShape } from "../../server/shapes.js";
import { texts } from "../../texts.js";

interface FileNoteProps {
  readonly schema: SchemaShape;
  readonly onTake: (text: string) => void;
}

/** Says that the schema in force is not the one of the file, which the next start goes by. Nothing where both are one. */
export function FileNote({ schema: { text, file_text: fileText }, onTake }: FileNoteProps) {
  if (fileText === null || fileText === text) return null;
  return (
    <div class="note" role="status">
      <p>{texts.schema.fileDiffers}</p>
      <div class="actions">
        <Button isSmall onPress={() => saveFile("svc.schema.yaml", "application/yaml", text)}>
          {texts.schema.saveText}
        </Button>
        <Button isSmall onPress={() => onTake(fileText)}>
          {texts.schema.takeFile}
        </Button>
      </div>
    </div>
  );
}
