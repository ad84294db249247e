// A page that is opened from a folder, in its head: weight.py puts this there, before all that the page loads.
if (location.protocol === "file:") {
  // A browser cannot compare such files with their hashes, and refuses them: each is loaded once more without.
  addEventListener("error", ({ target }) => {
    if (!target.integrity || target.type === "module") return;
    const again = document.createElement(target.localName);
    for (const { name, value } of target.attributes) if (!["integrity", "defer"].includes(name)) again.setAttribute(name, value);
    again.async = false;
    target.replaceWith(again);
  }, true);
  // It can load no module, so its exercises cannot be answered in it: say so in the card.
  addEventListener("DOMContentLoaded", () => {
    const page = document.getElementById("hp-solve");
    for (const slug of page ? JSON.parse(page.textContent).exercises : []) {
      const said = document.createElement("p");
      said.className = "hp-how";
      said.textContent = "It can also be answered right in the page, where the book is served: `make run` does that.";
      document.querySelector(`[data-exercise="${slug}"] .hp-how`).after(said);
    }
  });
}
