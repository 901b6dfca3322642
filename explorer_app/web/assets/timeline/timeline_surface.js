/** The canvas: its size, its coordinates, and text that fits. */
(function (np) {
  "use strict";

  const OVERVIEW = 36;
  const RULER = 24;
  const REGIONS = 20;
  const GUTTER = 216;
  const NARROW_GUTTER = 168;
  const NARROW = 900;
  const FAR = 1e5;
  const MOST_MEASURED = 20_000;

  class Surface {
    /** @param {HTMLCanvasElement} canvas @param {import("./timeline_view").View} view */
    constructor(canvas, view) {
      this.canvas = canvas;
      this.view = view;
      this.context = canvas.getContext("2d", { alpha: false });
      this.overview = OVERVIEW;
      this.ruler = RULER;
      this.makeRoom({ regions: false, warnings: 0 });
      this.widths = new Map();
      this.pixels = new np.Pixels();
      this.resize();
    }

    /** Say what stays in place above the tracks besides the overview and the ruler. */
    makeRoom({ regions, warnings }) {
      this.regions = regions ? REGIONS : 0;
      this.warnings = warnings;
      this.regionsTop = OVERVIEW + RULER;
      this.warningsTop = this.regionsTop + this.regions;
      /** Height of all that. */
      this.top = this.warningsTop + warnings;
    }

    /** Take the size of the element the canvas fills. @returns whether it can be drawn on */
    resize() {
      const { width, height } = this.canvas.parentElement.getBoundingClientRect();
      this.width = width;
      this.height = height;
      this.gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
      this.plotWidth = Math.max(1, width - this.gutter);
      this.ratio = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(width * this.ratio);
      this.canvas.height = Math.round(height * this.ratio);
      return width > this.gutter && height > this.top;
    }

    /** Begin a frame. */
    begin(theme) {
      this.theme = theme;
      const c = this.context;
      c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      c.globalAlpha = 1;
      c.textBaseline = "middle";
      c.textAlign = "left";
      c.direction = "ltr";
      c.font = theme.font;
      this.fill(theme.panel, 0, 0, this.width, this.height);
    }

    /** Where a moment lies; far outside the canvas it is only somewhere far outside. */
    x(moment) {
      const x = this.gutter + ((moment - this.view.start) / this.view.length) * this.plotWidth;
      return Math.min(Math.max(x, -FAR), FAR);
    }

    /** The moment at a place. */
    moment(x) {
      return this.view.start + ((x - this.gutter) / this.plotWidth) * this.view.length;
    }

    /** A coordinate on the nearest device pixel, where edges are sharp. */
    sharp(value) {
      return Math.round(value * this.ratio) / this.ratio;
    }

    fill(color, x, y, width, height) {
      this.context.fillStyle = color;
      this.context.fillRect(x, y, width, height);
    }

    bar(color, alpha, x, y, width, height) {
      this.context.globalAlpha = alpha;
      this.fill(color, x, y, width, height);
    }

    /** Draw with everything outside a rectangle cut off. */
    within(x, y, width, height, draw) {
      this.context.save();
      this.context.beginPath();
      this.context.rect(x, y, width, height);
      this.context.clip();
      draw(this.context);
      this.context.restore();
    }

    /** Text, cut with an ellipsis to fit; nothing where not even that fits. */
    text(text, x, y, room, { color = this.theme.text, font = this.theme.font } = {}) {
      const shown = this.fitted(text, room, font);
      if (!shown) return;
      this.context.font = font;
      this.context.fillStyle = color;
      this.context.fillText(shown, x, y);
    }

    fitted(text, room, font) {
      const width = this.textWidth(text, font);
      if (width <= room) return text;
      const kept = Math.floor((text.length * room) / width) - 1;
      if (kept < 1) return "";
      return `${text.slice(0, kept).replace(/[\ud800-\udbff]$/, "")}…`;
    }

    textWidth(text, font) {
      const key = `${font}\n${text}`;
      let width = this.widths.get(key);
      if (width === undefined) {
        if (this.widths.size > MOST_MEASURED) this.widths.clear();
        this.context.font = font;
        width = this.context.measureText(text).width;
        this.widths.set(key, width);
      }
      return width;
    }
  }

  np.Surface = Surface;
})((window.npTimeline ??= {}));
