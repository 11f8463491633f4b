import { Button } from "../parts/button.js";
import { isAway, lookOnce } from "../server/console-fetch.js";
import { texts } from "../texts.js";

/** A bar at the top that says that the server cannot be reached. The rest of the page stays as it is. */
export function AwayBar() {
  if (!isAway.value) return null;
  return (
    <div class="away-bar" role="status">
      <span>{texts.app.away}</span>
      <Button isSmall kind="quiet" onPress={lookOnce}>
        {texts.app.retry}
      </Button>
    </div>
  );
}
