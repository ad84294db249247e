// The arithmetic of the live histogram, without a document: the tests compare it with Python's.

const DIGITS = 4; // a share below 0.0001 % is only called small

/** Return the counts of the bins `from` to `to - 1` of a row times 2 to the power of `by`; the ends take what lies beyond. */
export function moved({ first, bins }, by, [from, to]) {
  const found = new Array(to - from).fill(0);
  bins.forEach((count, index) => {
    found[Math.min(Math.max(first + index + by, from), to - 1) - from] += count;
  });
  return found;
}

/** Return a number with that many decimals as Python's format gives it: a tie goes to the even digit. */
export function fixed(value, digits) {
  const twice = value * 2 ** (digits + 1);
  const below = Math.floor(value * 10 ** digits);
  const tie = Number.isInteger(twice) && twice % 2 !== 0 && twice < 2 ** 40;
  // toFixed takes the larger neighbor of a tie.
  return tie && below % 2 === 0 ? (below / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}

/** Say a share: one decimal from 0.1 % on, two digits below; never "0.0 %" of something, nor "100.0 %" of less than all. */
export function percent(share) {
  if (share === 0) return "none";
  if (share === 1) return "all";
  const value = share * 100;
  if (value < 10 ** -DIGITS) return `< ${(10 ** -DIGITS).toFixed(DIGITS)}\u00a0%`;
  const digits = value >= 0.1 ? 1 : Math.min(1 - Math.floor(Math.log10(value)), DIGITS);
  const text = fixed(value, digits);
  return `${text === "100.0" ? "> 99.9" : text}\u00a0%`;
}

/** Return what the table shows of a row at a scale: the shares lost, of the elements that are not zero and of the mass, and inf. */
export function shares(row, index) {
  const nonzero = row.size - row.zeros;
  const of = (count) => (nonzero ? count / nonzero : 0);
  return { lost: of(row.lost[index]), mass: row.mass[index], inf: of(row.inf[index]) };
}
