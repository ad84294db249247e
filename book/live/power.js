/** The digits from 0 to 9, raised. */
export const SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Return a power as plain text, "2⁻²⁴" for example, as figures.style.power does. */
export function power(exponent, base = 2) {
  return base + [...String(exponent)].map((sign) => (sign === "-" ? "⁻" : SIGNS[sign])).join("");
}
