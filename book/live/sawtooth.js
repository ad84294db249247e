// <hp-live-sawtooth>: a run of the scaler whose rule and gradients the reader sets, and a cursor to walk through it.

import { choice, h, Live, power, slider } from "./element.js";
import { badStep, percent, play } from "./sawtooth_numbers.js";
import { Staircase } from "./staircase.js";

const TICK = 200; // ms from one step of the animation to the next
const MOST_TICKS = 120; // a long run goes by in larger strides

class Sawtooth extends Live {
  start(data) {
    this.data = data;
    const { start } = data;
    const changed = () => { this.stop(); this.draw(); };
    // A slider over a list counts its places.
    const over = (label, list, value) => slider({
      label, min: 0, max: list.length - 1, value: list.indexOf(value), words: (place) => amount(list[place]), changed,
    });
    this.gradients = choice({ label: "The gradients", options: data.gradients, value: start.gradients, changed });
    this.interval = over("growth_interval N", data.intervals, start.interval);
    this.limit = slider({
      label: "Limit", min: data.limits[0], max: data.limits[1], value: start.limit,
      words: (exponent) => amount(data.mantissa * 2 ** exponent), changed,
    });
    this.init = slider({
      label: "init_scale", min: data.inits[0], max: data.inits[1], value: start.init,
      words: (exponent) => amount(2 ** exponent), changed,
    });
    this.length = over("Steps", data.lengths, start.length);
    const factors = (label, list, value) =>
      choice({ label, options: list.map((factor) => [String(factor), String(factor)]), value: String(value), changed });
    this.growth = factors("growth_factor", data.growths, start.growth);
    this.backoff = factors("backoff_factor", data.backoffs, start.backoff);

    this.stairs = new Staircase({ picked: (step) => this.go(step) });
    this.cursor = slider({
      label: "Look at step", min: 0, max: start.length - 1, value: 0,
      words: amount, changed: () => this.go(this.cursor.value),
    });
    this.back = h("button", { type: "button", onclick: () => this.go(this.cursor.value - 1) }, "Back");
    this.step = h("button", { type: "button", onclick: () => this.go(this.cursor.value + 1) }, "Step");
    this.first = h("button", { type: "button", onclick: () => this.go(0) }, "To the start");
    this.playing = h("button", { type: "button", onclick: () => (this.timer ? this.stop() : this.begin()) }, "Play");
    this.words = h("p", { class: "hp-live-sum hp-live-step" });
    this.sum = h("p", { class: "hp-live-sum" });
    return [
      this.gradients.element,
      h("div", { class: "hp-live-controls" }, this.limit.element, this.length.element, this.interval.element, this.init.element),
      h("div", { class: "hp-live-controls hp-live-factors" }, this.growth.element, this.backoff.element),
      this.stairs.legend,
      this.stairs.element,
      this.sum,
      h("div", { class: "hp-live-walk" },
        h("div", { class: "hp-live-buttons" }, this.first, this.back, this.step, this.playing), this.cursor.element),
      this.words,
    ];
  }

  disconnectedCallback() {
    this.stop();
  }

  get setting() {
    return {
      gradients: this.gradients.value,
      interval: this.data.intervals[this.interval.value],
      limit: this.limit.value,
      length: this.data.lengths[this.length.value],
      init: this.init.value,
      growth: Number(this.growth.value),
      backoff: Number(this.backoff.value),
    };
  }

  draw() {
    this.set = this.setting;
    this.run = play(this.set, this.data);
    this.limit.element.hidden = !this.run.limits;
    const last = this.set.length - 1;
    // A cursor that was walked to the end of the run stays there when the run becomes longer.
    const input = this.cursor.element.querySelector("input");
    const ended = this.walked && this.cursor.value === Number(input.max);
    const step = ended ? last : Math.min(this.cursor.value, last);
    input.max = last;
    this.cursor.set(step);
    const sum = this.summary();
    this.sum.textContent = sum;
    this.stairs.show({
      scales: this.run.steps.map((each) => each.used), skipped: this.run.skipped, limits: this.run.limits, label: this.label(),
    });
    this.at(step);
    this.speak(sum);
  }

  /** Put the cursor on a step by the reader's wish, and say what happened there. */
  go(step) {
    this.stop();
    this.walked = true;
    this.at(Math.max(0, Math.min(this.set.length - 1, step)));
    this.speak(this.words.textContent);
  }

