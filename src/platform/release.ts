/** The same as in package.json. A database records it for each migration of the server's own tables. */
export const release = "0.2.0";
