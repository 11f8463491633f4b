import { isRefusal, type Refusal } from "../http/refusal.js";
import type { AuthSettings } from "../project/model.js";
import { linkUrl } from "./link-url.js";
import type { LinkPurpose, LinkTokens, StoredLink } from "./links.js";

/** What it takes to make the URLs of links again. */
export interface LinkServices {
  readonly linkTokens: LinkTokens;
  /** The `$auth` section of the schema in force, which names the pages that links lead to. */
  readonly settings: () => Promise<AuthSettings | Refusal>;
  readonly publicBaseUrl: string;
}

/**
 * The URL of a link of which the database holds a hash alone, as its mail has it; null where it was made under a secret
 * that is not set any more. Throws where no schema can be served.
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
