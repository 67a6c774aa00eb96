// The picture of the network and the table beside it: find, choose, move and zoom. The server computes the places.
// Names come from the server for this page only: nothing is put into addresses, titles or the browser's storage.
// Texts come from the page, never from here. Uses made() and stillHere() of app.js.
"use strict";

const PERSON = { alone: 6, least: 7, perContact: 2.2, most: 24 }; // size of a mark at scale 1: least + perContact * sqrt(contacts)
const NEAREST = 44; // the server keeps people at least this far apart
const CLOSEST = 5; // scale
const LABEL = { letters: 24, height: 15, gap: 3 };
const SLOP = { mouse: 4, touch: 10, pen: 6 }; // pixels a press may move and still be a click
const REACH = { mouse: 4, touch: 16, pen: 8 }; // pixels around a mark that count as the mark
const MOVE_MILLISECONDS = 280;
const COLOURS = ["paper", "ink", "soft", "line", "surveyed", "named", "refused", "start", "ring", "focus"];

const plainText = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);

// People, contacts, and what is chosen --------------------------------------------------------------------------------

class Network {
  constructor(data) {
    this.ties = data.ties;
    this.people = data.people.map((each, index) => ({ ...each, index, x: each.place[0], y: each.place[1], contacts: [] }));
    for (const [one, other] of data.ties) {
      this.people[one].contacts.push(other);
      this.people[other].contacts.push(one);
    }
    for (const each of this.people) {
      each.size = Math.min(PERSON.most, PERSON.least + PERSON.perContact * Math.sqrt(each.contacts.length));
      if (!each.contacts.length) each.size = PERSON.alone;
      each.filled = each.kind !== "start" || ["surveyed", "surveying", "partial"].includes(each.state);
      each.plain = plainText(each.name);
      each.label = each.name.length > LABEL.letters ? `${each.name.slice(0, LABEL.letters - 1)}…` : each.name;
    }
    this.byContacts = [...this.people].sort((one, other) => other.contacts.length - one.contacts.length);
    this.leaders = this.people.filter((each) => each.leads);
  }

  suggest(codes) {
    const byCode = new Map(this.people.map((each) => [each.code, each]));
    this.suggested = codes.map((code) => byCode.get(code)).filter(Boolean);
    for (const each of this.suggested) each.suggested = true;
    this.leaders = [...new Set([...this.suggested, ...this.leaders])];
  }

  // Everybody whose code is the text, or else whose name or code holds it.
  matching(text) {
    const wanted = plainText(text.trim());
    if (!wanted) return [];
    const exact = this.people.filter((each) => each.code.toLowerCase() === wanted);
    if (exact.length) return exact;
    return this.people.filter((each) => each.plain.includes(wanted) || each.code.toLowerCase().startsWith(wanted));
  }

  // Contacts, and the contacts of these who are not contacts themselves.
  around(person) {
    const direct = new Set(person.contacts);
    const through = new Set();
    for (const contact of direct)
      for (const other of this.people[contact].contacts) if (other !== person.index && !direct.has(other)) through.add(other);
    return { direct, through };
  }
}

// The picture ---------------------------------------------------------------------------------------------------------

class Picture {
  constructor(canvas, network, choose) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.network = network;
    this.choose = choose;
    this.chosen = null;
    this.found = [];
    this.hovered = null;
    this.centre = { x: 0, y: 0 };
    this.scale = 1;
    this.fitted = true;
    this.widths = new Map();
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.readColours();
    for (const query of ["(prefers-color-scheme: dark)", "print", "(forced-colors: active)"])
      matchMedia(query).addEventListener("change", () => { this.readColours(); this.draw(); });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    new Gestures(this);
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  readColours() {
    const style = getComputedStyle(this.canvas);
    this.colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.font = style.fontFamily;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    if (this.fitted) this.look(this.everything());
    this.draw();
  }

  // Where one looks: centre and scale ---------------------------------------------------------------------------------

