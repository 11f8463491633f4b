/** Without a slash at the end. */
export function listenUrl(host: string, port: number, isTls: boolean): string {
  return `${isTls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
