// What the bit explorer computes: book/figures/bits.py once more, and what is typed read as Python reads it.
//
// A format is what book/figures/explorer.py writes of it. Patterns are whole numbers, and none of JavaScript's operators
// on bits is used: those end at 32 bits with a sign.

import { SIGNS, power } from "./power.js";

export { power };

const BIAS = 1023;

/** Return the exponent of a number other than zero: e in ±m · 2^e with 1 <= m < 2. Exact, as no logarithm is. */
export function exponentOf(value) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const field = (bits.getUint16(0) >> 4) % 2048;
  // Numbers below float64's normal ones are first brought among them.
  return field ? field - BIAS : exponentOf(value * 2 ** 100) - 100;
}

/** Whether a number has a minus, zero's included. */
export function negative(value) {
  return value < 0 || Object.is(value, -0);
}

/** Return the pattern next to a number: rounded once, to nearest, ties to even, as figures.bits.encode does. */
export function encode(value, format) {
  const sign = negative(value) ? 2 ** (format.width - 1) : 0;
  const beyond = format.infinite ? format.infinity : format.largest;
  if (Number.isNaN(value)) return format.infinite ? format.infinity + 2 ** (format.fraction - 1) : format.largest + 1;
  if (value === 0 || !Number.isFinite(value)) return sign + (value === 0 ? 0 : beyond);
  const smallest = 1 - format.bias;
  const exponent = Math.max(exponentOf(value), smallest);
  // Scaling by a power of two is exact, so this is the only rounding; a carry moves into the exponent by itself.
  const steps = even(Math.abs(value) * 2 ** (format.fraction - exponent));
  return sign + Math.min(steps + (exponent - smallest) * 2 ** format.fraction, beyond);
}

function even(value) {
  const below = Math.floor(value), rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2) ? below + 1 : below;
}

/** Return the pattern that PyTorch's cast of a Python float gives: it goes by way of fp32. */
export function encodeAsTorch(value, format) {
  return encode(Math.fround(value), format);
}

/** Return a pattern's fields: {minus, exponent, fraction}. */
export function fields(pattern, format) {
  const half = 2 ** (format.width - 1), unit = 2 ** format.fraction;
  const rest = pattern % half;
  return { minus: pattern >= half, exponent: Math.floor(rest / unit), fraction: rest % unit };
}

/** Return the number that a pattern stands for. */
export function decode(pattern, format) {
  const { minus, exponent, fraction } = fields(pattern, format);
  const sign = minus ? -1 : 1;
  if (pattern % 2 ** (format.width - 1) > format.largest) return fraction ? NaN : sign * Infinity;
  const steps = fraction + (exponent ? 2 ** format.fraction : 0);
  return sign * steps * 2 ** (Math.max(exponent, 1) - format.bias - format.fraction);
}

/** Return what a pattern is: zero, subnormal, normal, inf or nan. */
export function kind(pattern, format) {
  const value = decode(pattern, format);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return "inf";
  return value === 0 ? "zero" : fields(pattern, format).exponent ? "normal" : "subnormal";
}

/** Return a pattern's bit, counted from the right. */
export function bit(pattern, place) {
  return Math.floor(pattern / 2 ** place) % 2;
}

/** Return a pattern with one bit flipped. */
export function flip(pattern, place) {
  return pattern + (bit(pattern, place) ? -1 : 1) * 2 ** place;
}

/** Return how many bits of precision a number has: from its first one on. */
export function precision(pattern, format) {
  const { exponent, fraction } = fields(pattern, format);
  return exponent ? format.fraction + 1 : fraction ? exponentOf(fraction) + 1 : 0;
}

/** Return the pattern of the next number up or down, as torch.nextafter goes, or null where there is none. */
export function step(pattern, format, up) {
  const half = 2 ** (format.width - 1), rest = pattern % half;
  if (kind(pattern, format) === "nan") return null;
  if (rest === 0) return up ? 1 : half + 1; // both zeros are one place
  const away = up === pattern < half;
  const next = rest + (away ? 1 : -1);
  return next > (format.infinite ? format.infinity : format.largest) ? null : pattern - rest + next;
}

/** Return the distances to the numbers beside a finite one, {below, above}: powers of two, or null where there is none. */
export function gaps(pattern, format) {
  const value = decode(pattern, format);
  const to = (up) => {
    const next = step(pattern, format, up);
    const distance = next === null ? NaN : Math.abs(decode(next, format) - value);
    return Number.isFinite(distance) ? distance : null;
  };
  return { below: to(false), above: to(true) };
}

/**
 * Return what became of a number on its way into a pattern: {outcome, error, relative, tie}.
 *
 * The outcome is one of nan, exact, zero (lost), inf, saturated and rounded. The error is what is stored less what was
 * asked for, and relative its share of that; tie is the other number that was equally near, or null.
 */
