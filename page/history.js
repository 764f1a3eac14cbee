// The questions and answers of this browser, newest first. They are kept in its local storage and
// nowhere else; an entry is the link to its answer. All text goes through textContent.
window.sticklerHistory = window.sticklerHistory || (() => {
  const KEY = "stickler.history";
  const MOST = 200; // entries
  const LONGEST = 4000; // characters of an answer
  const GLIMPSE = 160; // characters of it that are shown
  let place = null;

  const isEntry = (each) => [each?.question, each?.address, each?.answer].every(
    (text) => typeof text === "string") && each.address.startsWith("?ask=");

  function read() { // what was tampered with or damaged is left out
    try {
      const found = JSON.parse(window.localStorage.getItem(KEY));
      return Array.isArray(found) ? found.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  function write(entries) { // where there is no room the oldest half goes
    try {
      window.localStorage.setItem(KEY, JSON.stringify(entries));
    } catch {
      if (entries.length) write(entries.slice(0, Math.floor(entries.length / 2)));
    }
    render();
  }

  const asks = (address) => { // two links that ask the same, whatever they cite
    const given = new URLSearchParams(address);
    return JSON.stringify([given.get("ask"), given.get("edition")]);
  };

  const without = (address) => read().filter((each) => asks(each.address) !== asks(address));

  function add(question, address, answer) {
    const entry = { question, address, answer: answer.slice(0, LONGEST) };
    write([entry, ...without(address)].slice(0, MOST));
  }

  function make(tag, text, more = {}) {
    return Object.assign(document.createElement(tag), { textContent: text, ...more });
  }

  function row(entry) {
    const opens = make("a", entry.question, { href: entry.address });
    const body = entry.answer.replace(entry.question, "").trim();
    const glimpse = body.length > GLIMPSE ? `${body.slice(0, GLIMPSE)}…` : body;
    const remove = make("button", "Delete", { type: "button" });
    remove.setAttribute("aria-label", `Delete: ${entry.question}`);
    remove.addEventListener("click", () => write(without(entry.address)));
    const item = document.createElement("li");
    item.append(opens, make("p", glimpse, { className: "glimpse" }), remove);
    return item;
  }

  function render() {
    if (!place) return;
    const wanted = place.querySelector("input").value.trim().toLowerCase();
    const all = read();
    const found = all.filter((each) =>
      `${each.question} ${each.answer}`.toLowerCase().includes(wanted));
    place.querySelector("ol").replaceChildren(...found.map(row));
    const none = all.length ? "Nothing is found." : "Nothing was asked in this browser yet.";
    place.querySelector(".past-none").textContent = found.length ? "" : none;
    place.querySelector(".past-all").hidden = !all.length;
  }

  function show(element) { // into the part of the page that is for it
    if (place?.isConnected) return;
    place = element.querySelector(".past");
    if (!place) return;
    place.querySelector("input").addEventListener("input", render);
    const all = place.querySelector(".past-all");
    all.addEventListener("click", () => {
      if (all.dataset.sure) write([]);
      all.dataset.sure = all.dataset.sure ? "" : "yes";
      all.textContent = all.dataset.sure ? "Really delete all?" : "Delete all";
    });
    render();
  }

  window.addEventListener("storage", render); // another tab of this browser
  return { add, show };
})();
