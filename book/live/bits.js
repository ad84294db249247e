// The bit explorer, <hp-live-bits>: flip a bit, type a number, go to the next one, and see what the bits add up to.

import { numberLine } from "./bits_line.js";
import { bit, decode, encode, flip, plain, power, readClosely, repr, step, terms } from "./bits_numbers.js";
import { neighbors, story } from "./bits_words.js";
import { Live, choice, h, svg } from "./element.js";

const FIELDS = ["sign", "exponent", "fraction"];
const PARTS = ["sign", "exponent", "fraction", "sum", "value"];

/** Keep the exponents of numbers on their lines. */
const unbroken = (text) => text.replace(/e-(?=\d)/g, "e\u2011");

class Bits extends Live {
  start({ format, formats, key, text }) {
    this.key = key;
    this.formats = formats;
    this.format = formats.find(({ name }) => name === format);
    this.ask(text);
    this.marks = h("div", { class: "hp-bits-marks", role: "group", "aria-label": "Numbers to go to" });
    this.told = h("p", { class: "hp-live-sum" });
    this.strip = svg("svg", { class: "hp-bits-line", role: "img", width: "100%", height: 118 });
    this.beside = h("p", { class: "hp-bits-beside" });
    return [...this.choices(), this.field(), this.marks, this.row(), this.told, this.lines(), this.strip, this.beside];
  }

  // ------------------------------------------------------------------------------------------------------------- state

  /** Take a number as it was typed; raises what `read` raises. */
  ask(text) {
    [this.value, this.fate] = readClosely(text);
    this.text = text.trim();
    this.pattern = encode(this.value, this.format);
  }

  /** Take a pattern; what was typed is no more. */
  take(pattern) {
    this.pattern = pattern;
    this.value = null;
    this.fate = "";
    this.text = "";
    this.input.value = repr(decode(pattern, this.format)).replace(/\.0$/, "");
    this.complain("");
    this.show();
  }

  /** Change the format. The number stays: the one that was typed, or else the one that is stored. */
  change(name) {
    if (this.value === null) {
      this.value = decode(this.pattern, this.format);
      this.text = plain(this.value);
    }
    this.format = this.formats.find((each) => each.name === name);
    this.pattern = encode(this.value, this.format);
    this.show();
  }

  // ---------------------------------------------------------------------------------------------------------- controls

  choices() {
    if (this.formats.length < 2) return [];
    const options = this.formats.map(({ name, label }) => [name, label]);
    const formats = choice({ label: "Format", options, value: this.format.name, changed: () => this.change(formats.value) });
    return [formats.element];
  }

  field() {
    const id = `${this.key}-number`, wrong = `${this.key}-wrong`;
    this.input = h("input", {
      type: "text", id, value: this.text, maxlength: 60, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      "aria-describedby": wrong, oninput: () => this.typed(false), onchange: () => this.typed(true),
    });
    this.wrong = h("p", { class: "hp-bits-wrong", id: wrong, role: "status" });
    this.down = h("button", { type: "button", onclick: () => this.go(false) }, "← next smaller");
    this.up = h("button", { type: "button", onclick: () => this.go(true) }, "next larger →");
    const steps = h("div", { class: "hp-bits-steps", role: "group", "aria-label": "One number on" }, this.down, this.up);
    return h("div", { class: "hp-bits-field" }, h("label", { for: id }, "Number"), this.input, steps, this.wrong);
  }

  typed(done) {
    try {
      this.ask(this.input.value);
    } catch (error) {
      if (done) this.complain(error.message); // half a number is no mistake while it is being typed
      return;
    }
    this.complain("");
    this.show();
  }

  complain(text) {
    this.wrong.textContent = text;
    if (text) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }

  go(up) {
    const next = step(this.pattern, this.format, up);
    if (next !== null) this.take(next);
  }

  // -------------------------------------------------------------------------------------------------------- row of bits

