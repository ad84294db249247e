// What the bit explorer says of the number that it shows, in sentences.

import { became, decode, encodeAsTorch, exponentOf, fields, gaps, kind, plain, power, precision, short, step, unit } from "./bits_numbers.js";

/**
 * Return what became of a number: what was asked for, what is stored, the error, and what kind of number that is.
 *
 * `value` is the number asked for, `text` how it was typed, and `fate` what a float made of it, as `readClosely` says;
 * where a pattern was made bit by bit, value is null.
 */
export function story({ value, text, fate = "", pattern, format }) {
  const stored = decode(pattern, format), asked = value ?? stored;
  const name = format.label;
  const parts = [outcome({ value: asked, text, fate, stored, pattern, format, made: value === null }), quality(pattern, format)];
  if (value !== null && format.torch) {
    const other = encodeAsTorch(value, format);
    if (other !== pattern && !Number.isNaN(value)) {
      parts.push(`PyTorch goes by way of fp32 and stores ${plain(decode(other, format))} in ${name}: it rounds twice.`);
    }
  }
  return parts.filter(Boolean).join(" ");
}

function outcome(number) {
  const { value, text, fate, stored, pattern, format, made } = number;
  const name = format.label, asked = text || plain(value);
  const { outcome: end, error, relative, tie } = became(value, pattern, format);
  const next = 2 ** (exponentOf(decode(format.largest, format)) + 1) * Math.sign(value); // after the last number
  const halfway = (next + Math.sign(value) * decode(format.largest, format)) / 2;
  // What is typed is a decimal. Where its float is another number, no word may be said of it that is true of the float alone.
  if (fate === "small") return `${asked} is too small even for Python’s float, which makes ${plain(value)} of it, and so ${name} gets ${plain(stored)}.`;
  if (fate === "large") return `${asked} is too large even for Python’s float, which ends at 1.798e308. ${name} gets ${plain(stored)}${format.infinite ? "" : ", its last number"}.`;
  if (fate === "way") return `On its way, ${asked} goes beyond Python’s float. What is left is ${plain(value)}, and ${name} gets ${plain(stored)}.`;
  if (fate === "near" && (end === "exact" || tie !== null || value === halfway)) {
    return `Python’s float makes ${plain(value)} of ${asked}. ${outcome({ ...number, text: "", fate: "" })}`;
  }
  if (end === "nan") {
    return `nan, “not a number”: ${format.infinite ? "exponent bits all on, and any fraction but zero" : "all bits on, beside the sign"}.`;
  }
  if (end === "exact" && !Number.isFinite(stored)) return `${plain(stored)}: exponent bits all on, fraction zero.`;
  if (end === "exact") return made ? `This is ${plain(stored)}.` : `${name} has ${asked}, exactly${same(asked, stored)}.`;
  const most = plain(Math.sign(value) * decode(format.largest, format));
  if (end === "inf") {
    return `${asked} becomes ${plain(stored)}: ` + (value === halfway
      ? `it lies halfway from ${most}, the last number of ${name}, to ${plain(next)}, which would be next, and even.`
      : `it is too far beyond ${most}, the last number of ${name}.`);
  }
  if (end === "saturated") return `${asked} is beyond ${most}, the last number, and ${name} has no inf: ${most} is stored.`;
  if (end === "zero") {
    const first = `${value < 0 ? "−" : ""}${power(exponentOf(decode(1, format)))}`;
    const why = tie === null ? `it is nearer to 0 than to ${first}, the first number` : `halfway between 0 and ${first}, and 0 is the even one`;
    return `${asked} becomes ${plain(stored)}: ${why}. All of it is lost.`;
  }
  const direction = error > 0 === value > 0 ? "too large" : "too small";
  const off = `${short(Math.abs(error))} ${direction}, which is ${share(relative)} of it`;
  if (tie !== null) {
    return `${asked} lies halfway between two numbers, ${plain(stored)} and ${plain(tie)}. The even one, whose last bit is 0, ` +
      `is stored: ${off}.`;
  }
  return `${asked} is no ${name} number. Stored is the nearest, ${plain(stored)}: ${off}.`;
}

/** Return what is stored, where that is not what was typed, sign by sign. */
const same = (asked, stored) => (asked.replace("-", "−") === plain(stored) ? "" : `: ${plain(stored)}`);

/** Return a share in percent, in three digits. */
export function share(part) {
  return `${short(100 * part)} %`;
}

function quality(pattern, format) {
  const what = kind(pattern, format), full = format.fraction + 1, bits = precision(pattern, format);
  const many = (count) => `${count} ${count === 1 ? "bit" : "bits"}`;
  if (what === "normal") return `A normal number, with all ${many(full)} of precision.`;
  if (what === "subnormal") return `A subnormal number: ${many(bits)} of precision ${bits === 1 ? "is" : "are"} left of ${full}.`;
  return what === "zero" && fields(pattern, format).minus ? "Its sign bit is on." : "";
}

/** Return where the neighbors of a number are, in a sentence or two. */
export function neighbors(pattern, format) {
  const value = decode(pattern, format);
  if (Number.isNaN(value)) return "nan has no place on the number line.";
  const last = plain(Math.sign(value) * decode(format.largest, format));
  if (!Number.isFinite(value)) return `Infinity lies beyond the last number, ${last}.`;
  const { below, above } = gaps(pattern, format);
  const beside = (up) => plain(decode(step(pattern, format, up), format));
  const far = (gap) => (unit(gap) === short(gap) ? unit(gap) : `${unit(gap)}, or ${short(gap)}`);
  if (below === null || above === null) {
    return `The gap to ${beside(below !== null ? false : true)} is ${far(below ?? above)}. On the other side there is no further number.`;
  }
  if (below === above) return `The gaps to the neighbors, ${beside(false)} and ${beside(true)}, are ${far(below)}.`;
  return `The gap down to ${beside(false)} is ${far(below)}; the one up to ${beside(true)} is ${far(above)}.`;
}
