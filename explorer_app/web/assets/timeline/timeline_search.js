/** Finding slices: how many fit what is looked for, where they are, and stepping from one to the next. */
(function (np) {
  "use strict";

  const TYPING_MS = 150;
  const SLOW_MS = 500;
  const LONGEST = 900;
  // The terms of explorer_app/web/timeline/query.py, as examples.
  const HELP = [
    ["gemm", "in the name"],
    ['="void gemm"', "the whole name"],
    ["/ge(mm|lu)/", "regular expression"],
    [">1ms  10us..50us", "how long"],
    ["cat:compute", "category"],
    ['track:"stream 7"', "track"],
  ];

  class Search {
    /**
     * @param {HTMLElement} host the element to put the field, the count and the help into
     * @param {{get: (path: string, signal?: AbortSignal) => Promise<Response>, changed: () => void,
     *   found: (slice: number) => void, selected: () => number, failed: (error: Error) => void}} hooks
     */
    constructor(host, hooks) {
      this.hooks = hooks;
      // built here, not by Dash: React would put back its own text when this one is set from elsewhere
      this.input = document.createElement("input");
      Object.assign(this.input, { type: "text", placeholder: "Find slices   /", maxLength: LONGEST, spellcheck: false });
      this.input.setAttribute("aria-label", "Find slices");
      this.input.setAttribute("aria-describedby", "np-timeline-search-help");
      this.status = document.createElement("span");
      this.status.setAttribute("role", "status");
      host.replaceChildren(this.input, this.status, help());
      /** What was found, for which query; null for nothing asked. */
      this.found = null;
      this.query = "";
      /** The hit that was stepped to last, and which it is. */
      this.at = null;
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

    /** Whether a block holds nothing of what is looked for. */
    fades(blocks, i) {
      return this.query !== "" && blocks.asked.find === this.query && blocks.found[i] === 0;
    }

    /** Whether a block holds something that is looked for. */
    marks(blocks, i) {
      return this.query !== "" && blocks.asked.find === this.query && blocks.found[i] > 0;
    }

    /** Whether an instant with this name is not looked for. */
    fadesInstant(name) {
      return this.query !== "" && !this.instants.has(name);
    }

    /** Look for what is in the field, once the typing pauses. */
    typed() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), TYPING_MS);
    }

    /** Look for something. */
    set(text) {
      this.input.value = text.slice(0, LONGEST);
      return this.run();
    }

    /** Look for slices of exactly this name, or for how it begins where it is very long. */
    exactly(name) {
      const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;
      const whole = `=${quoted(name)}`;
      return this.set(whole.length <= LONGEST ? whole : quoted(name.slice(0, LONGEST / 2 - 2)));
    }

    async run() {
      clearTimeout(this.timer);
      this.abort?.abort();
      const abort = (this.abort = new AbortController());
      const { text } = this;
      const slow = setTimeout(() => (this.status.textContent = "looking…"), SLOW_MS);
      try {
        const asked = `search?q=${encodeURIComponent(text)}`;
        this.show(text, text ? await (await this.hooks.get(asked, abort.signal)).json() : null, abort);
      } catch (error) {
        if (this.abort === abort) this.fail(error);
      } finally {
        clearTimeout(slow);
      }
    }

    show(query, found, abort) {
      if (this.abort !== abort) return;
      if (found?.problem !== undefined) return this.refuse(found.problem);
      this.at = null;
      this.query = query;
      this.found = found;
      this.instants = new Set(found?.instants ?? []);
      this.input.removeAttribute("aria-invalid");
      this.tell();
      this.hooks.changed();
    }

    /** What is refused is said beside the field; the rest is a problem of the page. */
    fail(error) {
      if (error.name === "AbortError") return;
      if (error.status !== 400) return this.hooks.failed(error);
      this.refuse(error.said);
    }

    /** Say beside the field why this cannot be looked for. */
    refuse(problem) {
      this.query = "";
      this.found = this.at = null;
      this.input.setAttribute("aria-invalid", "true");
      this.status.textContent = problem;
      this.hooks.changed();
    }

    /** Say what was found, and which of them is selected. */
    tell() {
      if (this.input.getAttribute("aria-invalid") !== "true") this.status.textContent = this.summary();
    }

    summary() {
      if (!this.found) return "";
      const { slice_count: slices, name_count: names } = this.found;
      if (!slices) return "no slice fits";
      const { count, counted } = np.format;
      const number = this.at?.slice === this.hooks.selected() ? `${count(this.at.number)} of ` : "";
      return `${number}${counted(slices, "slice")}, ${counted(names, "name")}`;
    }

    /** Go to the next slice (`direction` 1) or the one before (-1) that is looked for. */
    async step(direction) {
      if (!this.text) return;
      const query = `find?q=${encodeURIComponent(this.text)}&after=${this.hooks.selected()}&direction=${direction}`;
      try {
        const at = await (await this.hooks.get(query)).json();
        if (at.problem !== undefined) return this.refuse(at.problem);
        if (at.slice === null) return;
        this.at = at;
        this.hooks.found(at.slice);
      } catch (error) {
        this.fail(error);
      }
    }
  }

  function help() {
    const line = document.createElement("div");
    line.id = "np-timeline-search-help";
    line.className = "np-timeline-search-help";
    for (const [example, what] of HELP) {
      const code = document.createElement("code");
      code.textContent = example;
      line.append(code, ` ${what} `);
    }
    line.append("· all must hold · Enter next, Shift + Enter previous");
    return line;
  }

  np.address.register(
    "find",
    ({ search }, text) => {
      if ((text ?? "").trim() !== search.text) search.set(text ?? "");
    },
    ({ search }) => search.text || null,
  );

  np.Search = Search;
})((window.npTimeline ??= {}));
