// Chapter 2: each layer's gradients by size, times a scale that the reader chooses, in the zones of fp16.

import { Live, h, power, slider, svg } from "./element.js";
import { moved, percent, shares } from "./histogram_numbers.js";

const ROW = 52; // pixels, as all lengths here: the drawing is as wide as its place, so that words keep their size
const TOP = 38;
const FOOT = 42;
const NAMES = 52;
const ZEROS = 26;
const GAP = 8;
const STRIP = 3; // the line under a row, in the zones' colors, from its smallest to its largest gradient
const HEADROOM = 1.25; // as book/figures/gradient_histogram.py has it
const NARROW = 420;
const NARROWEST = 280; // and what it is drawn at while it is veiled
const ZONES = [
  { name: "lost", color: "var(--fig-c2)" },
  { name: "subnormal", short: ["sub-", "normal"], color: "var(--fig-c5)" },
  { name: "normal", color: "var(--fig-c1)" },
  { name: "inf", color: "var(--fig-c4)" },
];
const COUNT = new Intl.NumberFormat("en-US");

class Histogram extends Live {
  start(data) {
    this.data = data;
    this.scale = slider({
      label: "Scale the gradients by",
      min: data.lowest,
      max: data.lowest + data.scales.length - 1,
      value: data.start,
      words: (exponent) => data.scales[exponent - data.lowest],
      changed: () => this.changed(),
    });
    const button = (words, wanted) =>
      h("button", { type: "button", onclick: () => { this.scale.set(wanted()); this.changed(); } }, words);
    const go = (exponent, words) => button(words, () => exponent);
    this.found = go(data.largest, `${power(data.largest)}, last without inf`);
    this.found.hidden = true;
    const buttons = [
      button("halve", () => this.scale.value - 1), // a slider stays between its ends by itself
      button("double", () => this.scale.value + 1),
      go(0, "no scale"),
      go(data.start, power(data.start)),
      this.found,
    ];
    this.drawing = svg("svg", { role: "img", class: "hp-live-drawing" });
    this.cells = data.rows.map(() => ({ lost: h("td"), mass: h("td"), inf: h("td") }));
    this.sum = h("p", { class: "hp-live-sum" });
    this.largest = h("p", { class: "hp-live-found", hidden: true },
      "The largest power of two at which none of these becomes inf is ", h("strong", {}, power(data.largest)), ".");
    this.side = h("div", { class: "hp-live-rows" }, this.drawing, this.table());
    // In a frame of its own: a drawing that changes the size that is being observed is an error in the console.
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(this.side);
    const caption = this.querySelector(".hp-live-still figcaption");
    return [
      h("div", { class: "hp-live-controls" }, this.scale.element,
        h("div", { class: "hp-live-buttons", role: "group", "aria-label": "Change the scale" }, ...buttons)),
      this.side,
      this.sum,
      this.largest,
      caption ? h("p", { class: "hp-live-caption" }, caption.textContent) : null,
    ].filter(Boolean);
  }

  table() {
    const head = (name, of) => h("th", { scope: "col" }, name, " ", h("span", {}, of));
    const rows = this.data.rows.map(({ name }, index) =>
      h("tr", {}, h("th", { scope: "row" }, h("span", {}, name)), ...Object.values(this.cells[index])));
    return h("table", {},
      h("caption", { class: "hp-unseen" }, "What fp16 makes of each layer’s gradients that are not zero"),
      h("thead", {}, h("tr", {}, h("td"), head("lost,", "by count"), head("lost,", "by mass"), head("inf,", "by count"))),
      h("tbody", {}, ...rows));
  }

  draw() {
    const { data } = this;
    const exponent = this.scale.value;
    const index = exponent - data.lowest;
    data.rows.forEach((row, at) => {
      const found = shares(row, index);
      for (const [name, cell] of Object.entries(this.cells[at])) {
        cell.textContent = percent(found[name]);
        cell.className = found[name] ? `hp-live-${name}` : "";
      }
    });
    if (exponent > data.largest) this.found.hidden = this.largest.hidden = false;
    this.sum.textContent = this.words(index);
    this.picture(exponent, index);
  }

  changed() {
    this.draw();
    const found = this.scale.value > this.data.largest ? ` ${this.largest.textContent}` : "";
    this.speak(`${this.data.scales[this.scale.value - this.data.lowest]}. ${this.sum.textContent}${found}`);
  }

  /** Say what becomes of all gradients together. */
  words(index) {
    const { rows, total } = this.data;
    const { lost, mass } = shares(total, index);
    const nonzero = COUNT.format(total.size - total.zeros);
    const first = total.lost[index]
      ? `Of ${nonzero} gradients that are not zero, fp16 loses ${COUNT.format(total.lost[index])} (${percent(lost)}), ` +
        `and with them ${percent(mass).replace("< ", "less than ").replace("> ", "more than ")} of the mass.`
      : `Of ${nonzero} gradients that are not zero, fp16 loses none.`;
    const where = rows.filter((row) => row.inf[index]).map((row) => row.name);
    const list = new Intl.ListFormat("en-US").format(where);
    return `${first} ${where.length ? `${COUNT.format(total.inf[index])} become inf, in ${list}.` : "None becomes inf."}`;
  }

