// The place of the reader's code: still text at first, an editor from the first touch on. Where the editor cannot be
// loaded, a plain text field does its work.

import { h } from "./dom.js";

const MOST_HUNG = 100_000; // characters
const MOST_INDENT = 16; // as in editor.js, as is the next
const SHORT = 20;
const EDITOR = new URL(EDITOR_FILE, import.meta.url).href; // esbuild puts the name in

export class Field {
  /**
   * Takes the text; `still`, the starter's colored listing, shown while the text is the starter; the label and the id
   * of the description; `touched()`, called once, when the reader first wants to write; `changed(text)`; `run()`.
   */
  constructor(options) {
    this.options = options;
    this.element = h("div", { class: "hp-field" });
    this.current = options.text;
    this.editor = null;
    this.opening = null;
    this.draw();
  }

  get text() {
    return this.editor ? this.editor.text() : this.current;
  }

  draw() {
    const { starter, still, label } = this.options;
    const code = this.current === starter ? still.cloneNode(true) : h("pre", {}, this.current);
    hang(code);
    code.tabIndex = 0; // so that the keyboard can scroll it
    const view = h("div", { class: "hp-still highlight" }, code);
    const open = (event) => this.open({ x: event.clientX, y: event.clientY });
    view.addEventListener("click", (event) => getSelection().isCollapsed && open(event));
    view.addEventListener("pointerenter", () => this.load().catch(() => {}));
    const more = h("span", { class: "hp-unseen" }, `: ${label}`);
    this.button = h("button", { type: "button", class: "hp-open", onclick: () => this.open() }, "Write here", more);
    this.button.addEventListener("focus", () => this.load().catch(() => {}));
    this.element.replaceChildren(view, this.button);
  }

  load() {
    this.loaded ??= import(EDITOR).catch((error) => {
      this.loaded = null;
      throw error;
    });
    return this.loaded;
  }

  /** Make the text an editor, and put the cursor into it. */
  open(point = null) {
    this.opening ??= this.mount(point);
    return this.opening;
  }

  async mount(point) {
    this.options.touched();
    this.element.setAttribute("aria-busy", "true");
    let make = plain;
    try {
      make = (await this.load()).mount;
    } catch {
      // The plain text field is there without a request.
    }
    const { label, help, changed, run } = this.options;
    const holder = h("div", { class: "hp-editor" });
    this.element.replaceChildren(holder);
    this.editor = make(holder, { text: this.current, label, help, changed, run });
    this.element.removeAttribute("aria-busy");
    if (point?.x) this.editor.focusAt(point.x, point.y);
    else this.editor.focus();
    this.editor.mark(this.marked ?? []);
  }

  /** Put another text in place of this one; in the editor one step back undoes it. */
  replace(text) {
    this.current = text;
    if (this.editor) this.editor.replace(text);
    else this.draw();
  }

  mark(lines) {
    this.marked = lines;
    this.editor?.mark(lines);
  }

  async goTo(line) {
    await this.open();
    this.editor.goTo(line);
  }
}

/** Make each long line of a listing a box of its own, which goes on below its own beginning, as in the editor. */
function hang(listing) {
  if (listing.textContent.length > MOST_HUNG) return;
  const rows = [[]]; // each the pieces of a line, which keep their color
  for (const node of [...listing.childNodes])
    node.textContent.split("\n").forEach((text, number) => {
      if (number) rows.push([]);
      const piece = node.nodeType === Node.TEXT_NODE ? document.createTextNode(text) : node.cloneNode(false);
      piece.textContent = text;
      if (text) rows.at(-1).push(piece);
    });
  const lines = rows.map((row) => {
    const text = row.map((piece) => piece.textContent).join("");
    const indent = Math.min(/^ */.exec(text)[0].length, MOST_INDENT) + 2;
    return text.length > SHORT ? [h("span", { class: "hp-hung", style: `--hp-in: ${indent}ch` }, row)] : row;
  });
  listing.replaceChildren(...lines.flatMap((line, number) => (number ? ["\n", ...line] : line)));
}

/** Put a plain text field into `parent`; it does what the editor does, but for colors and marks. */
function plain(parent, { text, label, help, changed, run }) {
  const area = h("textarea", { "aria-label": label, "aria-describedby": help, spellcheck: "false", rows: 20, class: "hp-plain" });
  area.value = text;
  area.addEventListener("input", () => changed(area.value));
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });
  parent.append(area);
  return {
    element: area,
    text: () => area.value,
    replace(next) {
      area.value = next;
      changed(next);
    },
    focus: () => area.focus(),
    focusAt: () => area.focus(),
    mark() {},
    goTo(line) {
      const at = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(at, at);
    },
  };
}
