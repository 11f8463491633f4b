import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { Button } from "../../parts/button.js";
import { saveFile } from "../../parts/save-file.js";
import { texts } from "../../texts.js";

interface FileNoteProps {
  readonly schema: ServedSchema;
  readonly onTake: (text: string) => void;
}

/** Says that the schema file differs from the schema in force, and that the next start of the server will use it. */
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
