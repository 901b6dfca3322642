/** Where each process, track and lane lies on the vertical axis, and what is folded away. */
(function (np) {
  "use strict";

  const LANE = 18;
  const BAR = 16;
  const HEADING = 26;
  const COUNTER = 46;
  const TICKS = 14;
  const PADDING = 3;
  const INDENT = 12;

  /**
   * A row of the canvas.
   * @typedef {{kind: "process" | "track", y: number, height: number, process: object, track?: object,
   *   folded: boolean, foldable: boolean, counterY?: number, ticksY?: number}} Row
   */

  class Rows {
    /** @param {object[]} processes as `/_trace/meta` lists them */
    constructor(processes) {
      this.processes = processes;
      this.foldedProcesses = new Set(processes.filter((p) => p.folded).map((p) => p.id));
      this.byId = new Map(processes.map((p) => [p.id, p]));
      this.foldedTracks = new Set();
      this.laneCount = Math.max(0, ...processes.flatMap((p) => p.tracks.map((t) => t.lane + t.depths)));
      this.layOut();
    }

    /** Work out all positions anew. */
    layOut() {
      /** @type {Row[]} */
      this.rows = [];
      /** Top of each lane; -1 for a lane that is folded away. */
      this.laneTop = new Float64Array(this.laneCount).fill(-1);
      /** Where an arrow to a lane ends: its middle, or that of the row it is folded into. */
      this.laneMiddle = new Float64Array(this.laneCount).fill(-1);
      let y = 0;
      /** Middle of the heading into which each process is folded; not there where none is. */
      const hidden = new Map();
      for (const process of this.processes) {
        const lanesTo = (middle) => {
          hidden.set(process.id, middle);
          for (const track of process.tracks) this.laneMiddle.fill(middle, track.lane, track.lane + track.depths);
        };
        if (hidden.has(process.within)) {
          lanesTo(hidden.get(process.within));
          continue;
        }
        const folded = this.foldedProcesses.has(process.id);
        this.rows.push({ kind: "process", y, height: HEADING, process, folded, foldable: true });
        if (folded) lanesTo(y + HEADING / 2);
        y += HEADING;
        if (!folded) for (const track of process.tracks) y = this.layOutTrack(process, track, y);
      }
      this.height = y;
    }

    layOutTrack(process, track, y) {
      const folded = this.foldedTracks.has(track.id);
      const depths = folded ? Math.min(1, track.depths) : track.depths;
      const row = { kind: "track", y, process, track, folded, foldable: track.depths > 1 };
      let at = y + PADDING;
      for (let depth = 0; depth < track.depths; depth++) {
        const lane = track.lane + depth;
        if (depth < depths) this.laneTop[lane] = at + depth * LANE;
        this.laneMiddle[lane] = at + Math.min(depth, depths - 1) * LANE + BAR / 2;
      }
      at += depths * LANE;
      if (track.instants) {
        row.ticksY = at;
        at += TICKS;
      }
      if (track.counter) {
        row.counterY = at;
        at += COUNTER;
      }
      row.height = at + PADDING - y;
      this.rows.push(row);
      return y + row.height;
    }

    /** The row at a height, or undefined. */
    at(y) {
      return this.rows.find((row) => y >= row.y && y < row.y + row.height);
    }

    /** The rows that show anything of [top, bottom). */
    between(top, bottom) {
      return this.rows.filter((row) => row.y < bottom && row.y + row.height > top);
    }

    /** The lane at a height, or -1. */
    laneAt(y) {
      const row = this.at(y);
      if (row?.kind !== "track") return -1;
      const depth = Math.floor((y - row.y - PADDING) / LANE);
      const lane = row.track.lane + depth;
      return depth >= 0 && depth < row.track.depths && this.laneTop[lane] >= 0 ? lane : -1;
    }

    /** What must be fetched to draw [top, bottom): lanes, tracks with ticks, tracks with counters. */
    needed(top, bottom) {
      const tracks = this.between(top, bottom).filter((row) => row.kind === "track");
      const lanes = [];
      for (const { track } of tracks) {
        for (let lane = track.lane; lane < track.lane + track.depths; lane++) {
          const y = this.laneTop[lane];
          if (y >= 0 && y < bottom && y + LANE > top) lanes.push(lane);
        }
      }
      return {
        lanes,
        ticks: tracks.filter(({ track }) => track.instants).map(({ track }) => track.id),
        counters: tracks.filter(({ track }) => track.counter).map(({ track }) => track.id),
      };
    }

    /** Fold or unfold a row. */
    toggle(row) {
      const [set, id] = row.kind === "process" ? [this.foldedProcesses, row.process.id] : [this.foldedTracks, row.track.id];
      if (!set.delete(id)) set.add(id);
      this.layOut();
    }

    /** Unfold what hides a lane. @returns {boolean} whether anything was folded */
    reveal(lane) {
      if (this.laneTop[lane] >= 0) return false;
      for (const process of this.processes) {
        for (const track of process.tracks) {
          if (lane >= track.lane && lane < track.lane + track.depths) {
            for (let at = process; at; at = this.byId.get(at.within)) this.foldedProcesses.delete(at.id);
            this.foldedTracks.delete(track.id);
          }
        }
      }
      this.layOut();
      return true;
    }
  }

  np.Rows = Rows;
  np.sizes = { LANE, BAR, HEADING, COUNTER, TICKS, INDENT };
})((window.npTimeline ??= {}));
