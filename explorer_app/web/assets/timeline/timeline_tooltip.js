/** What lies under the pointer, in words. Names come from the trace and are only ever set as text. */
(function (np) {
  "use strict";

  const REACH_PX = 3;
  const AWAY_PX = 14;

  /**
   * What a place on the canvas shows.
   * @returns {null | {lane?: number, block?: number, start?: number, end?: number, lines: string[]}} `lines`: a title
   *   and what is said below it
   */
  function lookUp(timeline, x, y) {
    const { surface, rows, scroll } = timeline;
    if (y < surface.top) return null;
    const row = rows.at(y - surface.top + scroll);
    if (row?.kind !== "track") return null;
    if (x < surface.gutter) return { lines: aboutTrack(row) };
    const place = y - surface.top + scroll;
    const onTicks = row.ticksY !== undefined && place >= row.ticksY && place < row.ticksY + np.sizes.TICKS;
    if (onTicks) return lookUpTick(timeline, row, x);
    if (row.counterY !== undefined && place >= row.counterY) return lookUpCounter(timeline, row, x);
    return lookUpBlock(timeline, row.track, rows.laneAt(place), x);
  }

  function aboutTrack({ track, process, pinned }) {
    const lines = [track.name, pinned ? process.name : "", track.note, track.simulated ? "simulated, not measured" : ""];
    if (track.slices) lines.push(np.format.counted(track.slices, "slice"));
    if (track.instants) lines.push(np.format.counted(track.instants, "instant"));
    if (track.depths > 1) lines.push("click to fold or unfold");
    lines.push(`drag to move; the pin ${pinned ? "puts it back" : "keeps it on top"}`);
    return lines.filter(Boolean);
  }

  function lookUpBlock({ surface, feed, names, view, search }, track, lane, x) {
    const blocks = feed.blocks;
    if (lane < 0 || !blocks) return null;
    const reach = (view.length / surface.plotWidth) * REACH_PX;
    const i = blocks.at(lane, surface.moment(x), reach);
    if (i < 0) return null;
    const [start, end] = [blocks.start(i), blocks.end(i)];
    const busy = `${np.format.ratio(blocks.busy[i] / 255)} busy`;
    if (track.outlined) {
      const slices = np.format.counted(blocks.slices[i], "slice");
      return { lines: [`${slices} in ${np.format.duration(end - start)}, ${busy}`, "being laid out"] };
    }
    const name = names.get(blocks.name[i]) ?? "…";
    const span = np.format.duration(end - start);
    let line = `${span}, from ${np.format.duration(start)}`;
    if (blocks.unfinished(i)) line = `did not finish, from ${np.format.duration(start)}`;
    if (blocks.slices[i] > 1) {
      line = `the longest of ${np.format.count(blocks.slices[i])} slices in ${span}, ${busy}`;
    }
    const found = blocks.slices[i] > 1 && search.marks(blocks, i);
    const lines = found ? [name, line, `${np.format.count(blocks.found[i])} of them found`] : [name, line];
    return { lane, block: i, start, end, lines };
  }

  function lookUpTick({ surface, feed, names }, row, x) {
    if (!feed.ticks) return null;
    const [from, to] = feed.ticks.range(row.track.id, surface.moment(x - 5), surface.moment(x + 5));
    if (from === to) return null;
    const away = (i) => Math.abs(surface.x(feed.ticks.moment(i)) - x);
    let nearest = from;
    for (let i = from; i < to; i++) if (away(i) < away(nearest)) nearest = i;
    const more = feed.ticks.instants[nearest] - 1;
    const when = np.format.duration(feed.ticks.moment(nearest));
    const lines = [names.get(feed.ticks.name[nearest]) ?? "…", `instant at ${when}`];
    if (more) lines.push(`and ${np.format.count(more)} more here`);
    return { lines };
  }

  function lookUpCounter({ surface, feed }, row, x) {
    const envelope = feed.envelopes?.of(row.track.id);
    const pixel = feed.envelopes?.pixel(surface.moment(x)) ?? -1;
    if (!envelope || pixel < 0 || pixel >= feed.envelopes.width) return null;
    const [low, high] = [envelope.low[pixel], envelope.high[pixel]].map((v) => np.format.value(v, row.track.counter.unit));
    return { lines: [row.track.name, low === high ? low : `${low} to ${high}`] };
  }

  /** A box that follows the pointer. */
  class Tooltip {
    constructor(host) {
      this.host = host;
      this.box = document.createElement("div");
      this.box.className = "np-timeline-tip";
      this.box.hidden = true;
      host.append(this.box);
    }

    show(lines, x, y) {
      this.box.replaceChildren(
        ...lines.map((line, index) => {
          const part = document.createElement(index ? "div" : "b");
          part.textContent = line;
          return part;
        }),
      );
      this.box.hidden = false;
      const { clientWidth: width, clientHeight: height } = this.host;
      const left = Math.min(x + AWAY_PX, width - this.box.offsetWidth - 4);
      const below = y + AWAY_PX + this.box.offsetHeight < height;
      this.box.style.left = `${Math.max(4, left)}px`;
      this.box.style.top = `${below ? y + AWAY_PX : Math.max(4, y - AWAY_PX - this.box.offsetHeight)}px`;
    }

    hide() {
      this.box.hidden = true;
    }
  }

  np.lookUp = lookUp;
  np.Tooltip = Tooltip;
})((window.npTimeline ??= {}));
