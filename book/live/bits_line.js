// The bit explorer's number line: a tick for each number around the one that is shown, and where the typed one lies.

import { decode, gaps, kind, plain, step, unit } from "./bits_numbers.js";
import { svg } from "./element.js";

const REACH = 3.5; // gaps to each side
const AXIS = 56; // px from the top; places across are percent, so that words keep their size on a phone
const INTO = 1.5; // percent from the edges for what is farther out

/**
 * Return the parts of the drawing, and whether there is a subnormal number among them: {parts, subnormal}.
 *
 * `value` is the number that was asked for, `text` how, or null and "". A nan has no place: then there are no parts.
 */
export function numberLine({ value, text, pattern, format }) {
  const what = kind(pattern, format);
  if (what === "nan") return { parts: [], subnormal: false };
  const minus = decode(pattern, format) < 0;
  // Infinity has no place, so the end of the line is shown, around where the next number would be.
  const from = what === "inf" ? step(pattern, format, minus) : pattern;
  const apart = gaps(from, format);
  const unit = Math.max(apart.below ?? 0, apart.above ?? 0);
  const middle = decode(from, format) + (what !== "inf" ? 0 : minus ? -unit : unit);
  const x = (number) => 50 + (50 * (number - middle)) / unit / REACH;

  const around = within(from, format, (number) => Math.abs(x(number) - 50) < 50);
  const parts = [
    svg("line", { x1: 0, x2: "100%", y1: AXIS, y2: AXIS, class: "axis" }),
    ...around.map((each) => tick(each, format, x, each === from && what !== "inf")),
    ...[false, true].flatMap((up) => end(up, format, x)),
    svg("text", { x: "50%", y: 112, class: "name" }, what === "inf" ? "the next number would be here" : plain(middle)),
  ];
  if (what !== "inf") parts.push(...gap(middle, apart.below, -1, x), ...gap(middle, apart.above, 1, x));
  if (value !== null && value !== decode(pattern, format)) parts.push(...marker(x(value), text));
  return { parts, subnormal: around.some((each) => each !== from && kind(each, format) === "subnormal") };
}

/** Return the patterns on both sides of one whose numbers are near enough, and it. */
function within(from, format, near) {
  const found = [from];
  for (const up of [false, true]) {
    for (let each = step(from, format, up); each !== null && near(decode(each, format)); each = step(each, format, up)) {
      found.push(each);
    }
  }
  return found;
}

const at = (place) => `${place.toFixed(3)}%`;

function tick(pattern, format, x, now) {
  const subnormal = kind(pattern, format) === "subnormal";
  const size = now ? 18 : subnormal ? 7 : 11, place = at(x(decode(pattern, format)));
  const name = now ? "tick now" : subnormal ? "tick subnormal" : "tick";
  return svg("line", { x1: place, x2: place, y1: AXIS - size, y2: AXIS + size, class: name });
}

/** Where the numbers end within the picture, shade what is beyond: up to half a gap all is rounded back to the last. */
function end(up, format, x) {
  const sign = up ? 1 : -1;
  const place = x(sign * (decode(format.largest, format) + gaps(format.largest, format).below / 2));
  if (up ? place > 97 : place < 3) return [];
  const [left, right] = up ? [place, 100] : [0, place];
  return [
    svg("rect", { x: at(left), width: at(right - left), y: AXIS - 12, height: 24, class: "beyond" }),
    svg("text", { x: at((left + right) / 2), y: AXIS - 16, class: "name" }, format.infinite ? plain(sign * Infinity) : "no number"),
  ];
}

function gap(middle, size, side, x) {
  if (size === null) return [];
  const [left, right] = [x(middle), x(middle + side * size)].sort((a, b) => a - b);
  return [
    svg("line", { x1: at(left + 0.4), x2: at(right - 0.4), y1: 80, y2: 80, class: "gap" }),
    svg("text", { x: at((left + right) / 2), y: 95, class: "size" }, unit(size)),
  ];
}

/** Mark where the typed number lies; an arrow points to one outside. */
function marker(wanted, text) {
  const place = Math.min(Math.max(wanted, INTO), 100 - INTO);
  const head = place === wanted ? "M0 54 L0 30 M0 56 L-4 46 L4 46 Z" : place < 50 ? "M-5 34 L4 29 L4 39 Z" : "M5 34 L-4 29 L-4 39 Z";
  const anchor = place < 20 ? "start" : place > 80 ? "end" : "middle";
  return [
    svg("svg", { x: at(place), overflow: "visible", "aria-hidden": "true" }, svg("path", { d: head, class: "typed" })),
    svg("text", { x: at(place), y: 24, "text-anchor": anchor, class: "asked" }, text),
  ];
}
