/* The theme lets the keyboard scroll wide code, but looks for it when the page opens only: tell it what is uncovered. */
for (const event of ["toggle", "change"]) {
  document.addEventListener(event, () => window.dispatchEvent(new Event("resize")), true);
}
