/** Where each process, track and lane lies on the vertical axis, and what is folded away, left out or kept on top. */
(function (np) {
  "use strict";

  const TICKS = 14;
  const INDENT = 12;
  const sizes = { TICKS, INDENT };

  /**
   * A row of the canvas. `list` names the list in which it stands and `id` is its own in that; `end` is where what
   * belongs to it ends: for a process that of its last track.
   * @typedef {{kind: "process" | "track", y: number, height: number, end: number, process: object, track?: object,
   *   list: string, id: number, pinned: boolean, folded: boolean, foldable: boolean, counterY?: number,
   *   ticksY?: number}} Row
   */

  class Rows {
    /** @param {object[]} processes as `/_trace/meta` lists them @param {Rows} [before] what the reader did is as there */
    constructor(processes, before) {
      this.processes = processes;
      this.byId = new Map(processes.map((p) => [p.id, p]));
      this.arrangement = before?.arrangement ?? new np.Arrangement();
      const begin = (items) => items.filter((item) => item.folded).map((item) => item.id);
      this.tracks = new Map(processes.flatMap((process) => process.tracks.map((track) => [track.id, { process, track }])));
      this.beginFolded = new Set(begin(processes.flatMap((process) => process.tracks)));
      this.foldedProcesses = before?.foldedProcesses ?? new Set(begin(processes));
      const known = before?.beginFolded ?? new Set();
      this.foldedTracks = new Set([...(before?.foldedTracks ?? []), ...[...this.beginFolded].filter((id) => !known.has(id))]);
      this.laneCount = Math.max(0, ...processes.flatMap((p) => p.tracks.map((t) => t.lane + t.depths)));
      /** How far down the tracks are scrolled: those on top lie there. */
      this.stuckAt = before?.stuckAt ?? 0;
      this.layOut();
    }

    /** Work out all positions anew. */
    layOut() {
      Object.assign(sizes, this.arrangement.sizes);
      /** @type {Row[]} those on top first */
      this.rows = [];
      /** Top of each lane; -1 for a lane that is folded away. */
      this.laneTop = new Float64Array(this.laneCount).fill(-1);
      /** Where an arrow to a lane ends: its middle, or that of the row it is folded into; -1 where that is left out. */
      this.laneMiddle = new Float64Array(this.laneCount).fill(-1);
      this.children = Map.groupBy(this.processes, (process) => process.within);
      let y = 0;
      for (const id of this.arrangement.pinned) {
        const found = this.tracks.get(id);
        if (found) y = this.layOutTrack(found.process, found.track, y, { list: "pinned", pinned: true });
      }
      /** Height of what stays on top, and how many rows that is. */
      this.pinnedHeight = y;
      this.pinnedCount = this.rows.length;
      this.height = this.layOutProcesses(null, y);
      const at = this.stuckAt;
      this.stuckAt = 0;
      this.stick(at);
    }

    layOutProcesses(within, y) {
      const list = `p${within ?? ""}`;
      for (const process of this.arrangement.ordered(list, this.children.get(within) ?? [])) {
        if (!this.isShown(process)) continue;
        // what is looked for is not folded away
        const folded = this.foldedProcesses.has(process.id) && !this.arrangement.filter.trim();
        const height = sizes.HEADING;
        const row = { kind: "process", y, height, process, list, id: process.id, pinned: false, folded, foldable: true };
        this.rows.push(row);
        if (folded) this.foldInto(process, y + height / 2);
        y += height;
        if (!folded) {
          const tracks = this.shownTracks(process);
          for (const track of tracks) y = this.layOutTrack(process, track, y, { list: `t${process.id}`, pinned: false });
          y = this.layOutProcesses(process.id, y);
        }
        row.end = y;
      }
      return y;
    }

    /** The tracks of a process that stand under it, in order. */
    shownTracks(process) {
      const names = this.names(process);
      const { arrangement } = this;
      const shown = process.tracks.filter(({ id, name }) => !arrangement.isPinned(id) && arrangement.passes(name, ...names));
      return arrangement.ordered(`t${process.id}`, shown);
    }

    /** The names of a process and of those around it. */
    names(process) {
      const names = [];
      for (let at = process; at; at = this.byId.get(at.within)) names.push(at.name);
      return names;
    }

    /** Whether a process has anything that the filter lets through. */
    isShown(process) {
      if (!this.arrangement.filter.trim()) return true;
      return this.shownTracks(process).length > 0 || (this.children.get(process.id) ?? []).some((inner) => this.isShown(inner));
    }

    /** Arrows to the lanes of a process and of those in it end at a height. */
    foldInto(process, middle) {
      for (const { id, lane, depths } of process.tracks) {
        if (!this.arrangement.isPinned(id)) this.laneMiddle.fill(middle, lane, lane + depths);
      }
      for (const inner of this.children.get(process.id) ?? []) this.foldInto(inner, middle);
    }

    layOutTrack(process, track, y, { list, pinned }) {
      const { LANE, BAR, COUNTER, PADDING } = sizes;
      const folded = this.foldedTracks.has(track.id);
      const depths = folded ? Math.min(1, track.depths) : track.depths;
      const row = { kind: "track", y, process, track, list, id: track.id, pinned, folded, foldable: track.depths > 1 };
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
      row.end = y + row.height;
      this.rows.push(row);
      return row.end;
    }

    /** The tracks are scrolled down to `scroll`: those on top stay in sight. */
    stick(scroll) {
      const by = scroll - this.stuckAt;
      this.stuckAt = scroll;
      if (!by) return;
      for (const row of this.rows.slice(0, this.pinnedCount)) {
        row.y += by;
        row.end += by;
        if (row.ticksY !== undefined) row.ticksY += by;
        if (row.counterY !== undefined) row.counterY += by;
        for (let lane = row.track.lane; lane < row.track.lane + row.track.depths; lane++) {
          if (this.laneTop[lane] >= 0) this.laneTop[lane] += by;
          this.laneMiddle[lane] += by;
        }
      }
    }

    /** Whether a lane belongs to a track that stays on top. */
    isLanePinned(lane) {
      return this.rows.slice(0, this.pinnedCount).some(({ track }) => lane >= track.lane && lane < track.lane + track.depths);
    }

    /** The row at a height, or undefined; those on top lie over the others. */
    at(y) {
      return this.rows.find((row) => y >= row.y && y < row.y + row.height);
    }

    /** The rows that show anything of [top, bottom), those on top first. */
    between(top, bottom) {
      return this.rows.filter((row) => row.y < bottom && row.y + row.height > top);
    }

    /** The rows of the list in which a row stands, in order. */
    siblings(row) {
      return this.rows.filter(({ list }) => list === row.list);
    }

    /** The lane at a height, or -1. */
    laneAt(y) {
      const row = this.at(y);
      if (row?.kind !== "track") return -1;
      const depth = Math.floor((y - row.y - sizes.PADDING) / sizes.LANE);
      const lane = row.track.lane + depth;
      return depth >= 0 && depth < row.track.depths && this.laneTop[lane] >= 0 ? lane : -1;
    }

    /** What must be fetched to draw [top, bottom): lanes, tracks with ticks, tracks with counters. */
    needed(top, bottom) {
      const tracks = this.between(top, bottom).filter((row) => row.kind === "track");
      const isSeen = (y) => y >= 0 && y < bottom && y + sizes.LANE > top;
      const lanes = [];
      for (const { track, pinned } of tracks) {
        for (let lane = track.lane; lane < track.lane + track.depths; lane++) {
          const y = this.laneTop[lane];
          if (pinned ? y >= 0 : isSeen(y)) lanes.push(lane);
        }
      }
      const ids = (rows) => rows.map(({ track }) => track.id);
      return {
        lanes,
        ticks: ids(tracks.filter(({ track }) => track.instants)),
        counters: ids(tracks.filter(({ track }) => track.counter)),
      };
    }

    /** Fold or unfold a row. */
    toggle(row) {
      const [set, id] = row.kind === "process" ? [this.foldedProcesses, row.process.id] : [this.foldedTracks, row.track.id];
      if (!set.delete(id)) set.add(id);
      this.layOut();
    }

    /** Fold or unfold a row, and all that stand in its list with it. */
    toggleAll(row) {
      const set = row.kind === "process" ? this.foldedProcesses : this.foldedTracks;
      for (const { id, foldable } of this.siblings(row)) {
        if (row.folded) set.delete(id);
        else if (foldable) set.add(id);
      }
      this.layOut();
    }

    /** Unfold what hides a lane, and drop the filter where that does. @returns {boolean} whether anything was hidden */
    reveal(lane) {
      if (this.laneTop[lane] >= 0) return false;
      for (const { process, track } of this.tracks.values()) {
        if (lane < track.lane || lane >= track.lane + track.depths) continue;
        const { arrangement } = this;
        if (!arrangement.isPinned(track.id) && !arrangement.passes(track.name, ...this.names(process))) arrangement.filter = "";
        for (let at = process; at; at = this.byId.get(at.within)) this.foldedProcesses.delete(at.id);
        this.foldedTracks.delete(track.id);
      }
      this.layOut();
      return true;
    }
  }

  np.Rows = Rows;
  /** Heights on the canvas; those of lanes, bars, headings and counters are as the reader chose. */
  np.sizes = sizes;
})((window.npTimeline ??= {}));
