// The conversations of this browser, newest first. They are kept in its local storage and nowhere
// else; an entry is a question with the link to its answer and the conversation that it is part of.
// All text goes through textContent.
window.sticklerHistory = window.sticklerHistory || (() => {
  const KEY = "stickler.history";
  const MOST = 200; // entries
  const LONGEST = 4000; // characters of an answer
  const GLIMPSE = 160; // characters of it that are shown
  let place = null;
  let current = ""; // the conversation that goes on

  const isEntry = (each) => [each?.question, each?.address, each?.answer].every(
    (text) => typeof text === "string") && each.address.startsWith("?ask=")
    && ["string", "undefined"].includes(typeof each.conversation);

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

  // An entry from before there were conversations is one by itself.
  const conversation = (entry) => entry.conversation ?? entry.address;
  const part = (entries, id) => entries.filter((each) => conversation(each) === id);
  const same = (one, two) =>
    conversation(one) === conversation(two) && asks(one.address) === asks(two.address);
  const without = (entry) => read().filter((each) => !same(each, entry));

  function add(question, address, answer) { // asked again by itself, it is kept once
    const entry = { question, address, answer: answer.slice(0, LONGEST), conversation: current };
    const others = without(entry);
    const alone = (each) => part(others, conversation(each)).length === 1;
    const kept = others.filter((each) => asks(each.address) !== asks(address) || !alone(each));
    write([entry, ...kept].slice(0, MOST));
  }

  function begin() { // what is asked from now on is another conversation
    current = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
    render();
  }

  function resume(id) { // its questions, first to last; what is asked next is part of it
    current = id;
    const found = part(read(), id).reverse();
    return found.map(({ question, address }) => (
      { question, edition: new URLSearchParams(address).get("edition") || "" }));
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
    remove.addEventListener("click", () => write(without(entry)));
    const item = document.createElement("li");
    item.append(opens, make("p", glimpse, { className: "glimpse" }), remove);
    return item;
  }

  function group(entries, id) { // a conversation, or of it what was searched for
    const box = make("section", "", { className: "talk" });
    const list = document.createElement("ol");
    list.append(...entries.map(row));
    if (id !== current) {
      const button = make("button", "Resume", { type: "button" });
      button.dataset.resume = id;
      button.setAttribute("aria-label", `Resume: ${entries.at(-1).question}`);
      box.append(button);
    }
    box.append(list);
    return box;
  }

  function render() {
    if (!place) return;
    const wanted = place.querySelector("input").value.trim().toLowerCase();
    const all = read();
    const found = all.filter((each) =>
      `${each.question} ${each.answer}`.toLowerCase().includes(wanted));
    const ids = [...new Set(found.map(conversation))]; // newest first, as the entries are
    const groups = ids.map((id) => group(part(found, id), id));
    place.querySelector(".talks").replaceChildren(...groups);
    const none = all.length ? "Nothing found." : "No questions asked in this browser yet.";
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
  return { add, begin, resume, show };
})();
