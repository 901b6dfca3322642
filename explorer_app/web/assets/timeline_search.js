/** Finding slices by name: which names hold a text, and stepping from one such slice to the next. */
(function (np) {
  "use strict";

  const TYPING_MS = 150;
  const LONGEST = 500;

  class Search {
    /**
     * @param {HTMLElement} host the element to put the field and the count into
     * @param {{changed: () => void, found: (slice: number) => void, selected: () => number,
     *   failed: (error: Error) => void}} hooks
     */
    constructor(host, hooks) {
      this.hooks = hooks;
      // built here, not by Dash: React would put back its own text when this one is set from elsewhere
      this.input = document.createElement("input");
      Object.assign(this.input, { type: "text", placeholder: "Find slices by name   /", maxLength: LONGEST, spellcheck: false });
      this.input.setAttribute("aria-label", "Find slices by name");
      this.status = document.createElement("span");
      this.status.setAttribute("role", "status");
      host.replaceChildren(this.input, this.status);
      this.names = null;
      this.abort = null;
      this.timer = 0;
    }

    stop() {
      clearTimeout(this.timer);
      this.abort?.abort();
    }

    get text() {
      return this.input.value.trim();
    }

    /** Whether a name does not hold the text that is looked for. */
    fades(name) {
      return this.names !== null && !this.names.has(name);
    }

    /** Look for what is in the field, once the typing pauses. */
    typed() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), TYPING_MS);
    }

    /** Look for a text, or for how it begins where it is very long. */
    set(text) {
      this.input.value = text.slice(0, LONGEST);
      return this.run();
    }

    async run() {
      this.abort?.abort();
      const abort = (this.abort = new AbortController());
      try {
        const found = this.text && (await (await np.get(`search?q=${encodeURIComponent(this.text)}`, abort.signal)).json());
        if (this.abort !== abort) return;
        this.names = found ? new Set(found.names) : null;
        this.status.textContent = found ? this.summary(found) : "";
        this.hooks.changed();
      } catch (error) {
        if (error.name !== "AbortError") this.hooks.failed(error);
      }
    }

    summary({ name_count: names, slice_count: slices, names: sent }) {
      if (!slices) return "no slice has this in its name";
      const { counted } = np.format;
      const rest = sent.length < names ? `, the ${np.format.count(sent.length)} most frequent shown` : "";
      return `${counted(slices, "slice")}, ${counted(names, "name")}${rest}`;
    }

    /** Go to the next slice (`direction` 1) or the one before (-1) with the text in its name. */
    async step(direction) {
      if (!this.text) return;
      const query = `find?q=${encodeURIComponent(this.text)}&after=${this.hooks.selected()}&direction=${direction}`;
      try {
        const { slice } = await (await np.get(query)).json();
        if (slice !== null) this.hooks.found(slice);
      } catch (error) {
        this.hooks.failed(error);
      }
    }
  }

  np.Search = Search;
})((window.npTimeline ??= {}));
