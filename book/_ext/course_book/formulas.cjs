// Sets formulas: reads [[tex, display], ...] as JSON from the standard input, writes [{svg, math}, {error}, ...].
// Its one argument is MathJax's folder. course_book/formulas.py runs it once for a book.

const { readFileSync } = require("node:fs");

// What a page does not read: names of MathJax's own nodes, and namespaces that HTML knows.
const NOISE = / (?:data-[\w-]+|xmlns(?::\w+)?|role|focusable|unselectable|aria-hidden)="[^"]*"/g;

async function main() {
  const formulas = JSON.parse(readFileSync(0, "utf-8"));
  const MathJax = await require(process.argv[2]).init({
    loader: { load: ["input/tex-base", "[tex]/ams", "output/svg", "a11y/assistive-mml"] },
    // No package that sets what it does not know in red, and goes on: an unknown command is an error.
    tex: { packages: ["base", "ams"] },
    svg: { fontCache: "none" },
  });
  const { adaptor } = MathJax.startup;
  const set = ([tex, display]) => {
    const node = MathJax.tex2svg(tex, { display });
    const whole = adaptor.outerHTML(node);
    const error = /data-mjx-error="([^"]*)"/.exec(whole);
    if (error) return { error: error[1] };
    const [svg, words] = adaptor.childNodes(node);
    const [math] = adaptor.childNodes(words);
    return { svg: adaptor.outerHTML(svg).replace(NOISE, ""), math: adaptor.outerHTML(math).replace(NOISE, "") };
  };
  process.stdout.write(JSON.stringify(formulas.map(set)));
}

main().catch((error) => {
  console.error(error?.message ?? error);
  process.exitCode = 1;
});
