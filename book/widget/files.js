// A text as a file: out of the page, and into it.

import { h } from "./dom.js";

/** Hand a text to the reader as a file. */
export function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Let the reader choose a file; return its text, or null where none was chosen. Throws where it is too large. */
export function choose(accept, most) {
  return new Promise((resolve, reject) => {
    const input = h("input", { type: "file", accept, hidden: true });
    const done = (settle, value) => {
      input.remove();
      settle(value);
    };
    input.addEventListener("cancel", () => done(resolve, null));
    input.addEventListener("change", () => {
      const [file] = input.files;
      if (!file) done(resolve, null);
      else if (file.size > most) done(reject, new Error(`${file.name} is too large to be a file of this book`));
      else file.text().then((text) => done(resolve, text), (error) => done(reject, error));
    });
    document.body.append(input);
    input.click();
  });
}
