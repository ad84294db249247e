/* Predictions: a reader chooses, says how sure they are, and then opens what follows; it stays open in this browser. */
(() => {
  const PREFIX = "half-precision/predict/1/"; // the exercises' records have a prefix of their own: book/widget/store.js
  const page = location.pathname.split("/").pop().replace(/\.html$/, "") || "index";

  /* The theme lets the keyboard scroll wide code, but looks for it when the page opens only: tell it what is uncovered. */
  const uncovered = () => window.dispatchEvent(new Event("resize"));
  for (const event of ["toggle", "change"]) document.addEventListener(event, uncovered, true);

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  /** Where there is no storage, or it is full, a prediction lasts as long as the page. */
  const store = {
    read(key) {
      try {
        const kept = JSON.parse(localStorage.getItem(key));
        return typeof kept?.choice === "string" && ["sure", "a guess", ""].includes(kept.sure) ? kept : null;
      } catch {
        return null;
      }
    },
    write(key, value) {
      try {
        if (value) localStorage.setItem(key, JSON.stringify(value));
        else localStorage.removeItem(key);
      } catch { /* It stands on the page all the same. */ }
    },
  };

  const words = (input) => input.labels[0].querySelector("span");
  const chosen = (inputs) => inputs.find((input) => input.checked);

  document.querySelectorAll(".hp-predict").forEach((box, number) => {
    const choices = [...box.querySelectorAll(".hp-choices input")], sures = [...box.querySelectorAll(".hp-sure input")];
    const key = `${PREFIX}${page}/${number}`;
    const hint = element("span", { class: "hp-see-hint", id: `hp-see-hint-${number}` }, "Choose an answer first.");
    const see = element("button", { type: "button", "aria-describedby": hint.id }, "See what happens");
    const said = element("p", { class: "hp-predicted", tabindex: "-1" });
    const again = element("button", { type: "button", class: "hp-again" }, "Predict again");
    box.querySelector(".hp-sure").after(element("div", { class: "hp-see" }, see, " ", hint));

    const ready = () => {
      see.setAttribute("aria-disabled", String(!chosen(choices)));
      hint.hidden = Boolean(chosen(choices));
    };
    const open = () => {
      const sure = chosen(sures);
      const answer = words(chosen(choices)).cloneNode(true);
      for (const each of answer.querySelectorAll("[id]")) each.removeAttribute("id");
      said.replaceChildren("You said: ", answer, sure ? ` (${words(sure).textContent}). ` : ". ", again);
      box.append(said);
      box.classList.add("hp-seen");
      for (const input of [...choices, ...sures]) input.disabled = true; // what was said stays said
      uncovered();
    };
    const close = () => {
      box.classList.remove("hp-seen");
      said.remove();
      for (const input of [...choices, ...sures]) {
        input.disabled = input.checked = false;
      }
      box.querySelector(".hp-skip input").checked = false;
      ready();
    };

    for (const input of choices) input.addEventListener("change", ready);
    see.addEventListener("click", () => {
      if (!chosen(choices)) return;
      const sure = chosen(sures);
      store.write(key, { choice: words(chosen(choices)).textContent, sure: sure ? words(sure).textContent : "" });
      open();
      said.focus(); // the button that had the focus is gone
    });
    again.addEventListener("click", () => {
      store.write(key, null);
      close();
      choices[0].focus();
    });

    const kept = store.read(key);
    const before = kept && choices.find((input) => words(input).textContent === kept.choice); // none in another edition
    if (before) {
      before.checked = true;
      for (const input of sures) input.checked = words(input).textContent === kept.sure;
      open();
    }
    ready();
  });
})();
