/** The strip of marked regions above the tracks: steps, modules, what lies between collectives. */
(function (np) {
  "use strict";

  const MODULES = "modules";
  const DEEPEST = 12;
  const CHOICE = /^(steps|modules|between collectives)(?: (\d{1,2}))?$/;

  class Regions {
    /** @param {HTMLElement} host of the canvas @param {object} timeline */
    constructor(host, timeline) {
      this.timeline = timeline;
      /** The kinds that there are, `{kind, deepest, why}`; null until the server has said so. */
      this.kinds = null;
      /** What is shown: a kind, and of how many modules around it; null for what the trace has. */
      this.chosen = null;
      /** What the regions of a choice are: `{label, count, names, start, end}`. */
      this.kept = new Map();
      this.select = document.createElement("select");
      this.select.className = "np-timeline-regions";
      this.select.hidden = true;
      this.select.setAttribute("aria-label", "Regions that are marked");
      host.append(this.select);
      const { signal } = timeline.listening;
      for (const type of ["pointerdown", "pointerup", "dblclick", "wheel"]) {
        this.select.addEventListener(type, (event) => event.stopPropagation(), { signal });
      }
      this.select.addEventListener("change", () => this.choose(this.select.value), { signal });
      this.list();
      /** Whether the kinds were asked for, with or without success. */
      this.isReady = false;
      timeline.painted.then(() => this.load());
    }

    /** Ask what kinds there are. */
    async load() {
      const { timeline } = this;
      try {
        this.kinds = await (await timeline.get("regions", timeline.listening.signal)).json();
        this.list();
        await this.fetch();
      } catch (error) {
        if (error.name !== "AbortError") timeline.failed(error);
      } finally {
        this.isReady = true;
        timeline.stripsChanged();
      }
    }

    get isShown() {
      return this.timeline.meta.steps.length > 0 || Boolean(this.kinds?.some(({ deepest }) => deepest >= 0));
    }

    /** The choice that is in force, as the address has it: "modules 1"; "" while none is known. */
    get choice() {
      const has = (choice) => this.kinds.some(({ kind, deepest }) => choice.replace(/ \d+$/, "") === kind && choice.match(/\d+$/)[0] <= deepest);
      if (!this.kinds || (this.chosen && has(this.chosen))) return this.chosen ?? "";
      const first = this.kinds.find(({ deepest }) => deepest >= 0);
      return first ? `${first.kind} 0` : "";
    }

    /** The regions that are shown; the steps, which the canvas knows from the beginning, while nothing else is known. */
    get bands() {
      const { steps } = this.timeline.meta;
      if (this.kinds || this.chosen) return this.kept.get(this.choice);
      return { names: steps.map(({ name }) => name), start: steps.map(({ start }) => start), end: steps.map(({ end }) => end) };
    }

    /** Show other regions; a choice that the trace does not have is none. */
    choose(choice) {
      const [, kind, depth = "0"] = CHOICE.exec(choice ?? "") ?? [];
      const next = kind ? `${kind} ${Number(depth)}` : null;
      if (next === this.chosen) return;
      this.chosen = next;
      this.list();
      this.fetch();
      this.timeline.told("state");
      this.timeline.invalidate();
    }

    async fetch() {
      const { timeline, choice } = this;
      if (!this.kinds || !choice || this.kept.has(choice)) return;
      const [kind, depth] = [choice.replace(/ \d+$/, ""), choice.match(/\d+$/)[0]];
      try {
        const asked = `regions?kind=${encodeURIComponent(kind)}&depth=${depth}`;
        this.kept.set(choice, await (await timeline.get(asked, timeline.listening.signal)).json());
        this.list();
        timeline.invalidate();
      } catch (error) {
        if (error.name !== "AbortError") timeline.failed(error);
      }
    }

    /** Fill the list of choices. */
    list() {
      const named = (value, name) => {
        const { label } = this.kept.get(value) ?? {};
        return option(value, label ? `${name} (${label})` : name);
      };
      const options = (this.kinds ?? []).flatMap(({ kind, deepest, why }) => {
        const name = kind[0].toUpperCase() + kind.slice(1);
        if (deepest < 0) return [option(`${kind} 0`, `${name}: none`, why)];
        if (kind !== MODULES) return [named(`${kind} 0`, name)];
        const levels = Array.from({ length: Math.min(deepest, DEEPEST) + 1 }, (_, depth) => depth);
        return levels.map((depth) => named(`${kind} ${depth}`, `${name}, level ${depth + 1}`));
      });
      if (!this.kinds) options.push(option("", this.timeline.meta.steps_label));
      this.select.replaceChildren(...options);
      this.select.value = this.choice;
    }

    /** Put the list over its strip. */
    place() {
      const { surface } = this.timeline;
      this.select.hidden = !surface.regions;
      this.select.style.top = `${surface.regionsTop}px`;
      this.select.style.width = `${surface.gutter - 8}px`;
    }

    /** The region at a moment, the shortest of several: its number, or -1. */
    at(moment) {
      const bands = this.bands;
      let found = -1;
      if (!bands) return found;
      for (let i = 0; i < bands.start.length && bands.start[i] <= moment; i++) {
        const length = bands.end[i] - bands.start[i];
        if (moment < bands.end[i] && (found < 0 || length <= bands.end[found] - bands.start[found])) found = i;
      }
      return found;
    }

    /** What a place of the canvas shows, if it is on the strip. */
    lookUp({ x, y }) {
      const { surface } = this.timeline;
      if (!surface.regions || x < surface.gutter || y < surface.regionsTop || y >= surface.regionsTop + surface.regions) return null;
      const i = this.at(surface.moment(x));
      if (i < 0) return null;
      const [start, end] = [this.bands.start[i], this.bands.end[i]];
      const took = `${np.format.duration(end - start)}, from ${np.format.duration(start)}`;
      const lines = [this.bands.names[i], took, "click to zoom, with Shift to choose as the range"];
      return { lines, region: i, start, end };
    }

    /** Zoom to the region at a place, or choose it as the range. @returns {boolean} whether the place is on the strip */
    clicked(at, shift) {
      const { surface } = this.timeline;
      if (!surface.regions || at.y < surface.regionsTop || at.y >= surface.regionsTop + surface.regions) return false;
      const found = this.lookUp(at);
      if (found && shift) this.timeline.chooseRange(found.start, found.end);
      else if (found) this.timeline.jumpTo(found.start, found.end);
      return true;
    }
  }

  function option(value, text, why = "") {
    const element = document.createElement("option");
    Object.assign(element, { value, textContent: text, title: why, disabled: Boolean(why) });
    return element;
  }

  function drawRegions(timeline) {
    const { surface, theme, view, regions } = timeline;
    regions.place();
    if (!surface.regions) return;
    const [y, high] = [surface.regionsTop, surface.regions];
    surface.fill(theme.panel, 0, y, surface.width, high);
    const { bands } = regions;
    if (bands) {
      surface.within(surface.gutter, y, surface.plotWidth, high, (c) => {
        let painted = -Infinity;
        for (let i = 0; i < bands.start.length; i++) {
          if (bands.end[i] < view.start || bands.start[i] > view.end) continue;
          const [x0, x1] = [surface.sharp(surface.x(bands.start[i])), surface.sharp(surface.x(bands.end[i]))];
          if (x1 <= painted) continue;
          painted = Math.max(x1, x0 + 1);
          c.globalAlpha = i % 2 ? 0.26 : 0.14;
          surface.fill(theme.accent, x0, y + 2, Math.max(x1 - x0 - 1, 1), high - 4);
          c.globalAlpha = 0.5;
          surface.fill(theme.accent, x0, y, 1, high);
          c.globalAlpha = 1;
          const from = Math.max(x0, surface.gutter);
          surface.text(bands.names[i], from + 6, y + high / 2, x1 - from - 10);
        }
      });
    }
    surface.fill(theme.line, 0, y + high - 1, surface.width, 1);
  }

  np.address.register(
    "regions",
    ({ regions }, text) => regions.choose(text),
    ({ regions }) => regions.chosen,
  );

  Object.assign(np, { Regions, drawRegions });
})((window.npTimeline ??= {}));
