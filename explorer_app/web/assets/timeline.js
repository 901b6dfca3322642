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
  const LEAST_PX = 2;
  const CONTEXT = 20;
  const ABOUT =
    "Timeline of the trace. W and S zoom, A and D move, arrow keys walk from slice to slice, F fits the selection, " +
    "0 shows everything, slash searches, Escape backs out.";

  class Timeline {
    /**
     * @param {HTMLElement} host the element to fill
     * @param {object} meta what `/_trace/meta` says
     * @param {{searchHost: HTMLElement, told: (event: string, data: object | null) => void}} page
     *   `told` hears "slice", "range" and "view"
     */
    constructor(host, meta, { searchHost, told }) {
      this.host = host;
      this.meta = meta;
      this.told = told;
      this.scroll = 0;
      /** Details of the selected slice, as `/_trace/slice/<id>` gives them. */
      this.selection = null;
      this.selecting = 0;
      /** Settle when the selection, or the steps from slice to slice, that are under way have come to their end. */
      this.arriving = Promise.resolve();
      this.walking = Promise.resolve();
      this.range = null;
      this.pointer = null;
      this.hover = null;
      this.frameRequest = 0;
      this.restTimer = 0;
      this.buildElements();
      const redraw = () => this.invalidate();
      const failed = (error) => this.say(error.message, { isError: true });
      this.view = new np.View(meta.span_ns, () => this.moved());
      this.rows = new np.Rows(meta.processes);
      this.surface = new np.Surface(this.canvas, this.view, { steps: meta.steps.length > 0 });
      this.theme = np.readTheme(meta.categories);
      this.feed = new np.Feed(() => this.arrived(), failed);
      this.names = new np.Names(() => this.point(this.pointer), failed);
      this.search = new np.Search(searchHost, {
        changed: redraw,
        found: (slice) => this.goTo(slice),
        selected: () => this.selection?.id ?? -1,
        failed,
      });
      this.failed = failed;
      this.listening = new AbortController();
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
      if (this.surface.width <= this.surface.gutter || this.surface.height <= this.surface.top) return;
      this.ask();
      this.surface.begin(this.theme);
      np.drawGrid(this);
      np.drawTracks(this);
      np.drawGutter(this);
      np.drawSteps(this);
      np.drawOverview(this);
      np.drawRuler(this);
      np.drawMarks(this);
      np.drawScrollbar(this);
      this.host.dataset.settled = String(!this.feed.coming && !this.view.goal && !this.names.timer);
    }

    /** Tell the feed what is seen. While the view moves by itself, only what it will show is worth fetching. */
    ask() {
      const { surface, rows, scroll } = this;
      const { start, end } = this.view.goal ?? this.view;
      const seen = surface.height - surface.top;
      this.feed.look(
        { start, end, width: surface.plotWidth * surface.ratio, spanNs: this.view.spanNs },
        rows.needed(scroll, scroll + seen),
        () => rows.needed(scroll - seen, scroll + 2 * seen),
      );
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
      clearTimeout(this.restTimer);
      this.restTimer = setTimeout(() => this.rested(), REST_MS);
      this.invalidate();
    }

    rested() {
      const { start, end } = this.view;
      this.told("view", { start: Math.round(start), end: Math.round(end) });
    }

    scrollTo(y) {
      const most = Math.max(0, this.rows.height - (this.surface.height - this.surface.top));
      this.scroll = Math.round(Math.min(Math.max(y, 0), most));
      this.invalidate();
    }

    /** Move to [start, end) with a margin on both sides. */
    show(start, end) {
      const margin = Math.max((end - start) * MARGIN, 1);
      this.view.moveTo(start - margin, end + margin);
    }

    /** Show the selected slice, else the measured range. */
    fit() {
      const { selection, range } = this;
      if (selection) this.show(selection.start, selection.start + selection.drawn_dur);
      else if (range) this.view.moveTo(range.start, range.end);
      else return false;
    }

    showStepAt({ x }) {
      const moment = this.surface.moment(x);
      const step = this.meta.steps.find(({ start, end }) => start <= moment && moment < end);
      if (step) this.view.moveTo(step.start, step.end);
    }

    toggle(row) {
      this.rows.toggle(row);
      this.scrollTo(this.scroll);
    }

    // ------------------------------------------------------------------ pointing

    /** The pointer is at a place of the canvas, or (null) has left it; draws anew. */
    point(at) {
      this.pointer = at;
      const found = at && np.lookUp(this, at.x, at.y);
      this.hover = found;
      if (found) this.tooltip.show(found.lines, at.x, at.y);
      else this.tooltip.hide();
      this.host.style.cursor = found?.block !== undefined ? "pointer" : "";
      this.invalidate();
    }

    /** Mark the range between two places of the canvas. */
    measure(x0, x1) {
      const inside = (x) => Math.min(Math.max(this.surface.moment(Math.max(x, this.surface.gutter)), 0), this.view.spanNs);
      this.range = { start: Math.round(inside(Math.min(x0, x1))), end: Math.round(inside(Math.max(x0, x1))) };
      this.tooltip.hide();
      this.invalidate();
    }

    /** The range is as the reader wants it. */
    measured() {
      if (this.range.end > this.range.start) this.told("range", this.range);
      else this.range = null;
    }

    // ------------------------------------------------------------------ selecting

    selectBlock(block) {
      return this.select(this.feed.blocks.slice[block], { merged: this.feed.blocks.slices[block] });
    }

    /** Select a slice by its row. `merged`: how many slices the block stood for through which it was selected. */
    select(slice, { merged = 1 } = {}) {
      if (slice >= this.meta.slice_count) return this.miss(slice);
      this.arriving = this.fetchSelection(slice, merged);
      return this.arriving;
    }

    async fetchSelection(slice, merged) {
      const turn = ++this.selecting;
      try {
        const details = await (await np.get(`slice/${slice}`, this.listening.signal)).json();
        if (turn !== this.selecting) return;
        this.selection = details;
        this.say(`${details.name}, ${np.format.duration(details.dur)}, on ${details.track.name}`);
        this.told("slice", { id: slice, merged });
        this.invalidate();
      } catch (error) {
        if (error.name !== "AbortError") this.failed(error);
      }
    }

    /** Say that a slice is not there, in place of the selected one. */
    miss(slice) {
      this.selecting++;
      this.selection = null;
      this.told("slice", { id: slice });
      this.invalidate();
      return Promise.resolve();
    }

    deselect() {
      this.selecting++;
      if (!this.selection) return;
      this.selection = null;
      this.told("slice", null);
      this.invalidate();
    }

    /** Select a slice and bring it into sight. */
    async goTo(slice) {
      await this.select(slice);
      if (this.selection?.id === slice) this.reveal(this.selection);
    }

    reveal({ lane, start, drawn_dur: length }) {
      if (this.rows.reveal(lane)) this.invalidate();
      const [top, seen] = [this.rows.laneTop[lane], this.surface.height - this.surface.top];
      if (top < this.scroll || top + np.sizes.LANE > this.scroll + seen) this.scrollTo(top - seen / 2);
      const { start: from, end: to } = this.view.goal ?? this.view;
      const tooSmall = length > 0 && length < ((to - from) / this.surface.plotWidth) * LEAST_PX;
      if (start + length <= from || start >= to || tooSmall) {
        const span = tooSmall ? length * CONTEXT : to - from;
        const middle = start + Math.min(length, span) / 2;
        this.view.moveTo(middle - span / 2, middle + span / 2);
      }
    }

    /** Select a neighbour of the selected slice; the slice nearest the middle where none is selected. */
    walk(where) {
      // keys may come faster than answers: each step starts from where the one before it led
      this.walking = this.walking.then(() => this.arriving).then(() => {
        const slice = this.selection;
        if (!slice) return this.selectMiddle();
        const target = where === "parent" ? slice.parents[0]?.id : slice[where];
        if (target != null) return this.goTo(target);
        this.say(`no ${where} slice on this track`);
      });
    }

    selectMiddle() {
      const { rows, surface, scroll, view, feed } = this;
      for (const lane of rows.needed(scroll, scroll + surface.height - surface.top).lanes) {
        const block = feed.blocks?.at(lane, view.center, view.length) ?? -1;
        if (block >= 0) return this.selectBlock(block);
      }
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
