// The page's behaviour in the browser: citations bring cards into view, references open in place,
// rules get addresses, answers are copied and saved. Every live HTML component calls
// stickler.attach once.
window.stickler = window.stickler || (() => {
  const parts = {};
  const IN_PLACE = new Set(["evidence", "batch", "evaluate"]); // where references open
  let quietly = false;
  let linked = false; // the answer to a link was shown
  const remembered = new Set(); // answers of this conversation; one that was deleted stays so
  let revealed = ""; // the turn that was brought into view, and how far it was
  let awaited = null; // a citation whose evidence is being fetched
  const phone = () => window.matchMedia("(max-width: 860px)").matches;
  const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  function reveal(element, block = "start") {
    element.scrollIntoView({ behavior: calm() ? "auto" : "smooth", block });
  }

  function say(message) { // to screen readers
    let live = document.getElementById("stickler-live");
    if (!live) {
      live = document.createElement("div");
      live.id = "stickler-live";
      live.setAttribute("role", "status");
      live.className = "unseen";
      (document.querySelector("main") || document.body).append(live);
    }
    live.textContent = message;
  }

  function showCard(number) {
    const card = document.getElementById(`card-${number}`);
    if (!card) return false;
    reveal(card, phone() ? "start" : "nearest");
    card.focus({ preventScroll: true });
    card.classList.remove("flash");
    void card.offsetWidth; // lets the same card flash again
    card.classList.add("flash");
    return true;
  }

  function cite(link) {
    const { cite: number, turn } = link.dataset;
    const shown = document.querySelector(".evidence")?.dataset.turn;
    if (shown === turn && showCard(number)) return;
    awaited = number;
    parts.conversation.trigger("cite", { turn: Number(turn) });
  }

  function resume(conversation) { // its questions are asked again; the cache knows the answers
    if (document.querySelector(".conversation[aria-busy]")) {
      say("An answer is still being written. Stop it first.");
      return;
    }
    remembered.clear();
    parts.conversation.trigger("resume", { asked: window.sticklerHistory.resume(conversation) });
  }

  async function copy(text, button) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // no secure context: the older way
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "unseen";
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    const name = button.textContent;
    button.textContent = done ? "Copied" : "Could not copy";
    say(button.textContent);
    setTimeout(() => { button.textContent = name; }, 1500);
  }

  function vote(button) {
    const foot = button.closest(".foot");
    const form = foot.querySelector("form.comment");
    const again = form.dataset.vote === button.dataset.vote && !form.hidden;
    form.hidden = again;
    form.dataset.vote = button.dataset.vote;
    foot.querySelectorAll("[data-vote][aria-expanded]").forEach((each) =>
      each.setAttribute("aria-expanded", String(!again && each === button)));
    if (!again) form.querySelector("textarea").focus();
  }

  function withoutLink() { // the address, without the question that a link to an answer asks
    const url = new URL(window.location.href);
    if (url.searchParams.has("ask")) url.searchParams.delete("edition");
    url.searchParams.delete("ask");
    url.searchParams.delete("cites");
    return url;
  }

  function forgetLink(turns) { // it is in the address as long as its answer is all there is
    if (!new URL(window.location.href).searchParams.has("ask")) return;
    if (turns === 1) linked = true;
    else if (linked) window.history.replaceState({}, "", withoutLink());
  }

  function go(rule, edition, push = true, was = "") {
    if (push) {
      const url = withoutLink();
      url.searchParams.set("rule", rule);
      if (edition && edition !== "current") url.searchParams.set("edition", edition);
      else url.searchParams.delete("edition");
      window.history.pushState({}, "", url);
    }
    parts.hub.trigger("open", { rule, edition: edition || "", was });
  }

  async function peek(link) { // a reference opens below the paragraph that names it
    const place = link.closest("p, li, .peek") || link.parentElement;
    const next = place.nextElementSibling;
    if (next?.classList.contains("peek") && next.dataset.rule === link.dataset.rule) {
      next.remove();
      link.setAttribute("aria-expanded", "false");
      return;
    }
    const box = document.createElement("div");
    box.className = "peek";
    box.dataset.rule = link.dataset.rule;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `Rule ${link.dataset.rule}`);
    box.textContent = "…";
    place.after(box);
    link.setAttribute("aria-expanded", "true");
    box.innerHTML = await parts.hub.server.peek([link.dataset.rule, link.dataset.edition]);
    reveal(box, "nearest");
  }

  async function unfold(details) { // what is fetched when it is first opened
    const { section, history, edition } = details.dataset;
    const place = details.querySelector(":scope > div");
    if (!details.open || !place || place.childElementCount) return;
    place.innerHTML = section
      ? await parts.hub.server.branch([section, edition])
      : await parts.hub.server.history([history, edition]);
  }

  const own = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;

  function clicked(event, name) {
    const target = event.target.closest("a, button, summary[data-open]");
    if (!target || !own(event)) return;
    const data = target.dataset;
    if (data.cite) { event.preventDefault(); cite(target); }
    else if (data.ask) parts.conversation.trigger("starter", { question: data.ask });
    else if ("copy" in data) copy(data.copy, target);
    else if (data.address) copy(new URL(data.address, window.location.href).href, target);
    else if (data.vote) vote(target);
    else if (data.resume) resume(data.resume);
    else if (data.open || (data.rule && !IN_PLACE.has(name))) {
      quietly = target.tagName === "SUMMARY"; // it unfolds, and the page follows beside it
      if (!quietly) event.preventDefault();
      go(data.open || data.rule, data.edition);
    } else if (data.rule) { event.preventDefault(); peek(target); }
  }

  function submitted(event) {
    const form = event.target.closest("form.comment");
    if (!form) return;
    event.preventDefault();
    parts.conversation.trigger("vote", {
      turn: Number(form.dataset.turn),
      vote: form.dataset.vote,
      comment: form.querySelector("textarea").value,
    });
  }

  function remember(turn) { // an answer that is whole, in this browser's history
    const link = turn.querySelector(".foot [data-address]")?.dataset.address;
    const name = `${turn.dataset.turn} ${link}`;
    if (!link || remembered.has(name)) return;
    remembered.add(name);
    const question = turn.querySelector(".question").textContent;
    window.sticklerHistory.add(question, link, turn.querySelector("[data-copy]").dataset.copy);
  }

  const changed = {
    past(element) {
      window.sticklerHistory.show(element);
    },
    conversation(element) {
      const log = element.querySelector(".conversation[role=log]");
      forgetLink(log ? log.querySelectorAll(".turn").length : 0);
      if (log) remember(log.lastElementChild);
      else {
        remembered.clear();
        window.sticklerHistory.begin();
      }
      const last = log?.lastElementChild;
      const question = last?.querySelector(".question").textContent;
      const found = Boolean(last?.querySelector(".cite, .abstained"));
      const whole = !phone() && !log?.hasAttribute("aria-busy"); // at a desk nothing else moves
      const now = last ? `${log.childElementCount} ${found} ${whole} ${question}` : "";
      if (now === revealed) return; // do not scroll while someone reads and the model writes
      revealed = now;
      if (!last) return;
      if (phone()) requestAnimationFrame(() => reveal(last)); // once the evidence is below it
      else log.scrollTop = last.offsetTop - log.offsetTop - 8;
    },
    evidence() {
      if (awaited && showCard(awaited)) awaited = null;
    },
    page(element) {
      const page = element.querySelector(".rule-page");
      if (page?.classList.contains("comparison") && !page.dataset.seen) {
        page.dataset.seen = "compared";
        requestAnimationFrame(() => reveal(page));
      }
      const chosen = element.querySelector("[aria-current]");
      const now = page && `${page.dataset.number} ${page.dataset.edition}`;
      if (!page?.dataset.number || now === page.dataset.seen) return;
      page.dataset.seen = now;
      const url = new URL(window.location.href); // a keyword, or another number in that edition
      if (url.searchParams.has("rule")) url.searchParams.set("rule", page.dataset.number);
      window.history.replaceState({}, "", url);
      document.title = `${page.dataset.number} · Stickler`;
      if (quietly && phone()) return;
      requestAnimationFrame(() => reveal(chosen || page, chosen ? "center" : "start"));
    },
  };

  window.addEventListener("popstate", () => {
    const asked = new URL(window.location.href).searchParams;
    if (asked.get("rule")) go(asked.get("rule"), asked.get("edition"), false);
  });

  function save(name, text) {
    const kind = name.endsWith(".json") ? "application/json" : "text/markdown";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function reopen(edition) { // the rule that is open, in another edition
    const shown = parts.page?.element.querySelector(".rule-page")?.dataset;
    if (shown?.number) go(shown.number, edition, true, shown.edition);
  }

  return {
    reopen,
    attach(name, element, trigger, server, watch) {
      parts[name] = { element, trigger, server };
      element.addEventListener("click", (event) => clicked(event, name));
      element.addEventListener("submit", submitted);
      element.addEventListener("toggle", (event) => unfold(event.target), true);
      watch("value", () => changed[name]?.(element));
      changed[name]?.(element);
    },
    save,
  };
})();
