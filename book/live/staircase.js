// The scale over the steps of a run as a staircase, with a mark at each skipped step, and a cursor.

import { h, power, svg } from "./element.js";

const HEIGHT = 290;
const EDGE = { left: 46, right: 10, top: 10, bottom: 42 };
const SIZE = 13; // px of the words: the drawing is as wide as its place, and is never scaled
const DASHED = { stroke: "var(--fig-soft)", "stroke-width": 1.5, "stroke-dasharray": "5 4" };
let count = 0;

/**
 * The drawing: {element, legend}; it is drawn in the width that it has, and again when that changes.
 *
 * `picked(step)` is called when the reader points at a step.
 */
export class Staircase {
  constructor({ picked }) {
    this.clip = `hp-live-clip-${++count}`;
    this.element = svg("svg", { class: "hp-live-drawing", role: "img", height: HEIGHT });
    this.legend = h("p", { class: "hp-live-legend", "aria-hidden": "true" });
    this.width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.round(contentRect.width) === this.width) return;
      this.width = Math.round(contentRect.width);
      if (this.run && this.width) this.draw();
    }).observe(this.element);
    this.element.addEventListener("click", (event) => {
      const { left } = this.element.getBoundingClientRect();
      const step = Math.round((event.clientX - left - EDGE.left) / this.wide - 0.5);
      if (this.run) picked(Math.max(0, Math.min(this.run.scales.length - 1, step)));
    });
  }

  /**
   * Show a run: `scales`, one a step and none negative, the numbers of the steps `skipped`, and `limits`, the largest
   * scale without overflow at each step, or null where there is none. `label` says in words what is to be seen.
   */
  show({ scales, skipped, limits = null, label }) {
    this.run = { scales, skipped, limits };
    this.element.setAttribute("aria-label", label);
    this.legend.replaceChildren(
      key("scale", ["line", { x1: 1, x2: 23, y1: 6, y2: 6, stroke: "var(--fig-c1)", "stroke-width": 2 }]),
      key("skipped step", ["path", { d: cross(12, 6, 4), stroke: "var(--fig-c2)", "stroke-width": 2 }]),
      ...(limits ? [key("largest scale without overflow", ["line", { x1: 0, x2: 24, y1: 6, y2: 6, ...DASHED }])] : []),
    );
    if (this.width) this.draw();
  }

  /** Put the cursor on a step; what comes after it is drawn faintly, unless the `whole` run is to be seen. */
  at(step, { whole = false } = {}) {
    this.step = step;
    this.whole = whole;
    if (this.window) this.point();
  }

  x(step) {
    return EDGE.left + (step + 0.5) * this.wide;
  }

  /** Return the height of a scale, on an axis of powers of two. Zero is no power of two: it has a place below them. */
  y(scale) {
    const exponent = scale > 0 ? Math.log2(scale) : this.low;
    return EDGE.top + ((this.high - exponent) / (this.high - this.low)) * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  draw() {
    const { scales, skipped, limits } = this.run;
    this.wide = (this.width - EDGE.left - EDGE.right) / scales.length;
    const ticks = this.axis([...scales, ...(limits ?? [])]);
    const bottom = HEIGHT - EDGE.bottom;
    // Marks that touch would hide the line: in a long run they are behind it.
    const size = Math.max(3.5, Math.min(4.5, 0.7 * this.wide));
    const dense = this.wide < 4;
    const stairs = svg("path", { d: this.path(scales), stroke: "var(--fig-c1)", "stroke-width": dense ? 1.5 : 2, fill: "none" });
    const marks = svg("path", {
      d: skipped.map((step) => cross(this.x(step), this.y(scales[step]), size)).join(""),
      stroke: "var(--fig-c2)", "stroke-width": dense ? 1 : 2, fill: "none", class: "hp-live-skips",
    });
    this.window = svg("rect", { x: EDGE.left, y: 0, height: HEIGHT });
    this.line = svg("line", { y1: EDGE.top, y2: bottom, stroke: "var(--fig-ink)", "stroke-width": 1 });
    this.ring = svg("circle", { r: 5, fill: "var(--fig-paper)", stroke: "var(--fig-ink)", "stroke-width": 2 });
    this.element.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.element.replaceChildren(
      svg("clipPath", { id: this.clip }, this.window),
      ...ticks.map(([y, words]) => svg("g", {},
        svg("line", { x1: EDGE.left, x2: this.width - EDGE.right, y1: y, y2: y, stroke: "var(--fig-grid)" }),
        text(words, EDGE.left - 8, y + 4.5, "end"))),
      ...steps(scales.length, this.width > 500 ? 7 : 4).map((step) => svg("g", {},
        svg("line", { x1: this.x(step), x2: this.x(step), y1: bottom, y2: bottom + 4, stroke: "var(--fig-soft)" }),
        text(step.toLocaleString("en-US"), this.x(step), bottom + 18, "middle"))),
      svg("line", { x1: EDGE.left, x2: this.width - EDGE.right, y1: bottom, y2: bottom, stroke: "var(--fig-soft)" }),
      text("step", (EDGE.left + this.width - EDGE.right) / 2, HEIGHT - 6, "middle"),
      ...(limits ? [svg("path", { d: this.path(limits), fill: "none", ...DASHED })] : []),
      svg("g", { opacity: 0.3 }, stairs.cloneNode(), marks.cloneNode()),
      this.line,
      svg("g", { "clip-path": `url(#${this.clip})` }, ...(dense ? [marks, stairs] : [stairs, marks])),
      this.ring,
    );
    this.point();
  }

  point() {
    const step = Math.min(this.step ?? Infinity, this.run.scales.length - 1);
    this.window.setAttribute("width", (this.whole ? this.run.scales.length : step + 1) * this.wide);
    for (const end of ["x1", "x2"]) this.line.setAttribute(end, this.x(step));
    this.ring.setAttribute("cx", this.x(step));
    this.ring.setAttribute("cy", this.y(this.run.scales[step]));
  }

  /** Set the ends of the vertical axis so that all numbers have a place; return its ticks as [y, words] pairs. */
  axis(numbers) {
    const exponents = numbers.filter((number) => number > 0).map(Math.log2);
    const least = exponents.length ? Math.floor(exponents.reduce((a, b) => Math.min(a, b))) : 0;
    const most = exponents.length ? Math.ceil(exponents.reduce((a, b) => Math.max(a, b))) : 0;
    let apart = 1;
    while ((most - least) / apart > 6) apart *= 2;
    const zero = numbers.includes(0);
    this.high = most + 0.6 * Math.max(1, (most - least) / 20);
    this.low = least - (zero ? Math.max(1.5, (most - least) / 8) : 0.6);
    const ticks = [];
    for (let exponent = apart * Math.ceil(least / apart); exponent <= most; exponent += apart) {
      ticks.push([this.y(2 ** exponent), power(exponent)]);
    }
    return zero ? [[this.y(0), "0"], ...ticks] : ticks;
  }

  /** Return the path of numbers that each hold for one step; equal neighbors are one line. */
  path(numbers) {
    let d = `M${this.x(-0.5)} ${this.y(numbers[0])}`;
    numbers.forEach((number, step) => {
      if (step && number !== numbers[step - 1]) d += `H${round(this.x(step - 0.5))}V${round(this.y(number))}`;
    });
    return `${d}H${round(this.x(numbers.length - 0.5))}`;
  }
}

const round = (number) => Math.round(100 * number) / 100;

function cross(x, y, size) {
  const [left, right, top, bottom] = [x - size, x + size, y - size, y + size].map(round);
  return `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
}

function text(words, x, y, anchor) {
  return svg("text", { x, y, "text-anchor": anchor, "font-size": SIZE, fill: "var(--fig-ink)" }, words);
}

function key(words, [tag, attributes]) {
  return h("span", {}, svg("svg", { width: 24, height: 12 }, svg(tag, attributes)), words);
}

/** Return round numbers of steps for at most so many ticks. */
function steps(length, most) {
  let apart = 1;
  for (let grow = 0; Math.ceil(length / apart) > most; grow++) apart *= [2, 2.5, 2][grow % 3];
  return Array.from({ length: Math.ceil(length / apart) }, (_, index) => index * apart);
}
