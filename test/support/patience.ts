/**
 * For what waits until something has happened, which must happen: it ends as soon as that has, on a machine of any speed. The
 * limit only ends a test that would hang.
 */
export const patiently = { timeout: 600_000, interval: 1 };
