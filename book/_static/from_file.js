/* A page that is opened from a file can load no module, so its exercises cannot be answered in it: say so in the card. */
if (location.protocol === "file:" && document.getElementById("hp-solve")) {
  const { exercises } = JSON.parse(document.getElementById("hp-solve").textContent);
  for (const slug of exercises) {
    const said = document.createElement("p");
    said.className = "hp-how";
    said.textContent = "It can also be answered right in the page, where the book is served: `make run` does that.";
    document.querySelector(`[data-exercise="${slug}"] .hp-how`)?.after(said);
  }
}