export function became(value, pattern, format) {
  const stored = decode(pattern, format);
  if (Number.isNaN(value)) return { outcome: "nan", error: NaN, relative: NaN, tie: null };
  if (stored === value) return { outcome: "exact", error: 0, relative: 0, tie: null };
  const error = stored - value, relative = Math.abs(error / value);
  const most = decode(format.largest, format);
  const outside = Math.abs(value) > most;
  const other = step(pattern, format, stored < value);
  const beside = other === null ? NaN : decode(other, format);
  const tie = Number.isFinite(beside) && beside - value === value - stored ? beside : null;
  if (!Number.isFinite(stored)) return { outcome: "inf", error, relative, tie: null };
  if (stored === 0) return { outcome: "zero", error, relative, tie };
  return { outcome: outside && !format.infinite ? "saturated" : "rounded", error, relative, tie };
}

// ---------------------------------------------------------------------------------------------------- words for numbers

/** Return a power of two in the way that tells most: 32, and 2⁻²⁴. */
export function unit(size) {
  const exponent = exponentOf(size);
  return exponent < 0 || exponent > 13 ? power(exponent) : String(size);
}

/** Return a number as Python's repr writes it, but for zeros in front of an exponent. */
export function repr(value) {
  if (Number.isNaN(value)) return "nan";
  const minus = negative(value) ? "-" : "", size = Math.abs(value);
  if (size === Infinity) return `${minus}inf`;
  if (size === 0) return `${minus}0.0`;
  const [mantissa, exponent] = size.toExponential().split("e").map((part, place) => (place ? Number(part) : part));
  if (exponent < -4 || exponent >= 16) return `${minus}${mantissa}e${exponent < 0 ? "-" : "+"}${twoDigits(exponent)}`;
  const text = String(size < 1 ? fixed(mantissa, exponent) : size);
  return `${minus}${text}${text.includes(".") ? "" : ".0"}`;
}

const twoDigits = (exponent) => (exponent < 0 ? String(-exponent) : String(exponent).padStart(2, "0"));
const fixed = (mantissa, exponent) => `0.${"0".repeat(-exponent - 1)}${mantissa.replace(".", "")}`;

/** Return a number in as many digits as tell it apart, without a needless ".0". */
export function plain(value) {
  return repr(value).replace(/\.0$/, "").replace("-", "−").replace("e−", "e-");
}

/** Return a size in three digits. */
export function short(size) {
  return plain(Number(size.toPrecision(3)));
}

/** Return how a pattern comes to its value, field by field, as figures.bits.terms does. */
export function terms(pattern, format) {
  const { minus, exponent: field, fraction } = fields(pattern, format);
  const value = decode(pattern, format);
  const shown = { sign: minus ? "1, which is −" : "0, which is +" };
  const written = `${minus ? "−" : ""}${repr(Math.abs(value))}`;
  if (!Number.isFinite(value)) {
    shown.exponent = `${field}, all ones: not a number of the number line`;
    shown.fraction = Number.isNaN(value) ? "not zero: nan" : "zero: infinity";
    return { ...shown, sum: "none", value: Number.isNaN(value) ? "nan" : written };
  }
  const exponent = Math.max(field, 1) - format.bias;
  const places = Array.from({ length: format.fraction }, (_, place) => place + 1)
    .filter((place) => bit(fraction, format.fraction - place));
  const led = field ? [0, ...places] : places;
  const how = field ? `${field} − ${format.bias}` : `0 counts as 1 − ${format.bias}`;
  shown.exponent = `${how} = ${exponent}`.replace("-", "−") + `, which is ${power(exponent)}`;
  shown.fraction = [field ? "1" : "0", ...places.map((place) => power(-place))].join(" + ");
  const added = led.map((place) => power(exponent - place)).join(" + ") || "0";
  const sum = minus && led.length > 1 ? `−(${added})` : minus ? `−${added}` : added;
  return { ...shown, sum, value: written };
}

// ------------------------------------------------------------------------------------------------------ what is typed

