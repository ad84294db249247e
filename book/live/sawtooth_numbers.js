// What PyTorch's scaler does in a run, step by step: the arithmetic of the sawtooth, without a document.
// tests/book/test_live_sawtooth.py compares it with torch._amp_update_scale_ and with figures.scale_play.

/**
 * Return what update() makes of a scale and its run of good steps: {scale, run, did}.
 *
 * The scale is a float32. A product is computed in double precision and rounded once, and a growth that float32 cannot
 * hold is dropped; a backoff has no floor. `did` is "back", "wait", "grow" or "full".
 */
export function update({ scale, run }, overflow, { interval, growth, backoff }) {
  if (overflow) return { scale: Math.fround(scale * backoff), run: 0, did: "back" };
  // Counted first, then compared, and for equality.
  if (run + 1 !== interval) return { scale, run: run + 1, did: "wait" };
  const larger = Math.fround(scale * growth);
  return Number.isFinite(larger) ? { scale: larger, run: 0, did: "grow" } : { scale, run: 0, did: "full" };
}

/**
 * Return a run: {steps, skipped, final}.
 *
 * `overflows(step, scale)` says whether a step overflows. Each of `steps` has the scale that it used, whether it
 * overflowed, the run of good steps before it, and what update() left: {used, overflow, before, scale, run, did}.
 */
export function simulate(overflows, length, init, rule) {
  let state = { scale: Math.fround(init), run: 0 };
  const steps = [];
  for (let step = 0; step < length; step++) {
    const overflow = overflows(step, state.scale);
    const after = update(state, overflow, rule);
    steps.push({ used: state.scale, overflow, before: state.run, ...after });
    state = after;
  }
  return { steps, skipped: steps.flatMap((each, step) => (each.overflow ? [step] : [])), final: state.scale };
}

/** Return the largest scale without overflow at each step, or null where no step asks for the scale. */
export function limits({ gradients, limit, length }, { mantissa, quarters, drift, walk }) {
  if (gradients === "never" || gradients === "always") return null;
  const moved = {
    grow: (step) => -Math.floor((step * drift) / length),
    shrink: (step) => Math.floor((step * drift) / length),
    noisy: (step) => walk[step],
  }[gradients] ?? (() => 0);
  return Array.from({ length }, (_, step) => {
    // Quarters of a doubling: a factor from Python's table, and a power of two, which is exact.
    const [whole, part] = [Math.floor(moved(step) / 4), ((moved(step) % 4) + 4) % 4];
    return mantissa * quarters[part] * 2 ** (limit + whole);
  });
}

/** Return the step at which a single batch is bad, whatever the scale. */
export function badStep(length) {
  return Math.floor(length / 2);
}

/** Return the run of one setting of the controls, with its limits: {steps, skipped, final, limits}. */
export function play(setting, data) {
  const { gradients, length, init } = setting;
  const most = limits(setting, data);
  const overflows = {
    never: () => false,
    always: () => true,
    once: (step, scale) => step === badStep(length) || scale > most[step],
  }[gradients] ?? ((step, scale) => scale > most[step]);
  return { ...simulate(overflows, length, 2 ** init, setting), limits: most };
}

/** Return a share in percent: "9.1 %", "0.05 %". */
export function percent(share) {
  return share ? `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %` : "0 %";
}
