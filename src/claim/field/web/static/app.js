// What pages do beyond forms: save contact by contact without leaving the page, hints while typing, find in a list,
// move and zoom the picture. Every page works without it. Texts come from the page, never from here.
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

// Entry: one name a line ----------------------------------------------------------------------------------------------

class Entry {
  constructor(form) {
    this.form = form;
    this.words = form.dataset;
    this.field = form.elements.name;
    this.hints = form.querySelector("[data-hints]");
    this.list = form.querySelector("[data-list]") || document.querySelector("[data-list]");
    this.queue = Promise.resolve(); // one after the other, in the order typed
    this.waiting = 0;
    form.addEventListener("submit", (event) => this.submit(event));
    this.field.addEventListener("input", () => this.later());
    this.list.addEventListener("submit", (event) => this.change(event));
    window.addEventListener("beforeunload", (event) => { if (this.waiting) event.preventDefault(); });
  }

  get start() {
    const box = this.form.elements.start;
    return Boolean(box && box.checked);
  }

  async ask(address, body, method = "POST") {
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": this.words.csrf };
    const answer = await fetch(address, { method, headers, body: body && JSON.stringify(body) });
    const data = await answer.json();
    stillHere();
    if (!answer.ok) throw new Error(data.message || String(answer.status));
    return data;
  }

  submit(event) {
    event.preventDefault();
    const name = this.field.value.trim();
    if (!name) return Promise.resolve();
    this.field.value = "";
    this.hints.replaceChildren();
    this.field.focus();
    return this.save({ name, same: "", nonce: newNonce() }, this.line(name));
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
    this.count(answer.count);
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

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.suggest(), 200);
  }

  async suggest() {
    const name = this.field.value.trim();
    if (name.length < 2) return this.hints.replaceChildren();
    try {
      const answer = await this.ask(this.words.similar, { name, by: this.words.person || "" });
      if (this.field.value.trim() !== name) return undefined;
      const buttons = answer.matches.map((match) => this.suggestion(name, match));
      return this.hints.replaceChildren(...(buttons.length ? [made("span", this.words.hint, { class: "hint" }), ...buttons] : []));
    } catch {
      return this.hints.replaceChildren();
    }
  }

  suggestion(name, match) {
    const button = made("button", `${match.name} · ${match.code}`, { type: "button", class: "small" });
    button.addEventListener("click", () => {
      this.field.value = "";
      this.hints.replaceChildren();
      this.field.focus();
      this.save({ name, same: match.code, nonce: newNonce() }, this.line(match.name));
    });
    return button;
  }
}

// A form that leaves the page waits until what was typed is saved.
const waitForEntry = (form, entry) => form.addEventListener("submit", (event) => {
  if (!entry.field.value.trim() && !entry.waiting) return;
  event.preventDefault();
  const pressed = event.submitter;
  const saved = entry.field.value.trim() ? entry.submit(new Event("submit", { cancelable: true })) : entry.queue;
  saved.then(() => { if (!entry.list.querySelector(".not")) form.requestSubmit(pressed && !pressed.hidden ? pressed : form.querySelector("button:not([hidden])")); });
});

// The picture ---------------------------------------------------------------------------------------------------------

class Picture {
  constructor(svg) {
    this.svg = svg;
    this.all = svg.dataset.box.split(" ").map(Number);
    this.box = [...this.all];
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", "0": "all" };
    svg.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.act(keys[event.key]);
    });
    svg.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event); }, { passive: false });
    this.drag();
    const buttons = document.querySelector("[data-zoom]");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => { if (event.target.dataset.act) this.act(event.target.dataset.act); });
  }

  show() { this.svg.setAttribute("viewBox", this.box.map((value) => value.toFixed(1)).join(" ")); }

  act(what) {
    const steps = { left: [-0.2, 0], right: [0.2, 0], up: [0, -0.2], down: [0, 0.2] };
    if (what === "all") this.box = [...this.all];
    else if (what in steps) this.move(steps[what][0] * this.box[2], steps[what][1] * this.box[3]);
    else this.zoom(what === "in" ? 1 / 1.3 : 1.3);
    this.show();
  }

  move(x, y) { this.box[0] += x; this.box[1] += y; }

  zoom(factor, event) {
    const [x, y, width, height] = this.box;
    if (width * factor > this.all[2] * 4 || width * factor < 40) return;
    const frame = this.svg.getBoundingClientRect();
    const [across, down] = event ? [(event.clientX - frame.x) / frame.width, (event.clientY - frame.y) / frame.height] : [0.5, 0.5];
    this.box = [x + width * (1 - factor) * across, y + height * (1 - factor) * down, width * factor, height * factor];
    this.show();
  }

  drag() {
    let last = null;
    this.svg.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; this.svg.setPointerCapture(event.pointerId); });
    this.svg.addEventListener("pointermove", (event) => {
      if (!last) return;
      const scale = Math.max(this.box[2] / this.svg.clientWidth, this.box[3] / this.svg.clientHeight);
      this.move((last[0] - event.clientX) * scale, (last[1] - event.clientY) * scale);
      last = [event.clientX, event.clientY];
      this.show();
    });
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { last = null; });
  }
}

// Lists ---------------------------------------------------------------------------------------------------------------

const filterRows = (field) => {
  const rows = document.querySelectorAll(`#${field.dataset.filter} tbody tr`);
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const texts = Array.from(rows, (row) => plain(row.cells[0].textContent));
  field.hidden = false;
  document.querySelector("[data-filter-label]").hidden = false;
  field.addEventListener("input", () => {
    const wanted = plain(field.value.trim());
    rows.forEach((row, i) => { row.hidden = !texts[i].includes(wanted); });
  });
};

stillHere();
for (const form of document.querySelectorAll("[data-entry]")) {
  const entry = new Entry(form);
  for (const other of document.querySelectorAll("[data-leaves]")) waitForEntry(other, entry);
}
for (const field of document.querySelectorAll("[data-filter]")) filterRows(field);
const net = document.getElementById("net");
if (net) new Picture(net);
for (const menu of document.querySelectorAll("details.more")) {
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); } });
}
