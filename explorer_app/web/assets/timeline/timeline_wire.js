/** What the server sent about a window, decoded. The byte layouts are documented in explorer_app/lod/wire.py. */
(function (np) {
  "use strict";

  const UNFINISHED = 128;

  /** Hands out typed arrays over a buffer, one after the other. */
  class Reader {
    constructor(buffer) {
      this.buffer = buffer;
      this.offset = 0;
    }

    take(kind, length) {
      const view = new kind(this.buffer, this.offset, length);
      this.offset += view.byteLength;
      return view;
    }
  }

  /** Columns whose rows are grouped by the key they were asked for; `first[i]` is where group i begins. */
  function groupStarts(keys, groups) {
    const first = new Uint32Array(groups + 1);
    for (const key of keys) first[key + 1]++;
    for (let i = 0; i < groups; i++) first[i + 1] += first[i];
    return first;
  }

  /** The first index in [low, high) for which `reached` holds; `reached` must stay true once it is. */
  function bisect(low, high, reached) {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (reached(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The blocks of some lanes in a window. */
  class Blocks {
    /**
     * @param {{start: number, end: number}} window @param {number[]} lanes as asked for
     * @param {{find?: string, color?: string}} asked which further columns there are
     */
    constructor(buffer, window, lanes, asked = {}) {
      const reader = new Reader(buffer);
      const [n] = reader.take(Uint32Array, 1);
      this.window = window;
      this.count = n;
      this.x0 = reader.take(Float32Array, n);
      this.x1 = reader.take(Float32Array, n);
      this.name = reader.take(Uint32Array, n);
      this.slices = reader.take(Uint32Array, n);
      this.slice = reader.take(Uint32Array, n);
      this.first = groupStarts(reader.take(Uint16Array, n), lanes.length);
      this.busy = reader.take(Uint8Array, n);
      this.categoryByte = reader.take(Uint8Array, n);
      this.asked = asked;
      if (asked.find) this.found = reader.take(Uint32Array, n);
      if (asked.color) this.color = reader.take(Uint8Array, n);
      this.laneIndex = new Map(lanes.map((lane, index) => [lane, index]));
    }

    start(i) {
      return this.window.start + this.x0[i] * (this.window.end - this.window.start);
    }

    end(i) {
      return this.window.start + this.x1[i] * (this.window.end - this.window.start);
    }

    category(i) {
      return this.categoryByte[i] & ~UNFINISHED;
    }

    unfinished(i) {
      return this.categoryByte[i] >= UNFINISHED;
    }

    /** The blocks [from, to) of a lane that reach into [start, end); empty for a lane that was not asked for. */
    range(lane, start, end) {
      const index = this.laneIndex.get(lane);
      if (index === undefined) return [0, 0];
      const [low, high] = [this.first[index], this.first[index + 1]];
      const from = bisect(low, high, (i) => this.end(i) >= start);
      return [from, bisect(from, high, (i) => this.start(i) > end)];
    }

    /** The block of a lane at a moment, or the nearest one within `slack`; -1 for none. */
    at(lane, moment, slack) {
      const [from, to] = this.range(lane, moment - slack, moment + slack);
      let best = -1;
      let distance = Infinity;
      for (let i = from; i < to; i++) {
        const away = Math.max(this.start(i) - moment, moment - this.end(i), 0);
        if (away < distance) [best, distance] = [i, away];
      }
      return best;
    }
  }

  /** The instants of some tracks in a window. */
  class Ticks {
    constructor(buffer, window, tracks) {
      const reader = new Reader(buffer);
      const [n] = reader.take(Uint32Array, 1);
      this.window = window;
      this.x = reader.take(Float32Array, n);
      this.name = reader.take(Uint32Array, n);
      this.instants = reader.take(Uint32Array, n);
      this.instant = reader.take(Uint32Array, n);
      this.first = groupStarts(reader.take(Uint16Array, n), tracks.length);
      this.category = reader.take(Uint8Array, n);
      this.trackIndex = new Map(tracks.map((track, index) => [track, index]));
    }

    moment(i) {
      return this.window.start + this.x[i] * (this.window.end - this.window.start);
    }

    /** The ticks [from, to) of a track between two moments. */
    range(track, start, end) {
      const index = this.trackIndex.get(track);
      if (index === undefined) return [0, 0];
      const [low, high] = [this.first[index], this.first[index + 1]];
      const from = bisect(low, high, (i) => this.moment(i) >= start);
      return [from, bisect(from, high, (i) => this.moment(i) > end)];
    }
  }

  /** The lowest and highest values of some counters on each pixel of a window. */
  class Envelopes {
    constructor(buffer, window, tracks) {
      const reader = new Reader(buffer);
      const [n, width] = reader.take(Uint32Array, 2);
      this.window = window;
      this.width = width;
      this.lows = reader.take(Float32Array, n * width);
      this.highs = reader.take(Float32Array, n * width);
      this.trackIndex = new Map(tracks.map((track, index) => [track, index]));
    }

    /** Low and high columns of a track, or null. */
    of(track) {
      const index = this.trackIndex.get(track);
      if (index === undefined) return null;
      const [from, to] = [index * this.width, (index + 1) * this.width];
      return { low: this.lows.subarray(from, to), high: this.highs.subarray(from, to) };
    }

    /** The pixel of a moment, possibly outside [0, width). */
    pixel(moment) {
      return Math.floor(((moment - this.window.start) / (this.window.end - this.window.start)) * this.width);
    }
  }

  np.Blocks = Blocks;
  np.Ticks = Ticks;
  np.Envelopes = Envelopes;
})((window.npTimeline ??= {}));