  at(step) {
    this.cursor.set(step);
    this.stairs.at(step, { whole: !this.walked });
    this.words.textContent = this.told(step);
    // Not `disabled`, which would take the focus from who has just pressed the button.
    for (const button of [this.back, this.first]) button.setAttribute("aria-disabled", String(step === 0));
    this.step.setAttribute("aria-disabled", String(step === this.set.length - 1));
    this.playing.hidden = this.calm;
  }

  begin() {
    const stride = Math.ceil(this.set.length / MOST_TICKS);
    const last = this.set.length - 1;
    this.walked = true;
    if (this.cursor.value === last) this.at(0);
    this.playing.textContent = "Pause";
    this.timer = setInterval(() => {
      this.at(Math.min(last, this.cursor.value + stride));
      if (this.cursor.value === last || this.calm) {
        this.stop();
        this.speak(this.words.textContent);
      }
    }, TICK);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    if (this.playing) this.playing.textContent = "Play";
  }

  /** Return what a step did and what update() made of it, in words. */
  told(step) {
    const { interval, growth, backoff, gradients } = this.set;
    const { used, overflow, before, scale, run, did } = this.run.steps[step];
    const limit = this.run.limits?.[step];
    const bad = gradients === "always" || (gradients === "once" && step === badStep(this.set.length));
    const judged = bad
      ? "A nan in the batch is a nan at any scale: the step is skipped."
      : overflow
        ? `More than ${amount(limit)} overflows here: the step is skipped.`
        : limit === undefined ? "No overflow." : `Up to ${amount(limit)} fits here: no overflow.`;
    const lost = before ? `, and the run of ${amount(before)} is lost` : ", and the run stays 0";
    const left = scale === used ? `the scale stays ${amount(scale)}` : `the scale becomes ${amount(scale)}`;
    const updated = {
      back: `update() multiplies by ${backoff}: ${left}${lost}.`,
      wait: `update() counts: the run is ${amount(run)} of ${amount(interval)}, and ${left}.`,
      grow: `update() counts: the run has reached ${amount(interval)}. It multiplies by ${growth}: ${left}, and the run is 0 again.`,
      full: `update() counts: the run has reached ${amount(interval)}. But ${amount(used)} times ${growth} is no float32: ${left}, and the run is 0 again.`,
    }[did];
    return `Step ${amount(step)} used the scale ${amount(used)}. ${judged} ${updated}`;
  }

  summary() {
    const { length, interval } = this.set;
    const skips = this.run.skipped.length;
    const steps = skips === 1 ? "1 step was skipped" : `${amount(skips)} steps were skipped`;
    return `After ${amount(length)} steps the scale is ${amount(this.run.final)}. ${steps}, ${percent(skips / length)}; `
      + `1/(N + 1) is ${percent(1 / (interval + 1))}.`;
  }

  label() {
    const { length, interval } = this.set;
    const scales = this.run.steps.map((each) => each.used);
    const [least, most] = [scales.reduce((a, b) => Math.min(a, b)), scales.reduce((a, b) => Math.max(a, b))];
    const { skipped, limits, final } = this.run;
    const where = skipped.length
      ? `${amount(skipped.length)} skipped: ${skipped.slice(0, 8).map(amount).join(", ")}${skipped.length > 8 ? " and so on" : ""}`
      : "none skipped";
    const [from, to] = limits ? [limits[0], limits.at(-1)] : [];
    const fits = !limits ? "" : from === to ? ` Up to ${amount(from)} fits.` : ` At first up to ${amount(from)} fits, in the end up to ${amount(to)}.`;
    return `Staircase of the scale over ${amount(length)} steps with growth interval ${amount(interval)}. It starts at `
      + `${amount(scales[0])}, lies between ${amount(least)} and ${amount(most)}, and ends at ${amount(final)}; ${where}.${fits}`;
  }
}

/** Return a number that is not negative as a reader writes it: 24,576, 5,290,463, 1.5, 2⁻¹, 2³¹, 1.234e-30. */
function amount(number) {
  const exponent = Math.log2(number);
  if (Number.isInteger(exponent) && (exponent < 0 || exponent > 30)) return power(exponent);
  if (number === 0 || (number >= 1e-3 && number < 2 ** 31)) {
    // Six digits, or all in front of the point: a zero there would be no rounding but a wrong digit.
    const before = Math.floor(Math.log10(number || 1)) + 1;
    const digits = before > 0 ? { maximumFractionDigits: Math.max(0, 6 - before) } : { maximumSignificantDigits: 6 };
    return number.toLocaleString("en-US", digits);
  }
  return number.toExponential(3);
}

customElements.define("hp-live-sawtooth", Sawtooth);
