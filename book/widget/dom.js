// Elements out of plain values. Text goes in as text, never as markup: much of it is a student's.

// Control characters but for newline and tab, what turns the direction of text, invisible signs, half pairs: the set of
// autograder/report/untrusted.py.
const UNSEEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\u{e0000}-\u{e0fff}]/gu;

/** Return a text with every character that is unseen or obeyed as its escape; newlines and tabs stay. */
export function visible(text) {
  return String(text).replace(/\r\n/g, "\n").replace(UNSEEN, escaped);
}

function escaped(character) {
  if (character === "\r") return "\\r";
  const code = character.codePointAt(0);
  const hex = (width) => code.toString(16).padStart(width, "0");
  if (code < 0x100) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** Return an element. A function is a listener (`onclick`), true and false set and leave out an attribute. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** Return the nodes of a message: what stands between backticks is code. */
export function ticked(text) {
  return visible(text)
    .split(/`([^`\n]{1,200})`/)
    .map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

/** Return the beginning of a text of which nobody knows how long it is: its maker may have kept no more than `limit`. */
export function beginning(text, limit, lines) {
  const kept = first(text, limit, lines);
  const all = text.length < limit && kept.length === text.length;
  return visible(kept).replace(/\n+$/, "") + (all ? "" : "\n… (this is the beginning; what came after it is not kept)");
}

function first(text, limit, lines) {
  return text.slice(0, limit).split("\n").slice(0, lines).join("\n");
}

/** Return the beginning of a text, and say how much was left out. */
export function cut(text, limit, lines) {
  const kept = first(text, limit, lines);
  const left = text.slice(kept.length).replace(/^\n+|\n+$/g, "").length;
  const more = left ? `\n… (${left.toLocaleString("en-US")} more characters)` : "";
  return visible(kept).replace(/\n+$/, "") + more;
}