  picture(exponent, index) {
    const { rows, axis, edges } = this.data;
    const width = Math.max(this.drawing.getBoundingClientRect().width, NARROWEST);
    const height = TOP + rows.length * ROW + FOOT;
    const left = NAMES + ZEROS + GAP;
    const narrow = width < NARROW;
    const place = (bin) => left + ((bin - axis[0]) / (axis[1] - axis[0])) * (width - left - 1);
    const before = rows.map((row) => moved(row, 0, axis).map((count) => count / row.size));
    const top = HEADROOM * Math.max(...before.flat()) || 1;
    const parts = rows.flatMap((row, at) => {
      const base = TOP + (at + 1) * ROW;
      const up = (share) => base - (share / top) * ROW;
      return [
        ...this.zeros(row, base, index),
        ...this.strip(row, exponent, place, base),
        ...this.bars(moved(row, exponent, axis).map((count) => count / row.size), place, up, base),
        svg("path", { d: outline(before[at], axis[0], place, up), fill: "none", stroke: "var(--fig-soft)", "stroke-width": 1 }),
        svg("line", { x1: left, x2: width, y1: base, y2: base, stroke: "var(--fig-soft)", "stroke-width": 0.8 }),
        text(row.name, NAMES - 6, base - ROW / 2 + 4, "end"),
      ];
    });
    const foot = height - FOOT;
    const bounds = [axis[0], ...edges, axis[1]];
    const lines = edges.map((edge) => svg("line", { x1: place(edge), x2: place(edge), y1: TOP, y2: foot,
      stroke: "var(--fig-soft)", "stroke-width": 1, "stroke-dasharray": "1.5 2" }));
    const names = ZONES.flatMap(({ name, short, color }, zone) => {
      const middle = (place(bounds[zone]) + place(bounds[zone + 1])) / 2;
      const words = (narrow && short) || [name];
      const inside = Math.min(middle, width - 10);
      return words.map((word, line) => text(word, inside, TOP - 7 - 14 * (words.length - 1 - line), "middle", color, 600));
    });
    const ticks = (narrow ? edges : [axis[0] + 10, axis[0] + 20, ...edges, 0]).flatMap((bin) => [
      svg("line", { x1: place(bin), x2: place(bin), y1: foot, y2: foot + 4, stroke: "var(--fig-soft)" }),
      text(power(bin), place(bin), foot + 17, "middle"),
    ]);
    const label = exponent ? `size of the gradient × ${power(exponent)}` : "size of the gradient";
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.setAttribute("height", height);
    this.drawing.replaceChildren(...parts, ...lines, ...names, ...ticks,
      text("zero", NAMES + ZEROS / 2, foot + 17, "middle"),
      text(label, (left + width) / 2, foot + 36, "middle"));
    const said = rows.map((row) => `${row.name} ${percent(shares(row, index).lost)}`).join("; ");
    this.drawing.setAttribute("aria-label", `Histograms of the sizes of gradients times ${power(exponent)}, by powers of two, ` +
      `a row a layer, over the outlines of the unscaled ones. Share of the non-zero that fp16 loses: ${said}.`);
  }

  /** Return the bars of a row's zeros: gray in any format, above them what fp16 loses. */
  zeros(row, base, index) {
    const full = ROW - 4;
    const [gray, orange] = [row.zeros, row.lost[index]].map((count) => (count / row.size) * full);
    const bar = (y, height, color) => svg("rect", { x: NAMES, y, width: ZEROS, height, fill: color });
    return [
      bar(base - gray, gray, "var(--fig-soft)"),
      bar(base - gray - orange, orange, ZONES[0].color),
      svg("line", { x1: NAMES, x2: NAMES + ZEROS, y1: base, y2: base, stroke: "var(--fig-soft)", "stroke-width": 0.8 }),
    ];
  }

  /** Return the line from the smallest to the largest, for most of the bins at its ends are too low to be seen. */
  strip(row, exponent, place, base) {
    const { axis, edges } = this.data;
    const [from, to] = [row.first, row.first + row.bins.length].map((bin) => Math.min(Math.max(bin + exponent, axis[0]), axis[1]));
    const cuts = [from, ...edges.filter((edge) => edge > from && edge < to), to];
    return row.bins.length
      ? cuts.slice(1).map((cut, at) => svg("rect", { x: round(place(cuts[at])), width: round(place(cut) - place(cuts[at])),
        y: base + 1, height: STRIP, fill: ZONES[edges.filter((edge) => cuts[at] >= edge).length].color }))
      : [];
  }

  /** Return a row's bins, a path for each zone. */
  bars(found, place, up, base) {
    const { axis, edges } = this.data;
    const paths = ZONES.map(() => "");
    found.forEach((share, at) => {
      if (!share) return;
      const bin = axis[0] + at;
      const zone = edges.filter((edge) => bin >= edge).length;
      const [x, next] = [place(bin), place(bin + 1)];
      paths[zone] += `M${round(x)} ${round(base)}V${round(up(share))}H${round(next)}V${round(base)}Z`;
    });
    return paths.map((d, zone) => d && svg("path", { d, fill: ZONES[zone].color, "data-zone": ZONES[zone].name })).filter(Boolean);
  }
}

const round = (value) => Math.round(value * 100) / 100;

function outline(found, first, place, up) {
  return "M" + found.flatMap((share, at) => [first + at, first + at + 1].map((bin) => `${round(place(bin))} ${round(up(share))}`)).join("L");
}

function text(words, x, y, anchor, fill = "var(--fig-ink)", weight = 400) {
  return svg("text", { x: round(x), y: round(y), "text-anchor": anchor, "font-size": 12, "font-weight": weight, fill }, words);
}

customElements.define("hp-live-histogram", Histogram);
