/** The window of time that is shown: zooming, panning, moving smoothly. Times are ns from the start of the trace. */
(function (np) {
  "use strict";

  const SHORTEST_NS = 20;
  const MOVE_MS = 160;

  class View {
    /**
     * @param {number} spanNs length of the trace
     * @param {() => void} changed called on every change
     */
    constructor(spanNs, changed) {
      this.spanNs = spanNs;
      /** From when to when can be looked at: further than the trace where another beside it is longer. */
      this.first = 0;
      this.last = spanNs;
      this.changed = changed;
      this.start = 0;
      this.end = spanNs;
      /** Where a movement under way will end; null when nothing moves. */
      this.goal = null;
      this.calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    }

    get length() {
      return this.end - this.start;
    }

    /** Show [start, end), kept inside the trace. */
    set(start, end) {
      this.goal = null;
      [this.start, this.end] = this.inside(start, end);
      this.changed();
    }

    /** Move to [start, end), at once where the reader wants no motion. */
    moveTo(start, end) {
      if (this.calm.matches) return this.set(start, end);
      const [goalStart, goalEnd] = this.inside(start, end);
      this.goal = { start: goalStart, end: goalEnd, fromStart: this.start, fromEnd: this.end, began: null };
      this.changed();
    }

    /** Advance a movement to the time of this frame. */
    step(nowMs) {
      const goal = this.goal;
      if (!goal) return;
      goal.began ??= nowMs;
      const share = Math.min(1, (nowMs - goal.began) / MOVE_MS);
      const eased = 1 - (1 - share) ** 3;
      this.start = goal.fromStart + (goal.start - goal.fromStart) * eased;
      this.end = goal.fromEnd + (goal.end - goal.fromEnd) * eased;
      if (share === 1) [this.start, this.end, this.goal] = [goal.start, goal.end, null];
      this.changed();
    }

    /** Zoom so that `center` stays where it is; `factor` below 1 zooms in. */
    zoom(factor, center, { smooth = false } = {}) {
      const { start, end } = this.goal ?? this;
      const span = Math.min(Math.max((end - start) * factor, SHORTEST_NS), this.last - this.first);
      const share = (center - start) / (end - start);
      const from = center - share * span;
      if (smooth) this.moveTo(from, from + span);
      else this.set(from, from + span);
    }

    /** Move by a share of what is shown. */
    pan(share, { smooth = false } = {}) {
      const { start, end } = this.goal ?? this;
      const by = share * (end - start);
      if (smooth) this.moveTo(start + by, end + by);
      else this.set(start + by, end + by);
    }

    /** The middle of what is shown, or will be. */
    get center() {
      const { start, end } = this.goal ?? this;
      return (start + end) / 2;
    }

    /** [start, end) shifted, and cut if it must be, to lie inside what can be looked at. */
    inside(start, end) {
      const middle = (start + end) / 2;
      const most = this.last - this.first;
      const span = Math.min(Math.max(end - start, Math.min(SHORTEST_NS, most)), most);
      const from = Math.min(Math.max(middle - span / 2, this.first), this.last - span);
      return [from, from + span];
    }
  }

  np.View = View;
})((window.npTimeline ??= {}));
