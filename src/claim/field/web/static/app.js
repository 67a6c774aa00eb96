// What pages do beyond forms: save contact by contact without leaving the page, and suggest people while a name is typed.
// network.js has the picture of the network. Every page works without it. Texts come from the page, never from here.
"use strict";

const made = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

const newNonce = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("-");

// The screen is cleared when the study locks itself; every answer from the server counts as somebody being here.
let idle = null;
const stillHere = () => {
  clearTimeout(idle);
  const seconds = Number(document.body.dataset.idle);
  if (seconds) idle = setTimeout(() => location.replace(document.body.dataset.locked), (seconds + 2) * 1000);
};

const post = async (address, csrf, body, method = "POST") => {
  const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
  const answer = await fetch(address, { method, headers, body: body && JSON.stringify(body) });
  const data = await answer.json();
  stillHere();
  if (!answer.ok) throw new Error(data.message || String(answer.status));
  return data;
};

// Suggestions: known people, while a name is typed --------------------------------------------------------------------

// The arrow down goes to the first of them, Enter takes it. All that belongs to text goes on being typed.
class Suggestions {
  constructor(field, box, words, take) {
    Object.assign(this, { field, box, words, take });
    field.addEventListener("input", () => this.later());
    field.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" || !this.buttons.length) return;
      event.preventDefault();
      this.buttons[0].focus();
    });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  get buttons() { return Array.from(this.box.querySelectorAll("button")); }

  key(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const typing = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!step && !typing && event.key !== "Escape" && event.key !== "Backspace") return;
    if (step || typing) event.preventDefault();
    if (typing) this.field.value += event.key;
    const next = step && this.buttons[this.buttons.indexOf(event.target) + step];
    (next || this.field).focus();
    if (typing) this.later();
  }

  clear() {
    clearTimeout(this.timer);
    this.box.replaceChildren();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), 200);
  }

  async look() {
    const name = this.field.value.trim();
    if (name.length < 2) return this.box.replaceChildren();
    try {
      const answer = await post(this.words.address, this.words.csrf, { name, by: this.words.by || "" });
      if (this.field.value.trim() !== name) return undefined;
      const buttons = answer.matches.map((match) => this.button(name, match));
      return this.box.replaceChildren(...(buttons.length ? [made("span", this.words.hint, { class: "hint" }), ...buttons] : []));
    } catch {
      return this.box.replaceChildren();
    }
  }

  button(name, match) {
    const button = made("button", `${match.name} · ${match.code}`, { type: "button", class: "small" });
    button.addEventListener("click", () => {
      this.clear();
      this.take(name, match);
      this.field.focus();
    });
    return button;
  }
}

const pickPerson = (place) => {
  const field = place.querySelector("input");
  const words = { address: place.dataset.pick, csrf: place.dataset.csrf, hint: place.dataset.hint };
  new Suggestions(field, place.querySelector("[data-hints]"), words, (_, match) => { field.value = match.code; });
};

// Entry: one name a line ----------------------------------------------------------------------------------------------

class Entry {
  constructor(form) {
    this.form = form;
    this.words = form.dataset;
    this.field = form.elements.name;
    const looking = { address: this.words.similar, csrf: this.words.csrf, hint: this.words.hint, by: this.words.person };
    this.hints = new Suggestions(this.field, form.querySelector("[data-hints]"), looking, (name, match) => this.known(name, match));
    this.list = form.querySelector("[data-list]") || document.querySelector("[data-list]");
    this.queue = Promise.resolve(); // one after the other, in the order typed
    this.waiting = 0;
    form.addEventListener("submit", (event) => this.submit(event));
    this.field.addEventListener("keydown", (event) => this.emptyLine(event));
    this.list.addEventListener("submit", (event) => this.change(event));
    window.addEventListener("beforeunload", (event) => { if (this.waiting) event.preventDefault(); });
  }

  get start() {
    const box = this.form.elements.start;
    return Boolean(box && box.checked);
  }

  ask(address, body, method) { return post(address, this.words.csrf, body, method); }

  submit(event) {
    event.preventDefault();
    const name = this.field.value.trim();
    if (!name) return Promise.resolve();
    this.field.value = "";
    this.hints.clear();
    this.field.focus();
    return this.save({ name, same: "", nonce: newNonce() }, this.line(name));
  }

