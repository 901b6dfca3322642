/**
 * Bars set pixel by pixel and then drawn as one image. A bar costs the canvas the same whatever its size; where there
 * are about as many bars as pixels across, that is more than an image costs.
 */
(function (np) {
  "use strict";

  const MOST_COLORS = 4096;
  const RED_GREEN_BLUE = 0xffffff;

  class Pixels {
    constructor() {
      this.canvas = document.createElement("canvas");
      this.context = this.canvas.getContext("2d");
      this.image = null;
      /** The bytes of each CSS colour as they stand in an image. */
      this.words = new Map();
    }

    /** Begin an empty image of the size of what is drawn between the fixed parts of a surface. */
    begin({ gutter, top, plotWidth, height, ratio }) {
      const [wide, high] = [Math.ceil(plotWidth * ratio), Math.ceil((height - top) * ratio)];
      if (this.image?.width !== wide || this.image.height !== high) {
        this.canvas.width = wide;
        this.canvas.height = high;
        this.image = this.context.createImageData(wide, high);
        this.all = new Uint32Array(this.image.data.buffer);
      } else this.all.fill(0);
      Object.assign(this, { left: gutter, top, ratio, wide, high });
    }

    /** A bar in coordinates of the surface, to the nearest pixel. */
    bar(color, alpha, x, y, width, height) {
      const { ratio, wide, high, all } = this;
      const from = Math.max(Math.round((x - this.left) * ratio), 0);
      const to = Math.min(Math.round((x + width - this.left) * ratio), wide);
      const first = Math.max(Math.round((y - this.top) * ratio), 0);
      const last = Math.min(Math.round((y + height - this.top) * ratio), high);
      const word = this.word(color) | (Math.round(255 * alpha) << 24);
      for (let row = first * wide; row < last * wide; row += wide) {
        for (let at = row + from; at < row + to; at++) all[at] = word;
      }
    }

    /** Put the image where it belongs. */
    draw(surface) {
      this.context.putImageData(this.image, 0, 0);
      surface.context.globalAlpha = 1;
      surface.context.drawImage(this.canvas, this.left, this.top, this.wide / this.ratio, this.high / this.ratio);
    }

    word(color) {
      let word = this.words.get(color);
      if (word === undefined) {
        if (this.words.size > MOST_COLORS) this.words.clear();
        word = this.read(color);
        this.words.set(color, word);
      }
      return word;
    }

    /** The bytes of a colour without its alpha, as the canvas itself paints it. */
    read(color) {
      const sample = document.createElement("canvas");
      sample.width = sample.height = 1;
      const context = sample.getContext("2d");
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      const { data } = context.getImageData(0, 0, 1, 1);
      return new Uint32Array(data.buffer)[0] & RED_GREEN_BLUE;
    }
  }

  np.Pixels = Pixels;
})((window.npTimeline ??= {}));
