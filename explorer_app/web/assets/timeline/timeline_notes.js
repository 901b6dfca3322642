/** The reader's notes: marks on the ruler, a list beside the details, and the way to the server that keeps them. */
(function (np) {
  "use strict";

  const LONGEST = 2000;
  const ABOVE = 3;
  const FLAG_ROOM = 96;
  const RANGE_BAR = 3;
  const GOES_ON = "‹";
  const SAME_PX = 4;
  const MOST_BESIDES = 6;

  class Notes {
    /** @param {HTMLElement} host for the list @param {object} timeline @param {string} key of the trace */
    constructor(host, timeline, key) {
      this.host = host;
      this.timeline = timeline;
      this.address = `/_notes/${key}`;
      /** `{id, start, end, text, version}` in order of time, ns from the start of the trace; `end` is null for a moment. */
      this.notes = [];
      /** The note that is being written, `{id: null, …}` for a new one; null for none. */
      this.edited = null;
      this.place = "";
      this.problem = "";
      /** Where flags were drawn last: `{note, x0, x1}`. */
      this.flags = [];
      this.send("", undefined);
    }

    // ------------------------------------------------------------------ what the reader does

    /** Begin a note: of the measured range, else of the moment under the pointer, else of the selected slice. */
    mark() {
      const { range, pointer, selection, surface, view, byKeys } = this.timeline;
      const over = pointer && !(byKeys && selection) && pointer.x >= surface.gutter ? surface.moment(pointer.x) : null;
      if (range) this.edit({ id: null, start: range.start, end: range.end, text: "" });
      else if (over !== null) this.edit({ id: null, start: Math.min(Math.max(Math.round(over), 0), view.spanNs), end: null, text: "" });
      else if (selection) this.edit({ id: null, start: selection.start, end: selection.start + selection.drawn_dur, text: "" });
      else this.timeline.say("Point at a moment, or measure a range, then press M.", { isError: true });
    }

    edit(note) {
      this.edited = { ...note };
      this.show();
      this.timeline.invalidate();
    }

    cancel() {
      this.edited = null;
      this.show();
      this.timeline.host.focus({ preventScroll: true });
      this.timeline.invalidate();
    }

    async save(text) {
      if (!text.trim()) return this.cancel();
      const { id, version, start, end } = this.edited;
      const saved = await this.send("", { id, version, start_ns: this.absolute(start), end_ns: this.absolute(end), text });
      if (saved) this.cancel();
    }

    remove({ id, version }) {
      return this.send("/remove", { id, version });
    }

    goTo({ start, end }) {
      const { timeline } = this;
      const { length } = timeline.view;
      if (end === null) timeline.jumpTo(start - length / 2, start + length / 2);
      else timeline.show(start, end);
    }

    // ------------------------------------------------------------------ the server

    absolute(moment) {
      return moment === null ? null : String(BigInt(this.timeline.meta.start_ns) + BigInt(Math.round(moment)));
    }

    /** Get the notes, after a change where one is given. @returns {Promise<boolean>} whether it was made */
    async send(path, change) {
      const { signal } = this.timeline.listening;
      const options = change && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) };
      try {
        const response = await fetch(this.address + path, { signal, ...options });
        const isOurs = response.headers.get("Content-Type")?.startsWith("application/json");
        if (!response.ok && !isOurs) throw new Error((await response.text()).trim() || `refused (${response.status})`);
        this.take(await response.json());
        return response.ok;
      } catch (error) {
        if (error.name === "AbortError") return false;
        this.problem = `The notes are not saved: ${error.message}`;
        this.show();
        return false;
      }
    }

    take({ notes, place, problem }) {
      const origin = BigInt(this.timeline.meta.start_ns);
      const relative = (text) => (text === null ? null : Number(BigInt(text) - origin));
      this.notes = notes.map((note) => ({ ...note, start: relative(note.start_ns), end: relative(note.end_ns) }));
      this.place = place;
      this.problem = problem ?? "";
      // what another process changed meanwhile is edited as it is now
      const now = this.notes.find(({ id }) => id === this.edited?.id);
      if (now) this.edited.version = now.version;
      this.show();
      this.timeline.invalidate();
    }

    // ------------------------------------------------------------------ the list

    show() {
      const { host, notes, edited, place, problem } = this;
      host.hidden = !(notes.length || edited || problem);
      if (host.hidden) return host.replaceChildren();
      const title = element("div", { className: "np-card-head" }, element("h2", { textContent: "Notes" }));
      const list = element("ol", {});
      if (edited?.id === null) list.append(element("li", { className: "np-timeline-note" }, ...this.editor()));
      for (const note of notes) {
        const parts = note.id === edited?.id ? this.editor() : this.reader(note);
        list.append(element("li", { className: "np-timeline-note" }, ...parts));
      }
      const said = element("p", { className: "np-timeline-notes-said", textContent: problem || place });
      if (problem) said.setAttribute("role", "alert");
      host.replaceChildren(title, list, said);
      host.querySelector("textarea")?.focus();
    }

    reader(note) {
      const go = element("button", { type: "button", className: "np-timeline-go", title: "Show it" },
        element("span", { textContent: note.text }), element("small", { textContent: whenOf(note) }));
      go.addEventListener("click", () => {
        go.classList.toggle("np-open");
        this.goTo(note);
      });
      const edit = element("button", { type: "button", textContent: "Edit", title: "Change the text" });
      edit.addEventListener("click", () => this.edit(note));
      const remove = element("button", { type: "button", textContent: "×", title: "Delete this note" });
      remove.setAttribute("aria-label", `Delete the note ${note.text.slice(0, 60)}`);
      remove.addEventListener("click", () => this.remove(note));
      return [go, edit, remove];
    }

    editor() {
      const field = element("textarea", { maxLength: LONGEST, value: this.edited.text, placeholder: "Enter saves, Esc does not" });
      field.setAttribute("aria-label", `Note ${whenOf(this.edited)}`);
      field.addEventListener("input", () => (this.edited.text = field.value));
      field.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.key === "Enter" && !event.shiftKey) this.save(field.value);
        else if (event.key === "Escape") this.cancel();
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
      return [field, element("small", { className: "np-dim", textContent: whenOf(this.edited) })];
    }

    // ------------------------------------------------------------------ on the canvas

    /** What the canvas shows: the notes, and the one that is being begun. */
    get drawn() {
      return this.edited?.id === null ? [...this.notes, { ...this.edited, text: this.edited.text || "…" }] : this.notes;
    }

    flagAt({ x, y }) {
      const { overview, ruler } = this.timeline.surface;
      if (y < overview + ABOVE || y >= overview + ruler - ABOVE) return undefined;
      return this.flags.findLast(({ x0, x1 }) => x >= x0 && x < x1);
    }

    /** What the pointer is at, as `np.lookUp` says it; null for no flag. */
    lookUp(at) {
      const flag = this.flagAt(at);
      return flag ? { note: flag.note, lines: [flag.note.text, whenOf(flag.note)] } : null;
    }

    /** A click on a flag goes to its note in the list. @returns {boolean} whether there was one */
    clicked(at) {
      const flag = this.flagAt(at);
      if (!flag) return false;
      const index = this.notes.findIndex(({ id }) => id === flag.note.id);
      this.host.querySelectorAll("li")[index]?.querySelector("button")?.focus();
      return true;
    }
  }

  function whenOf({ start, end }) {
    const from = np.format.duration(start);
    return end === null ? `at ${from}` : `${np.format.duration(end - start)} from ${from}`;
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  /** Right of the flags of other notes that begin at the same place, as far as there are few. */
  function besides(flags, left) {
    const before = flags.filter(({ from }) => Math.abs(from - left) < SAME_PX);
    return before.length ? Math.min(before.at(-1).x1 + 1, left + MOST_BESIDES * FLAG_ROOM) : left;
  }

  /** A flag at each note on the ruler, and a line down from it; a range has one at both ends and a bar between. */
  function drawNotes({ surface, theme, notes }) {
    const { gutter, plotWidth, overview, ruler, height, view } = surface;
    notes.flags = [];
    const [y, tall] = [overview + ABOVE, ruler - 2 * ABOVE];
    surface.within(gutter, y, plotWidth, height - y, (c) => {
      for (const note of notes.drawn) {
        const last = note.end ?? note.start;
        if (last < view.start || note.start > view.end) continue;
        const [x0, x1] = [surface.sharp(surface.x(note.start)), surface.sharp(surface.x(last))];
        c.globalAlpha = 0.7;
        for (const x of note.end === null ? [x0] : [x0, x1 - 1]) surface.fill(theme.note, x, y, 1, height - y);
        c.globalAlpha = 1;
        const from = Math.max(x0, gutter);
        const left = besides(notes.flags, from);
        // one that begins before what is shown only says that it goes on here
        const line = note.start < view.start ? GOES_ON : note.text.split("\n")[0];
        const text = surface.fitted(line, FLAG_ROOM, theme.bold);
        const room = surface.textWidth(text, theme.bold) + 8;
        // the labels of the ruler stay to be read within a range
        if (note.end !== null) surface.fill(theme.note, from, y + tall - RANGE_BAR, Math.min(x1, gutter + plotWidth) - from, RANGE_BAR);
        surface.fill(theme.note, left, y, room, tall);
        surface.text(text, left + 4, y + tall / 2 + 0.5, FLAG_ROOM, { color: theme.panel, font: theme.bold });
        notes.flags.push({ note, from, x0: left, x1: left + room });
      }
    });
  }

  Object.assign(np, { Notes, drawNotes });
})((window.npTimeline ??= {}));