  row() {
    this.caption = h("div", { class: "hp-bits-caption" });
    this.groups = h("div", {
      class: "hp-bits-row", role: "toolbar", "aria-label": "Bits: arrow keys move, space flips",
      onkeydown: (event) => this.move(event),
    });
    return h("div", { class: "hp-bits hp-bits-live" }, this.caption, this.groups);
  }

  /** Build the row of bits of the present format, and its landmarks. */
  build() {
    const { width, exponent, fraction } = this.format;
    this.bits = Array.from({ length: width }, (_, place) => this.bit(width - 1 - place));
    const last = [1, 1 + exponent, 1 + exponent + fraction];
    this.groups.replaceChildren(...FIELDS.map((name, field) => {
      const bits = this.bits.slice(last[field - 1] ?? 0, last[field]);
      return h("div", { class: `hp-bits-group hp-bits-${name}` }, h("span", {}, bits), h("small", {}, name));
    }));
    this.reach(0);
    this.marks.replaceChildren(...this.format.marks.map(([words, text]) => {
      const go = () => {
        this.input.value = text;
        this.typed(true);
      };
      return h("button", { type: "button", onclick: go }, words);
    }));
    this.built = this.format;
  }

  bit(place) {
    const { width, fraction } = this.format;
    const [field, spoken, worth] =
      place === width - 1 ? ["sign", "minus", "±"]
      : place >= fraction ? ["exponent", `2^${place - fraction}`, String(2 ** (place - fraction))]
      : ["fraction", `2^${place - fraction}`, power(place - fraction)];
    return h("button", {
      type: "button", class: "hp-bit", tabindex: -1, "data-bit": place,
      onclick: () => this.take(flip(this.pattern, place)),
      onfocus: () => this.reach(width - 1 - place),
    }, h("b"), " ", h("small", {}, worth), h("span", { class: "hp-unseen" }, `, ${field} bit ${place}, worth ${spoken}`));
  }

  /** Make one bit that which the Tab key comes to. */
  reach(index) {
    for (const [place, button] of this.bits.entries()) button.tabIndex = place === index ? 0 : -1;
  }

  move(event) {
    const now = this.bits.indexOf(event.target), last = this.bits.length - 1;
    const to = { ArrowLeft: Math.max(now - 1, 0), ArrowRight: Math.min(now + 1, last), Home: 0, End: last }[event.key];
    if (now < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.bits[to].focus();
  }

  // ------------------------------------------------------------------------------------------------------------- shown

  lines() {
    this.parts = Object.fromEntries(PARTS.map((part) => [part, h("dd", { "data-part": part })]));
    const listed = PARTS.flatMap((part) => [h("dt", { class: `hp-bits-${part}` }, part), this.parts[part]]);
    return h("dl", { class: "hp-bits-terms" }, listed);
  }

  show() {
    this.draw();
    this.speak(`${plain(decode(this.pattern, this.format))}. ${story(this)}`);
  }

  draw() {
    if (this.built !== this.format) this.build();
    const { format, pattern } = this;
    for (const button of this.bits) {
      const on = bit(pattern, Number(button.dataset.bit)) === 1;
      button.setAttribute("aria-pressed", on);
      button.classList.toggle("on", on);
      button.firstChild.textContent = Number(on);
    }
    this.caption.textContent = this.text ? `${this.text} in ${format.label}` : `a pattern of ${format.label}`;
    this.told.textContent = unbroken(story(this));
    for (const [part, text] of Object.entries(terms(pattern, format))) this.parts[part].textContent = text;
    this.down.setAttribute("aria-disabled", step(pattern, format, false) === null);
    this.up.setAttribute("aria-disabled", step(pattern, format, true) === null);

    const { parts, subnormal } = numberLine(this);
    const words = neighbors(pattern, format) + (subnormal ? " Short and yellow: subnormal numbers." : "");
    this.beside.textContent = unbroken(words);
    this.strip.replaceChildren(...parts);
    this.strip.style.display = parts.length ? "" : "none";
    this.strip.setAttribute("aria-label", `The number line around ${plain(decode(pattern, format))}. ${words}`);
  }
}

customElements.define("hp-live-bits", Bits);
