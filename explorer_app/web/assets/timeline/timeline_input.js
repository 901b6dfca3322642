/** Mouse, touch pad and keyboard. Every listener goes away with the signal it was added under. */
(function (np) {
  "use strict";

  const CLICK_PX = 4;
  const ZOOM_STEP = 0.65;
  const PAN_STEP = 0.25;
  const WHEEL_ZOOM = 0.005;
  const MOST_WHEEL_PX = 120;
  const LINE_PX = 16;

  /** Whether keys belong to what has the focus, or to a dialog that lies over the page. */
  function typing() {
    const focused = document.activeElement;
    return focused?.matches("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]") !== null;
  }

  class Input {
    /** @param {object} timeline @param {AbortSignal} signal ends all listening */
    constructor(timeline, signal) {
      this.timeline = timeline;
      /** The drag under way: `{mode, x, y, start, scroll, moved}`, or null. */
      this.drag = null;
      const { host, search } = timeline;
      const on = (target, type, handle, options) =>
        target.addEventListener(type, (event) => handle.call(this, event), { signal, ...options });
      on(host, "pointerdown", this.press);
      on(host, "pointermove", this.move);
      on(host, "pointerup", this.release);
      on(host, "pointercancel", this.cancel);
      on(host, "pointerleave", () => timeline.point(null));
      on(host, "dblclick", this.doubleClick);
      on(host, "wheel", this.wheel, { passive: false });
      on(document, "keydown", this.key);
      on(search.input, "input", () => search.typed());
      on(search.input, "keydown", this.searchKey);
    }

    /** Where an event is on the canvas. */
    place(event) {
      const { left, top } = this.timeline.host.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    }

    /** What pressing here begins. */
    modeAt({ x, y }, shift) {
      const { surface } = this.timeline;
      if (y < surface.overview) return x < surface.gutter ? "none" : "overview";
      if (y < surface.overview + surface.ruler) return x < surface.gutter ? "none" : "range";
      if (y >= surface.top && x < surface.gutter) return "arrange";
      return shift && x >= surface.gutter ? "range" : "pan";
    }

    press(event) {
      if (event.button !== 0) return;
      const { timeline } = this;
      const at = this.place(event);
      timeline.host.focus({ preventScroll: true });
      const { start, length } = timeline.view;
      const mode = this.modeAt(at, event.shiftKey);
      const row = mode === "arrange" ? timeline.rows.at(at.y - timeline.surface.top + timeline.scroll) : null;
      this.drag = { mode, row, ...at, start, length, scroll: timeline.scroll, moved: false };
      if (this.drag.mode === "overview") this.showOverviewPlace(at.x);
      timeline.host.setPointerCapture(event.pointerId);
    }

    move(event) {
      const at = this.place(event);
      const { drag, timeline } = this;
      timeline.byKeys = false;
      if (drag && Math.hypot(at.x - drag.x, at.y - drag.y) >= CLICK_PX) drag.moved = true;
      if (!drag) return timeline.point(at);
      if (!drag.moved) return;
      timeline.point(drag.mode === "range" ? at : null);
      if (drag.mode === "pan") this.panTo(at);
      if (drag.mode === "arrange" && drag.row) timeline.arranging.drag(drag.row, at.y);
      if (drag.mode === "range") timeline.measure(drag.x, at.x);
      if (drag.mode === "overview") this.showOverviewPlace(at.x);
    }

    release(event) {
      const { drag, timeline } = this;
      this.drag = null;
      if (!drag) return;
      if (drag.moved && drag.mode === "range") timeline.measured();
      else if (drag.moved && drag.mode === "arrange") timeline.arranging.drop(true);
      else if (!drag.moved) this.click(this.place(event), drag.mode, event.shiftKey);
    }

    /** The browser takes the pointer away: what was dragged so far stands. */
    cancel() {
      const { drag } = this;
      this.drag = null;
      if (drag?.moved && drag.mode === "range") this.timeline.measured();
      if (drag?.mode === "arrange") this.timeline.arranging.drop(false);
    }

    click(at, mode, shift) {
      const { timeline } = this;
      const { surface, rows, scroll } = timeline;
      if (mode === "overview" || mode === "none") return;
      if (timeline.notes.clicked(at)) return;
      if (timeline.regions.clicked(at, shift) || timeline.warnings.clicked(at) || at.y < surface.top) return;
      const row = rows.at(at.y - surface.top + scroll);
      if (timeline.arranging.isOnPin(row, at)) return timeline.arranging.togglePin(row.track);
      if (row?.foldable && (at.x < surface.gutter || row.kind === "process")) return timeline.toggle(row, { all: shift });
      const found = np.lookUp(timeline, at.x, at.y);
      if (found?.block !== undefined) timeline.selectBlock(found.block);
      else if (at.x >= surface.gutter) timeline.deselect();
    }

    doubleClick(event) {
      const { x, y } = this.place(event);
      const found = np.lookUp(this.timeline, x, y);
      if (x >= this.timeline.surface.gutter && found?.block !== undefined) this.timeline.show(found.start, found.end);
    }

    panTo({ x, y }) {
      const { drag, timeline } = this;
      const start = drag.start - ((x - drag.x) / timeline.surface.plotWidth) * drag.length;
      timeline.view.set(start, start + drag.length);
      timeline.scrollTo(drag.scroll - (y - drag.y));
    }

    showOverviewPlace(x) {
      const { view, surface } = this.timeline;
      const center = ((x - surface.gutter) / surface.plotWidth) * view.spanNs;
      view.set(center - view.length / 2, center + view.length / 2);
    }

    wheel(event) {
      event.preventDefault();
      const { view, surface, scroll } = this.timeline;
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      if (event.ctrlKey || event.metaKey) {
        const by = Math.min(Math.max(dy, -MOST_WHEEL_PX), MOST_WHEEL_PX);
        view.zoom(Math.exp(by * WHEEL_ZOOM), surface.moment(Math.max(this.place(event).x, surface.gutter)));
      } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
        view.pan((dx || dy) / surface.plotWidth);
      } else {
        this.timeline.scrollTo(scroll + dy);
      }
    }

    key(event) {
      const isWalk = event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key);
      if ((event.altKey && !isWalk) || event.ctrlKey || event.metaKey || event.isComposing || typing()) return;
      if (!this.timeline.hears()) return;
      const handlers = this.keyHandlers();
      const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const handle = isWalk ? handlers[`Alt+${name}`] : (event.shiftKey && handlers[`Shift+${name}`]) || handlers[name];
      if (!handle || handle() === false) return;
      event.preventDefault();
    }

    /** What each key does; a handler returns false to leave the key to others. */
    keyHandlers() {
      const { timeline } = this;
      const { view } = timeline;
      const { pointer, surface, host } = timeline;
      const at = () => (pointer && pointer.x > surface.gutter ? surface.moment(pointer.x) : view.center);
      // arrow keys scroll whatever else has the focus
      const here = (act) => () => {
        if (![host, document.body].includes(document.activeElement)) return false;
        timeline.byKeys = true;
        return act();
      };
      return {
        w: () => view.zoom(ZOOM_STEP, at(), { smooth: true }),
        s: () => view.zoom(1 / ZOOM_STEP, at(), { smooth: true }),
        a: () => view.pan(-PAN_STEP, { smooth: true }),
        d: () => view.pan(PAN_STEP, { smooth: true }),
        f: () => timeline.fit(),
        0: () => timeline.jumpTo(0, view.spanNs),
        m: () => timeline.notes.mark(),
        n: () => timeline.search.step(1),
        p: () => timeline.search.step(-1),
        "/": () => timeline.search.input.focus(),
        ...timeline.arranging.keys(),
        Escape: () => timeline.backOut(),
        ArrowRight: here(() => timeline.walk("next")),
        ArrowLeft: here(() => timeline.walk("previous")),
        ArrowUp: here(() => timeline.walk("parent")),
        ArrowDown: here(() => timeline.walk("child")),
        "Alt+ArrowUp": here(() => timeline.walkTracks(-1)),
        "Alt+ArrowDown": here(() => timeline.walkTracks(1)),
        "[": here(() => timeline.walkTracks(-1)),
        "]": here(() => timeline.walkTracks(1)),
      };
    }

    searchKey(event) {
      const { search, host } = this.timeline;
      if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        search.set("");
        host.focus({ preventScroll: true });
      } else return;
      event.preventDefault();
      event.stopPropagation();
    }
  }

  np.Input = Input;
})((window.npTimeline ??= {}));
