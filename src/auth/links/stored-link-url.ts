import { isRefusal, type Refusal } from "../../http/refusal.js";
import type { AuthSettings } from "../../project/model.js";
import type { LinkPurpose } from "../store/links.js";
import { linkUrl } from "./link-url.js";
import type { LinkTokens, StoredLink } from "./links.js";

/** What `storedLinkUrl` needs to make the URLs of mailed links once more. */
export interface LinkServices {
  readonly linkTokens: LinkTokens;
  /**
   * Returns the `$auth` section of the schema in force, which names the pages that links lead to; a refusal where no
   * schema can be served.
   */
  readonly settings: () => Promise<AuthSettings | Refusal>;
  readonly publicBaseUrl: string;
}

/**
 * Makes the URL of a mailed link once more, because the database holds only a hash of the link's token. Returns null
 * where the link was made under a secret that is not set any more. Throws where no schema can be served.
 */
export async function storedLinkUrl(
  { linkTokens, settings, publicBaseUrl }: LinkServices,
  purpose: LinkPurpose,
  link: StoredLink & { readonly redirectTo: string | null },
): Promise<string | null> {
  const pages = await settings();
  if (isRefusal(pages)) throw new Error(pages.message);
  const token = await linkTokens.tokenOfStored(purpose, link);
  return token && linkUrl(pages, publicBaseUrl, { purpose, token, redirectTo: link.redirectTo });
}
