/**
 * Whether the text is an http(s) origin as browsers write it: `https://app.example.com`, without a path and its slash.
 */
export function isOrigin(text: string): boolean {
  return isWebUrl(text) && new URL(text).origin === text;
}

/** Whether the text is an absolute http(s) URL. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}
