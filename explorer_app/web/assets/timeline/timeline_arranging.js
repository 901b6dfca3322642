/** What the reader does to arrange the tracks: a field and a button in the gutter, dragging names, pins, keys. */
(function (np) {
  "use strict";

  const PIN_ROOM = 22;
  const TYPING_MS = 120;

  class Arranging {
    /** @param {HTMLElement} host of the canvas @param {object} timeline */
    constructor(host, timeline) {
      this.timeline = timeline;
      /** The row that is being dragged, and the place in its list where it would come: `{row, place, y}`; or null. */
      this.dragged = null;
      this.timer = 0;
      this.box = document.createElement("div");
      this.box.className = "np-timeline-tracks";
      this.field = document.createElement("input");
      Object.assign(this.field, { type: "search", placeholder: "Filter tracks", maxLength: np.LONGEST_FILTER, spellcheck: false });
      this.field.setAttribute("aria-label", "Filter tracks by name");
      this.button = document.createElement("button");
      this.button.type = "button";
      this.folds = document.createElement("button");
      this.folds.type = "button";
      this.box.append(this.field, this.button, this.folds);
      host.append(this.box);
      this.tell();
      const { signal } = timeline.listening;
      // what is done here is not done to the canvas below
      for (const type of ["pointerdown", "pointerup", "dblclick", "wheel"]) {
        this.box.addEventListener(type, (event) => event.stopPropagation(), { signal });
      }
      this.field.addEventListener("input", () => this.typed(), { signal });
      this.field.addEventListener("keydown", (event) => this.fieldKey(event), { signal });
      this.button.addEventListener("click", () => this.nextHeight(), { signal });
      this.folds.addEventListener("click", () => this.foldAll(), { signal });
    }

    get arrangement() {
      return this.timeline.rows.arrangement;
    }

    stop() {
      clearTimeout(this.timer);
    }

    // ------------------------------------------------------------------ filter and height

    typed() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.change(() => (this.arrangement.filter = this.field.value));
      }, TYPING_MS);
    }

    fieldKey(event) {
      if (event.key !== "Escape" && event.key !== "Enter") return;
      if (event.key === "Escape") this.field.value = "";
      this.typed();
      this.timeline.host.focus({ preventScroll: true });
      event.preventDefault();
      event.stopPropagation();
    }

    nextHeight() {
      this.change(() => this.arrangement.nextHeight());
      this.timeline.say(`${this.arrangement.height} rows`);
    }

    /** The outermost processes: ranks, where there are several. */
    get outermost() {
      return this.timeline.rows.processes.filter(({ within }) => within === null);
    }

    get isAnyOpen() {
      const { rows } = this.timeline;
      return this.outermost.some(({ id }) => !rows.foldedProcesses.has(id));
    }

    /** Fold all outermost processes; unfold them where none is open. */
    foldAll() {
      const { rows } = this.timeline;
      const { isAnyOpen } = this;
      for (const { id } of this.outermost) {
        if (isAnyOpen) rows.foldedProcesses.add(id);
        else rows.foldedProcesses.delete(id);
      }
      this.change(() => {});
    }

    /** Change the arrangement, lay out anew, and say so in the address. */
    change(act) {
      act();
      this.timeline.arranged();
      this.timeline.told("state");
    }

    /** The arrangement has changed: the field and the button say how it is. */
    tell() {
      const { filter, height } = this.arrangement;
      if (!this.timer) this.field.value = filter;  // else the reader is about to change it
      this.field.classList.toggle("np-timeline-filtering", filter.trim() !== "");
      this.button.textContent = { compact: "▤", normal: "☰", tall: "▭" }[height];
      this.button.title = `Row height: ${height}. Click for the next of compact, normal, tall (H)`;
      const { isAnyOpen } = this;
      this.folds.textContent = isAnyOpen ? "⊟" : "⊞";
      this.folds.title = isAnyOpen ? "Fold all" : "Unfold all";
      this.folds.setAttribute("aria-label", this.folds.title);
      this.button.setAttribute("aria-label", `Height of rows: ${height}`);
    }

    // ------------------------------------------------------------------ pins and order

    /** Whether a place of the canvas is on the pin of a row. */
    isOnPin(row, { x }) {
      const { gutter } = this.timeline.surface;
      return row?.kind === "track" && x < gutter && x >= gutter - PIN_ROOM;
    }

    togglePin(track) {
      const { arrangement, timeline } = this;
      const done = arrangement.togglePin(track.id);
      if (!done) return timeline.say("No more tracks can be kept on top: put one back first.", { isError: true });
      this.change(() => {});
      timeline.say(`${track.name} ${arrangement.isPinned(track.id) ? "stays on top" : "is back in its place"}`);
    }

    /** A row is dragged to a height of the canvas. */
    drag(row, y) {
      const { rows, surface, scroll } = this.timeline;
      const at = y - surface.top + scroll;
      const others = rows.siblings(row).filter(({ id }) => id !== row.id);
      const place = others.filter((other) => (other.y + other.end) / 2 < at).length;
      const line = place < others.length ? others[place].y : (others.at(-1)?.end ?? row.y);
      this.dragged = { row, place, y: line };
      this.timeline.host.style.cursor = "grabbing";
      this.timeline.invalidate();
    }

    /** The row that was dragged is let go, or (`done` false) was never meant to be. */
    drop(done) {
      const { dragged } = this;
      this.dragged = null;
      this.timeline.host.style.cursor = "";
      if (dragged && done) this.moveTo(dragged.row, dragged.place);
      else this.timeline.invalidate();
    }

    moveTo(row, place) {
      const { rows } = this.timeline;
      const ids = rows.siblings(row).map(({ id }) => id);
      this.change(() => this.arrangement.move(row.list, ids, row.id, place));
    }

    /** The row that keys are about: under the pointer, else that of the selected slice. */
    rowMeant() {
      const { pointer, surface, rows, scroll, selection, byKeys } = this.timeline;
      if (pointer && pointer.y >= surface.top && !(byKeys && selection)) return rows.at(pointer.y - surface.top + scroll);
      return selection ? rows.rows.find(({ track }) => track?.id === selection.track.id) : undefined;
    }

    /** What keys do to the row that they are about; false where there is none. */
    keys() {
      const step = (by) => () => {
        const row = this.rowMeant();
        if (!row) return false;
        this.moveTo(row, this.timeline.rows.siblings(row).findIndex(({ id }) => id === row.id) + by);
      };
      return {
        h: () => this.nextHeight(),
        t: () => {
          const row = this.rowMeant();
          return row?.track ? this.togglePin(row.track) : false;
        },
        "Shift+ArrowUp": step(-1),
        "Shift+ArrowDown": step(1),
      };
    }
  }

  /** A pin at the right of the gutter: of tracks that stay on top, and of the one under the pointer. */
  function drawPin({ surface, theme, pointer, scroll }, row, y) {
    const top = row.y + surface.top - scroll;
    const isHere = pointer && pointer.x < surface.gutter && pointer.y >= top && pointer.y < top + row.height;
    if (!row.pinned && !isHere) return;
    const c = surface.context;
    const [x, middle] = [surface.gutter - PIN_ROOM / 2, y + Math.min(row.height / 2, 12)];
    c.strokeStyle = c.fillStyle = row.pinned ? theme.accent : theme.dim;
    c.lineWidth = 1.5;
    c.beginPath();
    c.rect(x - 3, middle - 6, 6, 6);
    c.moveTo(x - 5, middle);
    c.lineTo(x + 5, middle);
    c.moveTo(x, middle);
    c.lineTo(x, middle + 6);
    if (row.pinned) c.fill();
    c.stroke();
  }

  /** Where the dragged row would come. */
  function drawDragged({ surface, theme, scroll, arranging }) {
    if (!arranging.dragged) return;
    const { row, y } = arranging.dragged;
    surface.fill(theme.accent, 0, y + surface.top - scroll - 1, surface.width, 2);
    surface.context.globalAlpha = 0.12;
    surface.fill(theme.accent, 0, row.y + surface.top - scroll, surface.gutter, row.end - row.y);
    surface.context.globalAlpha = 1;
  }

  Object.assign(np, { Arranging, drawDragged, drawPin });
})((window.npTimeline ??= {}));
