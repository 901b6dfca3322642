/** By what slices are coloured: the switch, the legend, and the colour of each block. */
(function (np) {
  "use strict";

  const CATEGORY = "category";
  const CHOICES = { [CATEGORY]: "category", name: "name", module: "module", share: "device share" };

  class Colors {
    /**
     * @param {HTMLElement} host for the switch @param {HTMLElement} legend the legend of the categories
     * @param {{get: (path: string, signal?: AbortSignal) => Promise<Response>, changed: () => void, failed: (error: Error) => void}} hooks
     */
    constructor(host, legend, hooks) {
      this.hooks = hooks;
      this.by = CATEGORY;
      /** Whether anything has a colour by it; else the categories stay, and the legend says why. */
      this.tells = false;
      this.abort = null;
      this.select = document.createElement("select");
      this.select.append(...Object.entries(CHOICES).map(([value, text]) => new Option(text, value)));
      this.select.addEventListener("change", () => this.set(this.select.value));
      const label = document.createElement("label");
      label.append("Colour by ", this.select);
      host.append(label);
      this.ofCategories = legend;
      this.legend = document.createElement("div");
      this.legend.className = legend.className;
      this.legend.hidden = true;
      this.legend.setAttribute("aria-label", "Colours");
      legend.after(this.legend);
    }

    stop() {
      this.abort?.abort();
    }

    /** The colouring that the server is asked for; undefined where the categories, which are always there, do. */
    get asked() {
      return this.by === CATEGORY ? undefined : this.by;
    }

    /** The colour of a block. */
    of(blocks, i, theme) {
      if (this.tells && blocks.asked.color === this.asked) {
        return theme[this.by === "share" ? "shares" : "hues"][blocks.color[i]] ?? theme.noColor;
      }
      const shades = theme.shades[blocks.category(i)];
      return shades[blocks.name[i] % shades.length];
    }

    /** Colour by something else; what is no choice is the category. */
    async set(by) {
      this.by = Object.hasOwn(CHOICES, by) ? by : CATEGORY;
      this.select.value = this.by;
      this.abort?.abort();
      const abort = (this.abort = new AbortController());
      this.tells = false;
      this.hooks.changed();
      try {
        const found = this.asked && (await (await this.hooks.get(`colors?by=${this.asked}`, abort.signal)).json());
        if (this.abort !== abort) return;
        this.tell(found);
        this.hooks.changed();
      } catch (error) {
        if (error.name !== "AbortError") this.hooks.failed(error);
      }
    }

    tell(found) {
      this.tells = Boolean(found?.entries.length);
      this.ofCategories.hidden = this.tells;
      this.legend.hidden = !found;
      this.legend.replaceChildren(...(found ? entriesOf(found) : []));
    }
  }

  function entriesOf({ palette, entries, more, note }) {
    const parts = entries.map(({ color, text }) => {
      const swatch = document.createElement("span");
      swatch.className = "np-swatch";
      swatch.style.background = `var(--np-${palette}-${color})`;
      const entry = document.createElement("span");
      entry.className = "np-category";
      entry.title = text;
      entry.append(swatch, text);
      return entry;
    });
    const rest = [more ? `${np.format.count(more)} more` : "", note].filter(Boolean).join(" · ");
    return rest ? [...parts, rest] : parts;
  }

  np.address.register(
    "color",
    ({ colors }, text) => {
      if ((text ?? CATEGORY) !== colors.by) colors.set(text ?? CATEGORY);
    },
    ({ colors }) => colors.asked ?? null,
  );

  np.Colors = Colors;
})((window.npTimeline ??= {}));
