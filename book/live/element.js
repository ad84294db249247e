// What live figures share: an element around a still picture, controls with their values, and words for who listens.
//
// A figure is a class that extends Live and has
//   start(data)   builds its controls and its drawing from what Python has put into the page; returns the nodes
//   draw()        shows the state that its controls have
// Numbers are computed in modules without a document, which the tests compare with Python's.

import { h } from "../widget/dom.js";
import { power } from "./power.js";

export { h, power };

const SPEAK_AFTER = 500; // ms without a change: who drags a slider does not want to hear each value
const STILL = "(prefers-reduced-motion: reduce)";

export class Live extends HTMLElement {
  connectedCallback() {
    if (this.live) return;
    const data = JSON.parse(this.querySelector('script[type="application/json"]').textContent);
    this.said = h("p", { class: "hp-unseen", role: "status" });
    this.live = h("div", { class: "hp-live-body" });
    this.live.append(...this.start(data), this.said);
    this.append(this.live);
    this.classList.add("hp-live-on"); // the style sheet hides the still picture, but for print
    this.draw();
    this.drawn = true;
  }

  /** Say what the figure shows now, to those who do not see it; not at the start, and once a change has come to rest. */
  speak(text) {
    clearTimeout(this.speaking);
    if (this.drawn) this.speaking = setTimeout(() => (this.said.textContent = text), SPEAK_AFTER);
  }

  /** Whether the reader wants nothing to move by itself. */
  get calm() {
    return matchMedia(STILL).matches;
  }
}

let count = 0;

/**
 * Return a slider in a label, with its value as words beside it: {element, value, set(value)}.
 *
 * `words(value)` says a value; `changed()` is called on each change by the reader.
 */
export function slider({ label, min, max, step = 1, value, words = String, changed }) {
  const id = `hp-live-${++count}`;
  const output = h("output", { for: id });
  const input = h("input", { type: "range", id, min, max, step, value, oninput: () => { show(); changed(); } });
  const show = () => {
    output.textContent = words(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  show();
  return {
    element: h("div", { class: "hp-live-control" }, h("label", { for: id }, label), input, output),
    get value() { return Number(input.value); },
    set(wanted) { input.value = wanted; show(); },
  };
}

/** Return a group of choices, one of which is on: {element, value, set(value)}; `options` are [value, words] pairs. */
export function choice({ label, options, value, changed }) {
  const name = `hp-live-${++count}`;
  const inputs = options.map(([each]) =>
    h("input", { type: "radio", name, value: each, checked: each === value, onchange: changed }));
  const labels = options.map(([, words], index) => h("label", {}, inputs[index], h("span", {}, words)));
  return {
    element: h("fieldset", { class: "hp-live-choice" }, h("legend", {}, label), ...labels),
    get value() { return inputs.find((input) => input.checked).value; },
    set(wanted) { for (const input of inputs) input.checked = input.value === String(wanted); },
  };
}

const SVG = "http://www.w3.org/2000/svg";

/** Return an SVG element; colors are the CSS variables of book/figures/style.py, as `fill: "var(--fig-c1)"`. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    // A variable is no value of an attribute, but one of a property.
    if (String(value).startsWith("var(")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}