const NUMBER = /^(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?/;
const SUPERSCRIPT = /[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g;
const MOST = 2000; // an exponent beyond it has nothing to tell

/** Return the float that Python makes of a text: `readClosely` without what was lost on the way. */
export function read(text) {
  return readClosely(text)[0];
}

/**
 * Return [value, fate]: the float that Python makes of a text, and what became of the number in it on the way there.
 *
 * The text is a number, inf, nan, or a sum, product or quotient of numbers. Powers are those of 2 and 10, with a whole
 * exponent: 2**-24, 2^-24 or 2⁻²⁴. Throws an error in words for the reader.
 *
 * The fate is "" where the float is what was typed, "near" where it is rounded, "small" where what was typed is no zero
 * and too small for a float, "large" where it is finite and too large, and "way" where a number on the way was.
 */
export function readClosely(text) {
  let rest = text.toLowerCase().replace(/\s+/g, "").replaceAll("−", "-").replace(/[×·]/g, "*")
    .replace(SUPERSCRIPT, (signs) => "**" + [...signs].map((sign) => (sign === "⁻" ? "-" : SIGNS.indexOf(sign))).join(""))
    .replaceAll("^", "**");
  if (!rest) throw new SyntaxError("Type a number.");
  const special = /^([+-]?)(?:(inf(?:inity)?|∞)|nan)$/.exec(rest);
  if (special) return [special[2] ? (special[1] === "-" ? -Infinity : Infinity) : NaN, ""];

  const take = (...signs) => {
    const sign = signs.find((each) => rest.startsWith(each));
    if (sign) rest = rest.slice(sign.length);
    return sign;
  };
  const number = () => {
    const found = NUMBER.exec(rest)[0];
    if (!/\d/.test(found) || /^e/.test(found)) throw new SyntaxError(unread(text));
    rest = rest.slice(found.length);
    const digits = found.replaceAll(",", "");
    return { value: Number(digits), exact: decimal(digits) };
  };
  const raisedTo = () => {
    const base = number();
    if (!take("**")) return base;
    const sign = take("-", "+"), digits = /^\d+/.exec(rest)?.[0];
    if (!digits || (base.value !== 2 && base.value !== 10)) {
      throw new SyntaxError("A power is one of 2 or of 10 with a whole exponent, such as 2**-24.");
    }
    rest = rest.slice(digits.length);
    const exponent = (sign === "-" ? -1 : 1) * Math.min(Number(digits), MOST);
    // Python's 10**-8 is the float next to it, and so is JavaScript's 1e-8; its own 10 ** -8 need not be.
    return { value: base.value === 2 ? 2 ** exponent : Number(`1e${exponent}`), exact: raise(BigInt(base.value), exponent) };
  };
  const signed = () => {
    const sign = take("-", "+");
    const { value, exact: [top, bottom] } = raisedTo();
    return sign === "-" ? { value: -value, exact: [-top, bottom] } : { value, exact: [top, bottom] };
  };
  const product = () => {
    let { value, exact } = signed();
    for (let sign; !rest.startsWith("**") && (sign = take("*", "/")); ) {
      const other = signed();
      if (sign === "/" && other.value === 0) {
        throw new SyntaxError(other.exact[0] ? "That divides by what is too small for Python’s float, which makes 0 of it." : "That divides by zero.");
      }
      value = sign === "*" ? value * other.value : value / other.value;
      const [top, bottom] = sign === "*" ? other.exact : [...other.exact].reverse();
      exact = [exact[0] * top, exact[1] * bottom];
    }
    return { value, exact };
  };
  let { value, exact } = product();
  for (let sign; (sign = take("+", "-")); ) {
    const other = product();
    value = sign === "+" ? value + other.value : value - other.value;
    const [top, bottom] = other.exact;
    exact = [exact[0] * bottom + (sign === "+" ? top : -top) * exact[1], exact[1] * bottom];
  }
  if (rest) throw new SyntaxError(unread(text));
  return [value, fate(value, exact)];
}

// What is typed, exactly: a fraction of whole numbers, [top, bottom]; a quotient's bottom may be negative.

function raise(base, exponent) {
  return exponent < 0 ? [1n, base ** BigInt(-exponent)] : [base ** BigInt(exponent), 1n];
}

function decimal(digits) {
  const [, whole, part = "", exponent = 0] = /^(\d*)\.?(\d*)(?:e(.*))?$/.exec(digits);
  const [top, bottom] = raise(10n, Math.max(-MOST, Math.min(MOST, Number(exponent))) - part.length);
  return [BigInt(whole + part) * top, bottom];
}

/** Return a finite float as a fraction. */
function fraction(value) {
  if (value === 0) return [0n, 1n];
  const places = exponentOf(value) - 52; // the last bit that a float of this size can have, or a smaller one
  const steps = places < -1000 ? value * 2 ** 1000 * 2 ** (-places - 1000) : value / 2 ** places;
  const [top, bottom] = raise(2n, places);
  return [BigInt(steps) * top, bottom];
}

const TOO_LARGE = 2n ** 1024n - 2n ** 970n; // halfway from the last float to what would be next

function fate(value, [top, bottom]) {
  const size = (number) => (number < 0n ? -number : number);
  if (Number.isFinite(value)) {
    const [above, below] = fraction(value);
    if (above * bottom === top * below) return "";
    if (value !== 0) return "near";
    return size(top) * 2n ** 1075n <= size(bottom) ? "small" : "way";
  }
  return size(top) >= TOO_LARGE * size(bottom) ? "large" : "way";
}

const unread = (text) => `“${text.trim()}” is no number that can be read here. Try 0.1, 1e-8, 2**-24, 65519, inf or nan.`;
