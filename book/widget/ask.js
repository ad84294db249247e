// A question before something goes away.

import { h } from "./dom.js";

let last = 0;

/** Ask; return whether the answer is yes. Escape is no, and the focus goes back to where it was. */
export function ask(question, words, yes, no) {
  last += 1;
  const title = `hp-ask-${last}`;
  const dialog = h(
    "dialog",
    { class: "hp-ask", "aria-labelledby": title },
    h("p", { id: title, class: "hp-headline" }, question),
    h("p", {}, words),
    h(
      "form",
      { method: "dialog", class: "hp-row" },
      h("button", { value: "no", class: "hp-quiet", autofocus: true }, no),
      h("button", { value: "yes", class: "hp-run" }, yes),
    ),
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    dialog.showModal();
  });
}
