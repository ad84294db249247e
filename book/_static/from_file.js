/* A page that is opened from a file can load no module, so its exercises cannot be answered in it: say so in the card. */
document.addEventListener("DOMContentLoaded", () => {
  const page = document.getElementById("hp-solve");
  if (location.protocol !== "file:" || !page) return;
  for (const slug of JSON.parse(page.textContent).exercises) {
    const said = document.createElement("p");
    said.className = "hp-how";
    said.textContent = "It can also be answered right in the page, where the book is served: `make run` does that.";
    document.querySelector(`[data-exercise="${slug}"] .hp-how`).after(said);
  }
});
