/**
 * The timeline: a canvas that shows a window of a trace, and what the reader does with it.
 *
 * The files timeline_*.js hold its parts, one concern each; they meet in the object `window.npTimeline`. Times are
 * nanoseconds from the start of the trace, where doubles are exact. Dash is told only what the reader decided: a
 * slice was selected, a range measured, the view came to rest (see timeline_bridge.js).
 */
(function (np) {
  "use strict";

  const REST_MS = 250;
  const MARGIN = 0.1;
  const ABOUT =
    "Timeline of the trace. W and S zoom, A and D move, arrow keys walk from slice to slice, F fits the selection, " +
    "0 shows everything, slash finds, N and P go to the next and the previous find, M marks, Escape backs out.";

  class Timeline {
    /**
     * @param {HTMLElement} host the element to fill
     * @param {object} meta what `/_trace/meta` says
     * @param {{get: (path: string, signal?: AbortSignal) => Promise<Response>, key: string,
     *   parts: {search: HTMLElement, tools: HTMLElement, legend: HTMLElement, warnings?: HTMLElement, notes: HTMLElement},
     *   told: (event: string, data?: object | null) => void, hears?: () => boolean}} page `get` gets a resource of the trace, which has this
     *   key; `parts` are elements for what stands around the canvas; `told` hears "slice", "range", "view", "state" (what
     *   else the address has changed) and "jump" (what the browser's back button undoes is about to change);
     *   `hears` says whether keys are meant for this timeline, where there are several
     */
    constructor(host, meta, { get, key, parts, told, hears = () => true }) {
      this.host = host;
      this.get = get;
      this.meta = meta;
      this.told = told;
      this.hears = hears;
      this.path = location.pathname;
      this.scroll = 0;
      /** Details of the selected slice, as `/_trace/slice/<id>` gives them. */
      this.selection = null;
      this.selecting = 0;
      /** Settle when the selection, or the steps from slice to slice, that are under way have come to their end. */
      this.arriving = Promise.resolve();
      this.walking = Promise.resolve();
      /** Settles when the lanes are those of the whole trace, by whose numbers slices are selected. */
      this.whole = meta.is_whole ? Promise.resolve() : new Promise((done) => (this.isWhole = done));
      this.range = null;
      this.pointer = null;
      /** Whether the reader walks by keys: they then mean the selected slice, wherever the pointer was left. */
      this.byKeys = false;
      this.hover = null;
      this.frameRequest = 0;
      this.restTimer = 0;
      this.buildElements();
      const redraw = () => this.invalidate();
      const failed = (error) => this.say(error.message, { isError: true });
      this.view = new np.View(meta.span_ns, () => this.moved());
      this.rows = new np.Rows(meta.processes);
      this.surface = new np.Surface(this.canvas, this.view);
      this.theme = np.readTheme(meta.categories);
      this.feed = new np.Feed(get, meta.is_whole ? "whole" : "sketch", () => this.arrived(), failed);
      this.names = new np.Names(get, () => this.point(this.pointer), failed);
      this.search = new np.Search(parts.search, {
        get,
        changed: () => this.askAnew(),
        found: (slice) => this.goTo(slice),
        selected: () => this.selection?.id ?? -1,
        failed,
      });
      this.colors = new np.Colors(parts.tools, parts.legend, { get, changed: () => this.askAnew(), failed });
      this.export = new np.Export(parts.tools, this, key);
      this.failed = failed;
      this.listening = new AbortController();
      this.notes = new np.Notes(parts.notes, this, key);
      /** Settles when the whole trace was painted once: what can wait is asked for then. */
      this.painted = new Promise((done) => (this.isPainted = done));
      this.regions = new np.Regions(host, this);
      this.warnings = new np.Warnings(parts.warnings ?? document.createElement("div"), this);
      this.arranging = new np.Arranging(host, this);
      this.stripsChanged();
      this.input = new np.Input(this, this.listening.signal);
      this.resizing = new ResizeObserver(() => this.resize());
      this.resizing.observe(host);
      this.stopTheme = np.watchTheme(() => {
        this.theme = np.readTheme(meta.categories);
        redraw();
      });
      redraw();
    }

    buildElements() {
      const { host } = this;
      this.canvas = document.createElement("canvas");
      this.canvas.setAttribute("aria-hidden", "true");
      this.live = document.createElement("div");
      this.live.className = "np-timeline-live";
      this.live.setAttribute("aria-live", "polite");
      this.problem = document.createElement("div");
      this.problem.className = "np-timeline-problem";
      this.problem.setAttribute("role", "alert");
      this.problem.hidden = true;
      host.replaceChildren(this.canvas, this.live, this.problem);
      host.tabIndex = 0;
      host.setAttribute("role", "application");
      host.setAttribute("aria-label", ABOUT);
      this.tooltip = new np.Tooltip(host);
    }

    /** End everything that is under way and listen no more. */
    stop() {
      cancelAnimationFrame(this.frameRequest);
      clearTimeout(this.restTimer);
      this.listening.abort();
      this.resizing.disconnect();
      this.stopTheme();
      this.feed.stop();
      this.names.stop();
      this.search.stop();
      this.colors.stop();
      this.arranging.stop();
    }

    // ------------------------------------------------------------------ drawing

    /** Draw anew in the next frame. `data-settled` on the host says whether all that was asked for is painted. */
    invalidate() {
      this.host.dataset.settled = "false";
      this.frameRequest ||= requestAnimationFrame((now) => {
        this.frameRequest = 0;
        this.view.step(now);
        this.draw();
      });
    }

    draw() {
      Object.assign(np.sizes, this.rows.arrangement.sizes);
      if (this.surface.width <= this.surface.gutter || this.surface.height <= this.surface.top) return;
      this.ask();
      this.surface.begin(this.theme);
      np.drawGrid(this);
      np.drawTracks(this);
      np.drawGutter(this);
      np.drawRegions(this);
      np.drawWarnings(this);
      np.drawOverview(this);
      np.drawRuler(this);
      np.drawNotes(this);
      np.drawMarks(this);
      np.drawScrollbar(this);
      const { coming, stage } = this.feed;
      const isSettled = stage === "whole" && !coming && !this.view.goal && !this.names.timer;
      this.host.dataset.settled = String(isSettled);
      if (isSettled) this.isPainted();
    }

    /** Tell the feed what is seen. While the view moves by itself, only what it will show is worth fetching. */
    ask() {
      const { rows, scroll, seen } = this;
      this.feed.look(
        this.seenWindow(),
        rows.needed(scroll, scroll + seen),
        () => rows.needed(scroll - seen / 2, scroll + 1.5 * seen),
      );
    }

    /** What is looked for, or by what slices are coloured, has changed. */
    askAnew() {
      const find = this.search.query || undefined;
      this.feed.asked = { ...(find && { find }), ...(this.colors.asked && { color: this.colors.asked }) };
      this.told("state");
      this.invalidate();
    }

    /** How much of the tracks is seen at once, in pixels. */
    get seen() {
      return this.surface.height - this.surface.top;
    }

    seenWindow() {
      const { start, end } = this.view.goal ?? this.view;
      return { start, end, width: this.surface.plotWidth * this.surface.ratio, spanNs: this.view.spanNs };
    }

    /** Show the whole trace in place of its sketch. @param {object} meta what `/_trace/meta` says of it */
    async complete(meta) {
      const rows = new np.Rows(meta.processes, this.rows);
      const needed = rows.needed(this.scroll, this.scroll + this.seen);
      await this.feed.renew("whole", this.seenWindow(), needed, () => {
        Object.assign(this, { meta, rows });
        this.arranging.tell();
        this.stripsChanged();
        this.isWhole();
      });
    }

    /** What was asked for is there. */
    arrived() {
      this.problem.hidden = true;
      this.invalidate();
    }

    resize() {
      this.surface.resize();
      this.scrollTo(this.scroll);
      this.invalidate();
    }

    // ------------------------------------------------------------------ moving

    moved() {
      this.hover = null;
      this.tooltip.hide();
      this.awaitRest();
      this.invalidate();
    }

    awaitRest() {
      clearTimeout(this.restTimer);
      this.restTimer = setTimeout(() => this.rested(), REST_MS);
    }

    rested() {
      const { start, end } = this.view;
      this.told("view", { start: Math.round(start), end: Math.round(end) });
    }

    scrollTo(y) {
      const most = Math.max(0, this.rows.height - (this.surface.height - this.surface.top));
      const before = this.scroll;
      this.scroll = Math.round(Math.min(Math.max(y, 0), most));
      this.rows.stick(this.scroll);
      if (this.scroll !== before) this.awaitRest();
      this.invalidate();
    }

    /** Move to [start, end) with a margin on both sides. */
    show(start, end) {
      const margin = Math.max((end - start) * MARGIN, 1);
      this.jumpTo(start - margin, end + margin);
    }

    /** Show the selected slice, else the measured range. */
    fit() {
      const { selection, range } = this;
      if (selection) this.show(selection.start, selection.start + selection.drawn_dur);
      else if (range) this.jumpTo(range.start, range.end);
      else return false;
    }

    /** Move to [start, end), from where the browser's back button leads back. */
    jumpTo(start, end) {
      const [from, to] = this.view.inside(start, end);
      const now = this.view.goal ?? this.view;
      if (from === now.start && to === now.end) return;
      this.told("jump");
      this.view.moveTo(start, end);
    }

    /** Fold or unfold a row; with `all` those that stand in a list with it too. */
    toggle(row, { all = false } = {}) {
      if (all) this.rows.toggleAll(row);
      else this.rows.toggle(row);
      this.arranging.tell();
      this.scrollTo(this.scroll);
      this.told("state");
    }

    /** The tracks are arranged in another way. */
    arranged() {
      this.rows.layOut();
      this.arranging.tell();
      this.hover = null;
      this.scrollTo(this.scroll);
    }

    /** What stays in place above the tracks has changed. */
    stripsChanged() {
      this.surface.makeRoom({ regions: this.regions.isShown, warnings: this.warnings.height });
      this.host.dataset.marked = String(this.regions.isReady && this.warnings.isReady);
      this.scrollTo(this.scroll);
    }

    // ------------------------------------------------------------------ pointing

    /** The pointer is at a place of the canvas, or (null) has left it; draws anew. */
    point(at) {
      this.pointer = at;
      const strip = at && (this.regions.lookUp(at) ?? this.warnings.lookUp(at));
      const found = at && (this.notes.lookUp(at) ?? strip ?? np.lookUp(this, at.x, at.y));
      this.hover = found;
      if (found) this.tooltip.show(found.lines, at.x, at.y);
      else this.tooltip.hide();
      this.host.style.cursor = found?.block !== undefined || found?.note || strip ? "pointer" : "";
      this.invalidate();
    }

    /** Mark the range between two places of the canvas. */
    measure(x0, x1) {
      const inside = (x) => Math.min(Math.max(this.surface.moment(Math.max(x, this.surface.gutter)), 0), this.view.spanNs);
      this.range = { start: Math.round(inside(Math.min(x0, x1))), end: Math.round(inside(Math.max(x0, x1))) };
      this.tooltip.hide();
      this.invalidate();
    }

    /** Choose [start, end) as the range. */
    chooseRange(start, end) {
      this.range = { start: Math.round(start), end: Math.round(end) };
      this.measured();
      this.invalidate();
    }

    /** The range is as the reader wants it. */
    measured() {
      if (this.range.end > this.range.start) this.told("range", this.range);
      else this.range = null;
    }

    /** Undo what was done last: the measured range, the selection, the search. */
    backOut() {
      if (this.range) {
        this.range = null;
        this.told("range", null);
      } else if (this.selection) this.deselect();
      else if (this.search.text) this.search.set("");
      else return false;
      this.invalidate();
    }

    /** Tell the reader something, aloud where they listen; errors are shown. */
    say(text, { isError = false } = {}) {
      this.problem.hidden = !isError;
      (isError ? this.problem : this.live).textContent = text;
    }
  }

  np.Timeline = Timeline;
})((window.npTimeline ??= {}));
