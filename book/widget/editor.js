// The editor: CodeMirror for Python, in the page's colors. Loaded when a reader first wants to write.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  LanguageSupport,
  syntaxHighlighting,
} from "@codemirror/language";
import { countColumn, EditorState, Prec, RangeSet, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  GutterMarker,
  gutterLineClass,
  highlightActiveLine,
  keymap,
  lineNumbers,
  ViewPlugin,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const SHORT = 20; // characters: such a line never wraps
const MOST_INDENT = 16; // on a phone a line has 40 places
const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.modifier], class: "hp-t-keyword" },
  { tag: [tags.string, tags.special(tags.string)], class: "hp-t-string" },
  { tag: [tags.comment, tags.docComment], class: "hp-t-comment" },
  { tag: [tags.number, tags.bool, tags.null, tags.self], class: "hp-t-number" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "hp-t-name" },
]);

const LAYOUT = EditorView.theme({
  "&": { backgroundColor: "var(--hp-code)", color: "var(--pst-color-text-base)", fontSize: ".875rem" },
  "&.cm-focused": { outline: "3px solid var(--hp-focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--pst-font-family-monospace)", lineHeight: "1.55", maxHeight: "40rem" },
  ".cm-content": { padding: ".6rem 0", caretColor: "var(--pst-color-text-base)" },
  ".cm-cursor": { borderLeftColor: "var(--pst-color-text-base)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--hp-code)", color: "var(--hp-soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hp-focus) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--hp-focus) 28%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1.5px solid var(--hp-focus)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--hp-bad-wash)", outline: "1.5px solid var(--hp-bad)" },
  ".cm-line.hp-hangs": { paddingLeft: "calc(6px + var(--hp-in))", textIndent: "calc(-1 * var(--hp-in))" },
  ".cm-line.hp-line-marked": { backgroundColor: "var(--hp-bad-wash)", boxShadow: "inset 3px 0 var(--hp-bad)" },
  ".cm-gutterElement.hp-line-marked": { color: "var(--hp-bad)", fontWeight: "700" },
});

// ------------------------------------------------------------------ the line of an exception, until the next edit

const setMarks = StateEffect.define();
const MARKED = Decoration.line({ class: "hp-line-marked" });
const MARKED_NUMBER = new (class extends GutterMarker {
  elementClass = "hp-line-marked";
})();

const marks = StateField.define({
  create: () => [],
  update(starts, transaction) {
    const effect = transaction.effects.find((each) => each.is(setMarks));
    if (effect) return effect.value;
    return transaction.docChanged ? [] : starts;
  },
  provide: (field) => [
    EditorView.decorations.from(field, (starts) => Decoration.set(starts.map((at) => MARKED.range(at)))),
    gutterLineClass.from(field, (starts) => RangeSet.of(starts.map((at) => MARKED_NUMBER.range(at)))),
  ],
});

// ------------------------------------------------------------------ a long line goes on below its own beginning

const hanging = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = hung(view);
    }
    update(update) {
      if (update.docChanged || update.viewportChanged) this.decorations = hung(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function hung(view) {
  const found = new RangeSetBuilder();
  for (const { from, to } of view.visibleRanges)
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      const blanks = countColumn(line.text, 4, /^\s*/.exec(line.text)[0].length);
      const style = `--hp-in: ${Math.min(blanks, MOST_INDENT) + 2}ch`;
      const hangs = Decoration.line({ class: "hp-hangs", attributes: { style } });
      if (line.length > SHORT) found.add(line.from, line.from, hangs);
      at = line.to + 1;
    }
  return found.finish();
}

// ------------------------------------------------------------------ Tab indents; after Escape it goes on in the page

const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "Tab"];
const leaving = Prec.highest(
  EditorView.domEventHandlers({
    keydown(event, view) {
      if (event.key === "Escape") view.setTabFocusMode(true);
      else if (!MODIFIERS.includes(event.key)) view.setTabFocusMode(false);
    },
    focus: (event, view) => view.setTabFocusMode(false),
  }),
);

/**
 * Put an editor into `parent`.
 *
 * Takes the text; the label and the id of the description that a screen reader reads; `changed(text)`, called after
 * each edit; `run()`, called on Ctrl-Enter or Command-Enter. Returns what can be done with it.
 */
export function mount(parent, { text, label, help, changed, run }) {
  const runKey = { key: "Mod-Enter", run: () => (run(), true) };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([runKey])),
        leaving,
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        hanging,
        highlightActiveLine(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        new LanguageSupport(pythonLanguage),
        syntaxHighlighting(COLORS),
        marks,
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": help, tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        LAYOUT,
      ],
    }),
  });
  return {
    element: view.dom,
    text: () => view.state.doc.toString(),
    /** Put another text in place of this one; one step back undoes it. */
    replace(next) {
      if (next === view.state.doc.toString()) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        selection: { anchor: 0 },
        annotations: isolateHistory.of("full"),
        userEvent: "input.replace",
      });
    },
    focus: () => view.focus(),
    /** Put the cursor where the page was clicked. */
    focusAt(x, y) {
      const at = view.posAtCoords({ x, y }, false);
      view.dispatch({ selection: { anchor: at } });
      view.focus();
    },
    /** Mark lines, counted from 1. */
    mark(lines) {
      const there = lines.filter((line) => line >= 1 && line <= view.state.doc.lines);
      view.dispatch({ effects: setMarks.of([...new Set(there)].sort((a, b) => a - b).map((n) => view.state.doc.line(n).from)) });
    },
    goTo(line) {
      const { from, to } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      const indent = view.state.sliceDoc(from, to).search(/\S|$/);
      view.dispatch({ selection: { anchor: from + indent }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
  };
}