  // Enter on an empty line goes to the button that finishes the survey; Enter once more presses it.
  emptyLine(event) {
    const finish = document.querySelector("[data-finish]:not([hidden])");
    if (event.key !== "Enter" || event.repeat || this.field.value.trim() || !finish) return;
    event.preventDefault();
    finish.focus();
    finish.onkeydown = (pressed) => { // a key that belongs to text goes on with the next name
      if (pressed.key.length !== 1 || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
      pressed.preventDefault();
      this.field.value += pressed.key;
      this.field.focus();
    };
  }

  line(name) {
    const line = document.createElement("li");
    line.append(made("bdi", name), " ", made("span", this.words.saving, { class: "hint", "data-what": "" }));
    this.list.append(line);
    line.scrollIntoView({ block: "nearest" });
    return line;
  }

  save(wanted, line) {
    this.waiting += 1;
    const body = this.words.entry === "people" ? { ...wanted, start: this.start } : wanted;
    this.queue = this.queue.then(() => this.send(body, line)).finally(() => { this.waiting -= 1; });
    return this.queue;
  }

  async send(body, line) {
    try {
      const answer = await this.ask(this.words.api, body);
      if (answer.saved) this.acknowledge(line, answer);
      else this.question(line, body, answer.matches);
    } catch (problem) {
      this.failed(line, body, problem);
    }
  }

  acknowledge(line, answer) {
    const twin = this.list.querySelector(`[data-code="${CSS.escape(answer.code)}"]`);
    if (twin && twin !== line) twin.remove();
    line.dataset.code = answer.code;
    const link = made("a", "", { class: "who", href: `${this.words.base}/people/${answer.code}` });
    link.append(made("bdi", answer.name));
    line.replaceChildren(link, " ", made("span", answer.code, { class: "code" }), " ", made("span", this.words.saved, { class: "ok" }));
    if (answer.known) line.append(" ", made("span", this.words.known, { class: "tag" }));
    if (this.words.entry === "contacts") line.append(" ", this.remover(answer));
    if (this.words.mark) line.append(" ", this.marker(answer, Boolean(twin && twin.querySelector("[aria-pressed=true]"))));
    if (this.words.group) line.append(" ", this.grouper(answer, twin));
    this.count(answer.count);
  }

  grouper(answer, twin) {
    const known = twin && twin.querySelector("input[list]");
    const shown = { placeholder: this.words.group, "aria-label": `${this.words.group}: ${answer.name}`, maxlength: "100", autocomplete: "off" };
    const field = made("input", "", { name: `group.${answer.code}`, form: "end", list: "groups", ...shown });
    field.value = known ? known.value : "";
    return field;
  }

  // What it says stands in a line of its own: nothing may move under the button that is being pressed.
  saveGroup(field) {
    const address = `${this.words.api.replace(/contacts$/, "groups")}/${field.name.slice("group.".length)}`;
    const shown = document.querySelector("[data-group-status]");
    shown.textContent = this.words.saving;
    this.waiting += 1;
    this.queue = this.queue.then(async () => {
      try {
        const answer = await this.ask(address, { group: field.value }, "PUT");
        field.value = answer.group || "";
        shown.textContent = `${field.value} ${this.words.saved}`.trim();
      } catch (problem) {
        shown.textContent = `${this.words.failed}: ${problem.message}`;
      }
    }).finally(() => { this.waiting -= 1; });
  }

  remover(answer) {
    const button = made("button", this.words.remove, { type: "button", class: "small", "aria-label": `${this.words.remove}: ${answer.name}` });
    button.addEventListener("click", () => this.takeBack(button.closest("li")));
    return button;
  }

  marker(answer, marked) {
    const shown = { "aria-pressed": String(marked), "aria-label": `${this.words.mark}: ${answer.name}` };
    const button = made("button", this.words.mark, { type: "button", class: "small", ...shown });
    button.addEventListener("click", () => this.mark(button.closest("li")));
    return button;
  }

  async mark(line) {
    const button = line.querySelector("[aria-pressed]");
    const contact = button.ariaPressed === "true" ? "" : line.dataset.code;
    try {
      const answer = await this.ask(this.words.api.replace(/contacts$/, "mark"), { contact }, "PUT");
      for (const each of this.list.querySelectorAll("[aria-pressed]"))
        each.ariaPressed = String(each.closest("li").dataset.code === answer.marked);
    } catch (problem) {
      line.append(" ", made("span", problem.message, { class: "not", role: "alert" }));
    }
  }

  change(event) {
    const line = event.target.closest("li[data-code]");
    if (!line) return;
    event.preventDefault();
    if ("marks" in event.target.dataset) this.mark(line);
    else this.takeBack(line);
  }

  async takeBack(line) {
    try {
      const answer = await this.ask(`${this.words.api}/${line.dataset.code}`, null, "DELETE");
      line.remove();
      this.count(answer.count);
      this.field.focus();
    } catch (problem) {
      line.append(" ", made("span", problem.message, { class: "not", role: "alert" }));
    }
  }

  question(line, body, matches) {
    const box = made("div", "", { class: "box ask", role: "group", "aria-label": this.words.question });
    box.append(made("p", this.words.question));
    for (const match of matches) {
      const by = match.named_by.length ? ` (${this.words.by} ${match.named_by.join(", ")})` : "";
      box.append(this.choice(`${this.words.yes} ${match.name} · ${match.code}${by}`, line, { ...body, same: match.code }));
    }
    box.append(this.choice(this.words.new, line, { ...body, same: "new" }));
    line.replaceChildren(made("bdi", body.name), " ", made("span", this.words.failed, { class: "not" }), box);
  }

  choice(text, line, body) {
    const button = made("button", text, { type: "button" });
    button.addEventListener("click", () => {
      line.replaceChildren(made("bdi", body.name), " ", made("span", this.words.saving, { class: "hint" }));
      this.field.focus();
      this.save(body, line);
    });
    return button;
  }

  failed(line, body, problem) {
    const again = this.choice(this.words.retry, line, body);
    const told = made("span", `${this.words.failed}: ${problem.message}`, { class: "not", role: "alert" });
    line.replaceChildren(made("bdi", body.name), " ", told, " ", again);
  }

  count(number) {
    const shown = document.querySelector("[data-count]");
    if (shown) shown.textContent = number;
    for (const line of document.querySelectorAll("[data-then]")) line.hidden = number === 0;
    for (const line of document.querySelectorAll("[data-nobody]")) line.hidden = number > 0;
    for (const button of document.querySelectorAll("[data-some]")) button.hidden = number === 0;
    for (const button of document.querySelectorAll("[data-if-no-contacts]")) button.hidden = number > 0;
  }

  known(name, match) {
    this.field.value = "";
    this.save({ name, same: match.code, nonce: newNonce() }, this.line(match.name));
  }
}

// A form that leaves the page waits until what was typed is saved, and for names that a question is open about.
const waitForEntry = (form, entry) => form.addEventListener("submit", (event) => {
  const open = entry.list.querySelector(".not");
  if (open && !entry.waiting) {
    event.preventDefault();
    open.closest("li").scrollIntoView({ block: "center" });
    open.closest("li").querySelector("button").focus();
    return;
  }
  if (!entry.field.value.trim() && !entry.waiting) return;
  event.preventDefault();
  const pressed = event.submitter;
  const saved = entry.field.value.trim() ? entry.submit(new Event("submit", { cancelable: true })) : entry.queue;
  saved.then(() => { if (!entry.list.querySelector(".not")) form.requestSubmit(pressed && !pressed.hidden ? pressed : form.querySelector("button:not([hidden])")); });
});


stillHere();
for (const form of document.querySelectorAll("[data-entry]")) {
  const entry = new Entry(form);
  for (const other of document.querySelectorAll("[data-leaves]")) waitForEntry(other, entry);
  document.addEventListener("change", ({ target }) => { if (target.name && target.name.startsWith("group.")) entry.saveGroup(target); });
}
for (const place of document.querySelectorAll("[data-pick]")) pickPerson(place);
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
for (const menu of document.querySelectorAll("details.more")) {
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); } });
}
