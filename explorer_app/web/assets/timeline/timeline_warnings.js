/** The strip of warnings above the tracks, a line for each kind, and their legend, which switches them off and on. */
(function (np) {
  "use strict";

  const LINE = 5;
  const LEAST = 16;
  const LEAST_PX = 2;
  /** The colour of each kind, by its name in the theme of the canvas. */
  const COLORS = { "idle gap": "dim", "small DMA": "smallDma", throttling: "error", "compile stall": "compile" };
  const KEYS = { "idle gap": "idle", "small DMA": "dma", throttling: "throttling", "compile stall": "compile" };

  class Warnings {
    /** @param {HTMLElement} legend @param {object} timeline */
    constructor(legend, timeline) {
      this.legend = legend;
      this.timeline = timeline;
      /** The kinds that there are, as `/_trace/warnings` gives them. */
      this.kinds = [];
      /** The kinds that are switched off. */
      this.off = new Set();
      /** The number of the warning of each kind to which the reader went last, and the range that is counted. */
      this.at = new Map();
      this.counted = "";
      /** Whether they were asked for, with or without success. */
      this.isReady = false;
      timeline.painted.then(() => this.load());
      legend.addEventListener("click", (event) => this.clickedLegend(event), { signal: timeline.listening.signal });
    }

    async load() {
      const { timeline } = this;
      try {
        this.kinds = await (await timeline.get("warnings", timeline.listening.signal)).json();
      } catch (error) {
        if (error.name !== "AbortError") timeline.failed(error);
      } finally {
        this.isReady = true;
        this.changed();
      }
    }

    get shown() {
      return this.kinds.filter(({ kind }) => !this.off.has(kind));
    }

    /** How high the strip is. */
    get height() {
      return this.shown.length ? Math.max(LEAST, this.shown.length * LINE + 5) : 0;
    }

    tell() {
      const { act, warning } = this.legend.contains(document.activeElement) ? document.activeElement.dataset : {};
      this.legend.replaceChildren(...this.kinds.map((one) => this.entry(one)));
      if (warning) this.legend.querySelector(`[data-act="${act}"][data-warning="${warning}"]`)?.focus();
    }

    changed() {
      this.tell();
      this.timeline.stripsChanged();
    }

    /** A kind in the legend: a button that goes from one of its warnings to the next, and one that hides them. */
    entry(bands) {
      const { kind, name, note, counts } = bands;
      const inRange = this.inRange(bands);
      const isOn = !this.off.has(kind);
      const next = button({ act: "next", kind, title: `${note}. Click to go to the next.`, disabled: !inRange.length });
      if (!isOn) next.classList.add("np-timeline-warning-off");
      const mark = document.createElement("span");
      mark.className = `np-swatch np-timeline-warning-${KEYS[kind]}`;
      const count = inRange.reduce((sum, i) => sum + counts[i], 0);
      const number = inRange.indexOf(this.at.get(kind)) + 1;
      const where = this.timeline.range ? " in the range" : "";
      next.append(mark, `${np.format.count(count)} ${name}${where}${number ? ` · ${number}/${inRange.length}` : ""}`);
      const hide = button({ act: "hide", kind, title: `${isOn ? "Hide" : "Show"} ${name}`, text: isOn ? "◉" : "○" });
      hide.setAttribute("aria-label", `Show ${name}`);
      hide.setAttribute("aria-pressed", String(isOn));
      const entry = document.createElement("span");
      entry.append(next, hide);
      return entry;
    }

    /** The numbers of the warnings of a kind that reach into the range; all where none is chosen. */
    inRange({ start, end }) {
      const { range } = this.timeline;
      const all = [...start.keys()];
      return range ? all.filter((i) => end[i] > range.start && start[i] < range.end) : all;
    }

    clickedLegend(event) {
      const { act, warning } = event.target.closest("[data-warning]")?.dataset ?? {};
      if (!warning) return;
      if (act === "hide") {
        if (!this.off.delete(warning)) this.off.add(warning);
      } else this.goOn(this.kinds.find(({ kind }) => kind === warning));
      this.changed();
      if (act === "hide") this.timeline.told("state");
    }

    /** Go to the next warning of a kind, after the last the first one. */
    goOn(bands) {
      const inRange = this.inRange(bands);
      const last = this.at.get(bands.kind) ?? -1;
      const next = inRange.find((i) => i > last) ?? inRange[0];
      this.at.set(bands.kind, next);
      this.off.delete(bands.kind);
      this.timeline.show(bands.start[next], bands.end[next]);
    }

    /** The range may be another one: the legend counts what is in it. */
    follow() {
      const { range } = this.timeline;
      const key = range ? `${range.start} ${range.end}` : "";
      if (key === this.counted) return;
      this.counted = key;
      this.tell();
    }

    /** The kind whose line is at a height within the strip. */
    kindAt(y) {
      const line = this.height / this.shown.length;
      return this.shown[Math.floor((y - this.timeline.surface.warningsTop) / line)];
    }

    /** What a place of the canvas shows, if it is on the strip. */
    lookUp({ x, y }) {
      const { surface } = this.timeline;
      if (!surface.warnings || x < surface.gutter || y < surface.warningsTop || y >= surface.warningsTop + surface.warnings) return null;
      const bands = this.kindAt(y);
      const [from, to] = [surface.moment(x - LEAST_PX), surface.moment(x + LEAST_PX)];
      const found = [];
      for (let i = 0; i < bands.start.length && bands.start[i] < to; i++) if (bands.end[i] > from) found.push(i);
      if (!found.length) return null;
      const longest = found.reduce((a, b) => (bands.end[b] - bands.start[b] > bands.end[a] - bands.start[a] ? b : a));
      const lines = [bands.what[longest], `from ${np.format.duration(bands.start[longest])}`, "click to zoom"];
      if (found.length > 1) lines.splice(1, 0, `and ${np.format.count(found.length - 1)} more here`);
      return { lines, warning: longest, start: bands.start[longest], end: bands.end[longest] };
    }

    /** Zoom to the warning at a place. @returns {boolean} whether the place is on the strip */
    clicked(at) {
      const { surface } = this.timeline;
      if (!surface.warnings || at.y < surface.warningsTop || at.y >= surface.warningsTop + surface.warnings) return false;
      const found = this.lookUp(at);
      if (found) this.timeline.show(found.start, found.end);
      return true;
    }
  }

  function button({ act, kind, title, text = "", disabled = false }) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", title, textContent: text, disabled });
    Object.assign(made.dataset, { act, warning: kind });
    return made;
  }

  function drawWarnings({ surface, theme, view, warnings }) {
    warnings.follow();
    if (!surface.warnings) return;
    const [y, high] = [surface.warningsTop, surface.warnings];
    surface.fill(theme.panel, 0, y, surface.width, high);
    surface.text("Warnings", 12, y + high / 2, surface.gutter - 20, { color: theme.dim });
    const line = high / warnings.shown.length;
    surface.within(surface.gutter, y, surface.plotWidth, high, () => {
      warnings.shown.forEach(({ kind, start, end }, number) => {
        const top = surface.sharp(y + number * line + 1);
        const color = theme[COLORS[kind]];
        let painted = -Infinity;
        for (let i = 0; i < start.length; i++) {
          if (end[i] < view.start || start[i] > view.end) continue;
          const x0 = surface.sharp(surface.x(start[i]));
          const x1 = Math.max(surface.sharp(surface.x(end[i])), x0 + LEAST_PX);
          if (x1 <= painted) continue;
          painted = x1;
          surface.fill(color, x0, top, x1 - x0, Math.max(line - 2, 2));
        }
      });
    });
    surface.fill(theme.line, 0, y + high - 1, surface.width, 1);
  }

  np.address.register(
    "nowarn",
    ({ warnings }, text) => {
      const given = (text ?? "").split(".");
      const off = Object.keys(KEYS).filter((kind) => given.includes(KEYS[kind]));
      if (off.join() === [...warnings.off].join()) return;
      warnings.off = new Set(off);
      warnings.changed();
    },
    ({ warnings }) => Object.keys(KEYS).filter((kind) => warnings.off.has(kind)).map((kind) => KEYS[kind]).join(".") || null,
  );

  Object.assign(np, { Warnings, drawWarnings });
})((window.npTimeline ??= {}));
