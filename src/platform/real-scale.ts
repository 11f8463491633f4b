/**
 * Every backend converts a REAL between 1e-75 and 1e75 to decimal text and back without loss. Outside of this range D1
 * is wrong by a bit, so a number is sent as two: a number within the range, and the exponent of the power of two to
 * multiply it by. Multiplying by a power of two loses nothing, and each of the powers has an exact decimal spelling.
 */
const plainMin = 1e-75;
const plainMax = 1e75;
const farMin = 1e-200;
const farMax = 1e200;

const near = { exponent: 448, powers: [256, 192] } as const;
const far = { exponent: 896, powers: [256, 256, 192, 192] } as const;

function product(powers: readonly number[], sign: 1 | -1): string {
  return powers.map((power) => ` * ${(2 ** (sign * power)).toExponential(16)}`).join("");
}

const literal = (value: number) => value.toExponential();

/** Whether a real can be sent as one number. */
export function isPlainReal(value: number): boolean {
  return value === 0 || (Math.abs(value) >= plainMin && Math.abs(value) <= plainMax);
}

/** SQL for `isPlainReal` of the real in the column `ref`. */
export function isPlainSql(ref: string): string {
  return `(${ref} = 0.0 OR abs(${ref}) BETWEEN ${literal(plainMin)} AND ${literal(plainMax)})`;
}

/**
 * SQL for the two numbers as which an extreme real in the column `ref` is sent. Only for values for which `isPlainSql`
 * is not TRUE.
 */
export function scaledSql(ref: string): { readonly number: string; readonly exponent: string } {
  const cases = (of: (scale: typeof near | typeof far, sign: 1 | -1) => string) =>
    [
      `CASE WHEN abs(${ref}) > ${literal(farMax)} THEN ${of(far, 1)}`,
      `WHEN abs(${ref}) > 1.0 THEN ${of(near, 1)}`,
      `WHEN abs(${ref}) < ${literal(farMin)} THEN ${of(far, -1)}`,
      `ELSE ${of(near, -1)} END`,
    ].join(" ");
  return {
    number: cases(({ powers }, sign) => ref + product(powers, sign === 1 ? -1 : 1)),
    exponent: cases(({ exponent }, sign) => String(sign * exponent)),
  };
}

/** The real that was sent as two numbers. */
export function unscaled(number: number, exponent: number): number {
  return number * 2 ** exponent;
}

/**
 * A number as JSON for SQLite: one number if `isPlainReal` holds, else `[number, exponent]`. It always has 17 digits,
 * because SQLite reads some shorter spellings as the neighbouring double. A spelling with 17 digits is never so near to
 * the middle between two doubles that it could be misread.
 */
export function realText(value: number): string {
  const { number, exponent } = scaled(value);
  const text = number.toExponential(16);
  return exponent === 0 ? text : `[${text},${exponent}]`;
}

function scaled(value: number): { readonly number: number; readonly exponent: number } {
  if (isPlainReal(value)) return { number: value, exponent: 0 };
  const magnitude = Math.abs(value);
  const { exponent } = magnitude > farMax || magnitude < farMin ? far : near;
  const signed = magnitude > 1 ? exponent : -exponent;
  return { number: unscaled(value, -signed), exponent: signed };
}

/** SQL for `unscaled`; `number` and `exponent` are SQL expressions. */
export function unscaledSql(number: string, exponent: string): string {
  const cases = [near, far].flatMap((scale) =>
    ([1, -1] as const).map((sign) => `WHEN ${sign * scale.exponent} THEN ${number}${product(scale.powers, sign)}`),
  );
  return `CASE ${exponent} ${cases.join(" ")} ELSE ${number} END`;
}