  everything() {
    const xs = this.network.people.map((each) => each.x);
    const ys = this.network.people.map((each) => each.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const covered = this.covered();
    const room = { x: this.width - 110, y: this.height - 60 - covered }; // with a margin for names
    const scale = clamp(Math.min(room.x / Math.max(right - left, 1), room.y / Math.max(bottom - top, 1)), 0.01, 1.6);
    return { x: (left + right) / 2, y: (top + bottom) / 2 + covered / 2 / scale, scale };
  }

  // Pixels at the bottom that buttons cover.
  covered() {
    const buttons = this.canvas.closest(".stage").querySelector(".zoom").getBoundingClientRect();
    return Math.max(0, this.canvas.getBoundingClientRect().bottom - buttons.top);
  }

  look({ x, y, scale }) {
    this.centre = { x, y };
    this.scale = scale;
  }

  go(target) {
    cancelAnimationFrame(this.moving);
    if (this.still.matches) {
      this.look(target);
      this.soon();
      return;
    }
    const from = { ...this.centre, scale: this.scale };
    const began = performance.now();
    const step = (now) => {
      const part = clamp((now - began) / MOVE_MILLISECONDS, 0, 1);
      const eased = 1 - (1 - part) ** 3;
      const scale = from.scale * (target.scale / from.scale) ** eased;
      this.look({ x: from.x + (target.x - from.x) * eased, y: from.y + (target.y - from.y) * eased, scale });
      this.draw();
      if (part < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }

  stop() { cancelAnimationFrame(this.moving); }

  limited(scale) {
    const all = this.everything().scale;
    return clamp(scale, Math.min(all * 0.5, 0.5), Math.max(CLOSEST, all));
  }

  zoom(factor, at = { x: this.width / 2, y: this.height / 2 }) {
    const scale = this.limited(this.scale * factor);
    const [x, y] = [this.worldX(at.x), this.worldY(at.y)];
    this.fitted = false;
    return { x: x - (at.x - this.width / 2) / scale, y: y - (at.y - this.height / 2) / scale, scale };
  }

  pan(x, y) {
    this.fitted = false;
    this.look({ x: this.centre.x - x / this.scale, y: this.centre.y - y / this.scale, scale: this.scale });
    this.soon();
  }

  act(what) {
    const steps = { left: [1, 0], right: [-1, 0], up: [0, 1], down: [0, -1] };
    if (what === "all") {
      this.go(this.everything());
      this.fitted = true;
    } else if (what in steps) {
      this.stop();
      this.pan(steps[what][0] * this.width * 0.15, steps[what][1] * this.height * 0.15);
    } else this.go(this.zoom(what === "in" ? 1.5 : 1 / 1.5));
  }

  // A person in the middle, with the contacts around as far as names can still be read.
  show(person) {
    const away = person.contacts.map((index) => this.network.people[index]);
    const across = Math.max(60, ...away.map((each) => Math.abs(each.x - person.x)));
    const down = Math.max(60, ...away.map((each) => Math.abs(each.y - person.y)));
    const scale = Math.min((this.width / 2 - 50) / across, (this.height / 2 - 50) / down);
    this.fitted = false;
    this.go({ x: person.x, y: person.y, scale: this.limited(clamp(scale, 0.5, 1.2)) });
  }

  key(event) {
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", 0: "all" };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.choose(null);
    else if (event.key in keys) this.act(keys[event.key]);
    else return;
    event.preventDefault();
  }

  worldX(x) { return (x - this.width / 2) / this.scale + this.centre.x; }
  worldY(y) { return (y - this.height / 2) / this.scale + this.centre.y; }
  x(person) { return (person.x - this.centre.x) * this.scale + this.width / 2; }
  y(person) { return (person.y - this.centre.y) * this.scale + this.height / 2; }
  radius(person) { return Math.max(1, person.size * this.scale ** 0.75); }

  at(x, y, kind = "mouse") {
    let [best, least] = [null, Infinity];
    for (const each of this.network.people) {
      const away = Math.hypot(this.x(each) - x, this.y(each) - y) - this.radius(each);
      if (away < least) [best, least] = [each, away];
    }
    return least <= (REACH[kind] ?? REACH.mouse) ? best : null;
  }

  // Drawing -----------------------------------------------------------------------------------------------------------

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw() {
    const pen = this.pen;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.around = this.chosen ? this.network.around(this.chosen) : null;
    if (this.chosen && !this.isLeader(this.chosen)) this.around.through = new Set();
    this.drawTies();
    this.drawRings(true);
    this.drawPeople();
    this.drawRings(false);
    const labels = this.drawLabels();
    this.tell(labels);
  }

  isLeader(person) { return Boolean(person.suggested || person.leads); }

  // How strongly a person is drawn: 3 chosen or found, 2 a contact, 1 through a contact, 0 in the background.
  level(person) {
    if (person === this.chosen) return 3;
    if (this.around) {
      if (this.around.direct.has(person.index)) return 2;
      if (this.around.through.has(person.index)) return 1;
      return 0;
    }
    return this.found.length && !this.found.includes(person) ? 0 : 3;
  }

  seen(person, margin = 30) {
    const [x, y] = [this.x(person), this.y(person)];
    return x > -margin && y > -margin && x < this.width + margin && y < this.height + margin;
  }

  drawTies() {
    const { people, ties } = this.network;
    const lines = { behind: [], through: [], direct: [] };
    let shown = 0;
    for (const tie of ties) {
      const [one, other] = [people[tie[0]], people[tie[1]]];
      const [a, b, c, d] = [this.x(one), this.y(one), this.x(other), this.y(other)];
      if (Math.max(a, c) < 0 || Math.max(b, d) < 0 || Math.min(a, c) > this.width || Math.min(b, d) > this.height) continue;
      shown += 1;
      lines[this.tieLevel(one, other)].push(a, b, c, d);
    }
    const dimmed = this.around || this.found.length;
    const crowd = clamp(Math.sqrt(500 / Math.max(shown, 1)), 0.55, 1); // many contacts are drawn fainter
    const width = clamp(1.4 * this.scale ** 0.5, 0.5, 2);
    this.strokeLines(lines.behind, this.colours.soft, width, (dimmed ? 0.16 : 0.5) * crowd);
    this.strokeLines(lines.through, this.colours.ring, width, 0.4);
    this.strokeLines(lines.direct, this.isLeader(this.chosen ?? {}) ? this.colours.ring : this.colours.ink, clamp(width * 1.6, 1.2, 3), 0.85);
  }

  tieLevel(one, other) {
    if (!this.around) return "behind";
    if (one === this.chosen || other === this.chosen) return "direct";
    const { direct, through } = this.around;
    const leads = (direct.has(one.index) && through.has(other.index)) || (direct.has(other.index) && through.has(one.index));
    return leads ? "through" : "behind";
  }

  strokeLines(lines, colour, width, alpha) {
    const pen = this.pen;
    pen.beginPath();
    for (let i = 0; i < lines.length; i += 4) {
      pen.moveTo(lines[i], lines[i + 1]);
      pen.lineTo(lines[i + 2], lines[i + 3]);
    }
    Object.assign(pen, { strokeStyle: colour, lineWidth: width, globalAlpha: alpha });
    pen.stroke();
    pen.globalAlpha = 1;
  }

  // One path for each kind and level: thousands of marks take a few calls only.
  drawPeople() {
    const groups = new Map();
    for (const each of this.network.people) {
      if (!this.seen(each)) continue;
      const key = `${this.level(each)} ${each.kind} ${each.filled}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(each);
    }
    for (const key of [...groups.keys()].sort()) {
      const [level, kind, filled] = key.split(" ");
      this.drawMarks(groups.get(key), kind, filled === "true", [0.22, 0.6, 1, 1][level]);
    }
  }

  drawMarks(people, kind, filled, alpha) {
    const pen = this.pen;
    pen.beginPath();
    for (const each of people) markPath(pen, kind, this.x(each), this.y(each), this.radius(each));
    if (alpha < 1) { // hide the contacts behind, so that faint marks stay clear
      pen.fillStyle = this.colours.paper;
      pen.fill();
    }
    const edge = filled ? clamp(2.5 * this.scale, 0.3, 1.25) : clamp(3 * this.scale ** 0.5, 1.2, 3);
    const [fillStyle, strokeStyle] = filled ? [this.colours[kind], this.colours.paper] : [this.colours.paper, this.colours[kind]];
    Object.assign(pen, { globalAlpha: alpha, fillStyle, strokeStyle, lineWidth: edge });
    pen.fill();
    pen.stroke();
    if (kind === "refused") {
      pen.beginPath();
      for (const each of people) crossPath(pen, this.x(each), this.y(each), this.radius(each));
      Object.assign(pen, { strokeStyle: this.colours.paper, lineWidth: clamp(2.2 * this.scale ** 0.5, 0.8, 2.4) });
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // First the paper inside the rings, which hides the contacts there; the rings themselves after the marks.
  drawRings(inside) {
    const found = this.chosen ? [this.chosen] : this.found.slice(0, 200);
    for (const each of found) this.ring(each, this.colours.focus, this.isLeader(each) ? 8 : 4.5, 1, inside);
    for (const each of this.network.leaders) this.ring(each, this.colours.ring, 3.5, this.level(each) ? 1 : 0.45, inside);
  }

  ring(person, colour, gap, alpha, inside) {
    if (!this.seen(person)) return;
    const pen = this.pen;
    const size = clamp(this.scale ** 0.5, 0.7, 1.2);
    pen.beginPath();
    pen.arc(this.x(person), this.y(person), Math.max(this.radius(person) * 1.05, 4) + gap * size, 0, 2 * Math.PI);
    Object.assign(pen, { fillStyle: this.colours.paper, strokeStyle: colour, lineWidth: 2.75 * size, globalAlpha: alpha });
    if (inside) pen.fill();
    else pen.stroke();
    pen.globalAlpha = 1;
  }

  // Names, the most important first, as long as they cover neither each other nor people (leaders, if they must be shown).
  drawLabels() {
    const pen = this.pen;
    const taken = [];
    const marks = this.network.people.filter((each) => this.seen(each, 0));
    Object.assign(pen, { textAlign: "center", textBaseline: "top", lineJoin: "round" });
    let drawn = 0;
    for (const [person, must] of this.labelOrder(marks)) {
      pen.font = `${must ? 600 : 400} 12px ${this.font}`;
      const covered = must ? marks.filter((each) => this.isLeader(each)) : marks;
      const box = [1, -1].map((side) => this.labelBox(person, must, side)).find((each) => this.free(each, person, taken, covered))
        ?? (person === this.chosen || person === this.hovered ? this.labelBox(person, must, 1) : null);
      if (!box) continue;
      taken.push(box);
      drawn += 1;
      pen.globalAlpha = this.level(person) ? 1 : 0.5;
      Object.assign(pen, { strokeStyle: this.colours.paper, lineWidth: 3.5, fillStyle: this.colours.ink });
      pen.strokeText(person.label, (box.left + box.right) / 2, box.top + 1);
      pen.fillText(person.label, (box.left + box.right) / 2, box.top + 1);
      pen.globalAlpha = 1;
    }
    return drawn;
  }

  // Each person to name, and whether the name is shown even if it covers people who are no leaders.
  labelOrder(marks) {
    const spacing = NEAREST * this.scale; // pixels between neighbours
    const order = new Map();
    const add = (person, must) => { if (person && !order.has(person) && this.seen(person, 0)) order.set(person, must); };
    add(this.hovered, true);
    add(this.chosen, true);
    for (const each of this.found.slice(0, 20)) add(each, true);
    if (this.around) for (const index of [...this.around.direct].slice(0, 60)) add(this.network.people[index], false);
    for (const each of this.network.leaders) add(each, !this.around);
    if (spacing > 9 || marks.length <= 40) {
      const most = spacing > 30 ? 400 : spacing > 16 ? 60 : 20;
      for (const each of this.network.byContacts) {
        if (order.size >= most) break;
        if (!this.around || this.level(each)) add(each, false);
      }
    }
    return order;
  }

  free(box, person, taken, marks) {
    return !taken.some((each) => overlap(each, box)) && !marks.some((each) => each !== person && this.covers(box, each));
  }

  // Below the mark, or above it.
  labelBox(person, must, side) {
    const key = `${must} ${person.label}`;
    if (!this.widths.has(key)) this.widths.set(key, this.pen.measureText(person.label).width);
    const half = this.widths.get(key) / 2 + LABEL.gap;
    const x = clamp(this.x(person), half, Math.max(half, this.width - half));
    const ringed = this.isLeader(person) || person === this.chosen || this.found.includes(person);
    const away = this.radius(person) + (ringed ? 8 : 2);
    const top = this.y(person) + (side > 0 ? away : -away - LABEL.height);
    return { left: x - half, right: x + half, top, bottom: top + LABEL.height };
  }

  covers(box, person) {
    const [x, y, r] = [this.x(person), this.y(person), this.radius(person)];
    return x + r > box.left && x - r < box.right && y + r > box.top && y - r < box.bottom;
  }

  // What is shown, for tests and other tools: codes only.
  tell(labels) {
    const shown = { scale: this.scale.toFixed(4), x: this.centre.x.toFixed(1), y: this.centre.y.toFixed(1), labels };
    const around = { direct: this.around?.direct.size ?? 0, through: this.around?.through.size ?? 0 };
    Object.assign(this.canvas.dataset, shown, around, { chosen: this.chosen?.code ?? "", found: this.found.length, people: this.network.people.length });
    if (!this.canvas.dataset.painted) this.canvas.dataset.painted = Math.round(performance.now());
  }
}

const markPath = (pen, kind, x, y, r) => {
  if (kind === "surveyed") {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  } else if (kind === "refused") pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else {
    const corners = kind === "start" ? [[0, -1.3], [1.2, 0.85], [-1.2, 0.85]] : [[0, -1.15], [1.15, 0], [0, 1.15], [-1.15, 0]];
    corners.forEach(([across, down], i) => pen[i ? "lineTo" : "moveTo"](x + across * r, y + down * r));
    pen.closePath();
  }
};

const crossPath = (pen, x, y, r) => {
  for (const side of [1, -1]) {
    pen.moveTo(x - r * 0.5, y - side * r * 0.5);
    pen.lineTo(x + r * 0.5, y + side * r * 0.5);
  }
};

const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// Mouse, pen and fingers ----------------------------------------------------------------------------------------------

class Gestures {
  constructor(picture) {
    this.picture = picture;
    this.down = new Map(); // pointers by id
    this.press = null; // a press that may become a click
    this.last = null; // the press before the click
    const canvas = picture.canvas;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.end(event));
    canvas.addEventListener("click", () => this.click());
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  point(event) {
    const box = this.picture.canvas.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  }

  begin(event) {
    if (event.button > 0) return;
    const point = this.point(event);
    this.picture.stop();
    this.picture.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, point);
    if (this.down.size > 1) this.press = null;
    else this.press = { from: point, moved: false, kind: event.pointerType, person: this.picture.at(point.x, point.y, event.pointerType) };
  }

  move(event) {
    const point = this.point(event);
    const last = this.down.get(event.pointerId);
    if (!last) {
      if (event.pointerType === "mouse") this.hover(this.picture.at(point.x, point.y));
      return;
    }
    if (this.down.size === 2) this.pinch(event.pointerId, point);
    else if (this.down.size === 1) this.drag(point, last);
    if (!this.press || this.press.moved) this.down.set(event.pointerId, point);
  }

  drag(point, last) {
    const { press, picture } = this;
    if (press && !press.moved) {
      press.moved = Math.hypot(point.x - press.from.x, point.y - press.from.y) > (SLOP[press.kind] ?? SLOP.mouse);
      if (!press.moved) return;
    }
    const person = press && (press.kind === "mouse" || press.person === picture.chosen) ? press.person : null;
    picture.canvas.classList.add("moving");
    if (!person) {
      picture.pan(point.x - last.x, point.y - last.y);
      return;
    }
    person.x += (point.x - last.x) / picture.scale;
    person.y += (point.y - last.y) / picture.scale;
    picture.canvas.dataset.dragged = person.code;
    picture.soon();
  }

  pinch(id, point) {
    const [other] = [...this.down].filter(([each]) => each !== id).map(([, each]) => each);
    const last = this.down.get(id);
    const factor = Math.max(1, Math.hypot(point.x - other.x, point.y - other.y)) / Math.max(1, Math.hypot(last.x - other.x, last.y - other.y));
    const picture = this.picture;
    picture.look(picture.zoom(factor, { x: (last.x + other.x) / 2, y: (last.y + other.y) / 2 }));
    picture.pan((point.x - last.x) / 2, (point.y - last.y) / 2);
  }

  end(event) {
    if (!this.down.delete(event.pointerId)) return;
    this.picture.canvas.classList.remove("moving");
    this.last = event.type === "pointerup" ? this.press : null;
    this.press = null;
  }

  // Not when the finger is lifted: the page may scroll to the card, and the click that follows would hit what is there.
  click() {
    if (this.last && !this.last.moved) this.picture.choose(this.last.person, true);
    this.last = null;
  }

  hover(person) {
    this.picture.canvas.classList.toggle("over", Boolean(person));
    if (person === this.picture.hovered) return;
    this.picture.hovered = person;
    this.picture.soon();
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 30 : 1;
    const picture = this.picture;
    picture.stop();
    picture.look(picture.zoom(Math.exp(-clamp(event.deltaY * lines, -300, 300) * (event.ctrlKey ? 0.01 : 0.002)), this.point(event)));
    picture.soon();
  }
}

// The page around it: the card of a person, finding, the table --------------------------------------------------------

class NetworkPage {
  constructor(root, network) {
    this.root = root;
    this.network = network;
    this.texts = JSON.parse(root.dataset.texts);
    this.page = Number(root.dataset.page);
    this.turn = 0;
    this.find = root.querySelector("#find");
    this.about = root.querySelector("[data-about]");
    this.nobody = this.about.firstElementChild;
    root.querySelector("[data-live]").hidden = false;
    this.picture = new Picture(root.querySelector("canvas"), network, (person, byHand) => this.choose(person, byHand));
    this.find.addEventListener("input", () => this.search());
    this.find.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.next();
    });
    root.addEventListener("click", (event) => this.click(event));
    this.about.addEventListener("keydown", (event) => { if (event.key === "Escape") this.choose(null); });
    this.table();
  }

  text(key, values = {}) { return fill(this.texts[key], values); }

  click(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const { act, person, turn } = button.dataset;
    if (act === "find") this.next();
    else if (act === "close") this.choose(null);
    else if (act) this.picture.act(act);
    else if (person) this.visit(this.network.people[person], button);
    else if (turn) this.turnPage(Number(turn));
  }

  // Choosing ----------------------------------------------------------------------------------------------------------

  choose(person, byHand = false) {
    this.picture.chosen = person;
    this.picture.soon();
    const inside = this.about.contains(document.activeElement);
    this.about.replaceChildren(...(person ? this.card(person) : [this.nobody]));
    if (inside) (person ? this.about.querySelector("h2") : this.picture.canvas).focus({ preventScroll: true });
    if (person && byHand) this.about.querySelector("h2").scrollIntoView({ block: "nearest" });
    for (const each of this.root.querySelectorAll("button[data-person][aria-pressed]"))
      each.ariaPressed = String(Boolean(person) && Number(each.dataset.person) === person.index);
  }

  visit(person, from) {
    const inside = this.about.contains(from);
    this.choose(person);
    this.picture.show(person);
    if (!inside) this.picture.canvas.scrollIntoView({ block: "nearest" });
  }

  card(person) {
    const head = made("h2", "", { tabindex: "-1" });
    head.append(made("bdi", person.name));
    const facts = made("p", "");
    facts.append(made("span", person.code, { class: "code" }), " ", this.state(person));
    if (person.start) facts.append(" ", made("span", this.text("tag.start"), { class: "tag" }));
    if (person.leads || person.suggested) facts.append(" ", made("span", this.leads(person), { class: "tag leads" }));
    const parts = [head, facts];
    if (this.picture.isLeader(person)) {
      const { direct, through } = this.network.around(person);
      parts.push(made("p", this.text("network.reach", { direct: direct.size, through: through.size }), { class: "hint" }));
    }
    parts.push(this.people("network.contacts", person.contacts), this.people("network.named_by", person.named_by));
    const link = made("a", this.text("network.open"), { class: "button", href: `${this.root.dataset.base}/people/${person.code}` });
    const actions = made("p", "", { class: "actions" });
    actions.append(link, made("button", this.text("network.close"), { type: "button", "data-act": "close" }));
    return [...parts, actions];
  }

  people(key, indices) {
    const line = made("p", "", { class: "folk" });
    line.append(made("strong", this.text(key, { count: indices.length })));
    for (const index of indices.slice(0, 12)) line.append(this.person(index), " ");
    if (indices.length > 12) line.append(made("span", this.text("network.more", { count: indices.length - 12 }), { class: "hint" }));
    if (!indices.length) line.append(made("span", this.text("network.nobody"), { class: "hint" }));
    return line;
  }

  person(index, pressable = false) {
    const button = made("button", "", { type: "button", class: "small", "data-person": index });
    if (pressable) button.ariaPressed = "false";
    button.append(made("bdi", this.network.people[index].name));
    return button;
  }

  state(person) {
    return made("span", this.text(`state.${person.state}`), { class: `state state-${person.state.replace(" ", "-")}` });
  }

  leads(person) { return person.leads ? this.text("network.asked") : person.suggested ? this.text("network.suggested") : this.text("no"); }

  suggest(codes) {
    this.network.suggest(codes);
    const box = this.root.querySelector("[data-suggested]");
    box.hidden = !this.network.suggested.length;
    box.querySelector("ol").replaceChildren(...this.network.suggested.map((each) => {
      const line = made("li", "");
      line.append(this.person(each.index, true));
      return line;
    }));
    if (this.picture.chosen) this.choose(this.picture.chosen);
    this.picture.soon();
    this.table();
  }

  // Finding -----------------------------------------------------------------------------------------------------------

  search() {
    this.turn = 0;
    const found = this.network.matching(this.find.value);
    this.picture.found = found;
    this.page = 1;
    this.table();
    const key = found.length === 1 ? "network.found_one" : found.length ? "network.found" : "network.found_none";
    this.say(this.find.value.trim() ? this.text(key, { count: found.length }) : "");
    this.choose(found.length === 1 ? found[0] : null);
    if (found.length === 1) this.picture.show(found[0]);
  }

  next() {
    const { found } = this.picture;
    if (!found.length) return;
    const person = found[this.turn % found.length];
    this.turn += 1;
    this.choose(person);
    this.picture.show(person);
  }

  say(text) { this.root.querySelector("[data-say]").textContent = text; }

  // The table ---------------------------------------------------------------------------------------------------------

  table() {
    const rows = Number(this.root.dataset.rows);
    const people = this.find.value.trim() ? this.picture.found : this.network.people;
    const last = Math.max(1, Math.ceil(people.length / rows));
    this.page = clamp(this.page, 1, last);
    const shown = people.slice((this.page - 1) * rows, this.page * rows);
    this.root.querySelector("tbody").replaceChildren(...shown.map((each) => this.row(each)));
    const pages = this.root.querySelector("[data-pages]");
    const turn = (step, text) => {
      const button = made("button", text, { type: "button", class: "small", "data-turn": step });
      button.disabled = this.page + step < 1 || this.page + step > last;
      return button;
    };
    const where = made("span", this.text("network.page", { number: this.page, last }));
    pages.replaceChildren(turn(-1, pages.dataset.before), where, turn(1, pages.dataset.after));
  }

  turnPage(step) {
    this.page += step;
    this.table();
    const [before, after] = this.root.querySelectorAll("[data-turn]");
    const wanted = step < 0 ? before : after;
    (wanted.disabled ? (step < 0 ? after : before) : wanted).focus();
  }

  row(person) {
    const row = made("tr", "");
    const head = made("th", "", { scope: "row" });
    const link = made("a", "", { class: "who", href: `${this.root.dataset.base}/people/${person.code}` });
    link.append(made("bdi", person.name));
    const show = made("button", this.text("network.show"), { type: "button", class: "small", "data-person": person.index });
    show.ariaLabel = `${this.text("network.show")}: ${person.name}`;
    head.append(link, " ", made("span", person.code, { class: "code" }), " ");
    if (person.start) head.append(made("span", this.text("tag.start"), { class: "tag" }), " ");
    head.append(show);
    const state = made("td", "");
    state.append(this.state(person));
    row.append(head, state, made("td", this.leads(person)), made("td", person.contacts.length), this.names(person.contacts), this.names(person.named_by));
    return row;
  }

  names(indices) {
    const cell = made("td", "");
    const most = Number(this.root.dataset.names);
    indices.slice(0, most).forEach((index, i) => cell.append(i ? ", " : "", made("bdi", this.network.people[index].name)));
    if (indices.length > most) cell.append(` ${this.text("network.more", { count: indices.length - most })}`);
    return cell;
  }
}

const askServer = async (address) => {
  const answer = await fetch(address);
  const data = await answer.json();
  stillHere();
  if (!answer.ok) throw new Error(data.message || String(answer.status));
  return data;
};

const startNetwork = async (root) => {
  try {
    const page = new NetworkPage(root, new Network(await askServer(root.dataset.api)));
    const { leaders } = await askServer(`${root.dataset.api}/leaders`);
    page.suggest(leaders);
    page.picture.canvas.dataset.leaders = leaders.length;
  } catch (problem) {
    root.prepend(made("p", problem.message, { class: "box bad", role: "alert" }));
  }
};

for (const root of document.querySelectorAll("[data-network]")) startNetwork(root);
