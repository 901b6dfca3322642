/** Draws what lies on the tracks: blocks, ticks, counters. */
(function (np) {
  "use strict";

  const LABEL_ROOM = 26;
  const LEAST_HEIGHT = 0.25;
  const FADED = 0.22;
  const FADED_LABEL = 0.55;

  /** Draw all tracks that are in sight. */
  function drawTracks(timeline) {
    const { surface, rows, scroll } = timeline;
    const { gutter, top, plotWidth, height } = surface;
    surface.within(gutter, top, plotWidth, height - top, () => {
      for (const row of rows.between(scroll, scroll + height - top)) {
        if (row.kind !== "track") continue;
        const offset = top - scroll;
        if (timeline.feed.blocks) drawLanes(timeline, row.track, offset);
        if (row.ticksY !== undefined && timeline.feed.ticks) drawTicks(timeline, row.track, row.ticksY + offset);
        if (row.counterY !== undefined && timeline.feed.envelopes) drawCounter(timeline, row.track, row.counterY + offset);
      }
    });
  }

  function drawLanes(timeline, track, offset) {
    const { surface, rows } = timeline;
    const { LANE } = np.sizes;
    for (let lane = track.lane; lane < track.lane + track.depths; lane++) {
      const y = rows.laneTop[lane] + offset;
      if (rows.laneTop[lane] >= 0 && y < surface.height && y + LANE > surface.top) drawLane(timeline, lane, y);
    }
  }

  /** The blocks of one lane, then their labels: changing colour and font back and forth is what costs. */
  function drawLane(timeline, lane, y) {
    const { surface, theme, view, feed } = timeline;
    const { BAR } = np.sizes;
    const c = surface.context;
    const blocks = feed.blocks;
    const [from, to] = blocks.range(lane, view.start, view.end);
    const right = surface.gutter + surface.plotWidth + 1;
    const labels = [];
    let painted = -Infinity;
    for (let i = from; i < to; i++) {
      const x0 = Math.max(surface.x(blocks.start(i)), surface.gutter - 1);
      const x1 = Math.min(surface.x(blocks.end(i)), right);
      if (x1 <= painted) continue;
      const [left, width] = barExtent(surface, x0, x1);
      painted = left + width;
      const merged = blocks.slices[i] > 1;
      const bar = merged ? BAR * Math.max(LEAST_HEIGHT, blocks.busy[i] / 255) : BAR;
      const shades = theme.shades[blocks.category(i)];
      c.globalAlpha = timeline.search.fades(blocks.name[i]) ? FADED : 1;
      surface.fill(shades[blocks.name[i] % shades.length], left, y + BAR - bar, width, bar);
      if (blocks.unfinished(i)) drawOpenEnd(surface, left, y, width);
      if (width >= LABEL_ROOM) labels.push(i, left, width);
    }
    for (let k = 0; k < labels.length; k += 3) drawLabel(timeline, labels[k], labels[k + 1], labels[k + 2], y);
    c.globalAlpha = 1;
  }

  /** Left edge and width of a bar: at least a pixel wide, and a pixel apart from the next where there is room. */
  function barExtent(surface, x0, x1) {
    const left = surface.sharp(x0);
    const width = surface.sharp(x1) - left;
    return [left, width > 3 ? width - 1 : Math.max(width, 1 / surface.ratio)];
  }

  function drawLabel(timeline, i, left, width, y) {
    const { surface, theme, feed } = timeline;
    const text = timeline.names.get(feed.blocks.name[i]);
    if (text === null) return;
    const faded = timeline.search.fades(feed.blocks.name[i]);
    surface.context.globalAlpha = faded ? FADED_LABEL : 1;
    const from = Math.max(left, surface.gutter);
    const color = faded ? theme.text : theme.onCategory;
    surface.text(text, from + 4, y + np.sizes.BAR / 2 + 0.5, left + width - from - 8, { color });
  }

  /** A slice that did not finish ends in stripes instead of an edge. */
  function drawOpenEnd(surface, left, y, width) {
    const { BAR } = np.sizes;
    const stripes = Math.min(24, width);
    surface.within(left + width - stripes, y, stripes, BAR, (c) => {
      c.strokeStyle = surface.theme.panel;
      c.lineWidth = 2;
      c.beginPath();
      for (let x = left + width - stripes - BAR; x < left + width; x += 6) {
        c.moveTo(x, y + BAR);
        c.lineTo(x + BAR, y);
      }
      c.stroke();
    });
  }

  function drawTicks(timeline, track, y) {
    const { surface, theme, view, feed } = timeline;
    const [from, to] = feed.ticks.range(track.id, view.start, view.end);
    for (let i = from; i < to; i++) {
      const x = surface.sharp(surface.x(feed.ticks.moment(i)));
      surface.context.globalAlpha = timeline.search.fades(feed.ticks.name[i]) ? FADED : 1;
      surface.context.fillStyle = theme.dim;
      surface.context.beginPath();
      surface.context.moveTo(x - 4, y + 2);
      surface.context.lineTo(x + 4, y + 2);
      surface.context.lineTo(x, y + np.sizes.TICKS - 2);
      surface.context.fill();
    }
    surface.context.globalAlpha = 1;
  }

  /** A counter as two areas: solid up to the lowest value on a pixel, faint up to the highest. */
  function drawCounter(timeline, track, y) {
    const { surface, theme, view, feed } = timeline;
    const envelope = feed.envelopes.of(track.id);
    if (!envelope) return;
    const scale = counterScale(track.counter);
    const base = y + np.sizes.COUNTER - 4;
    const room = np.sizes.COUNTER - 10;
    const first = Math.max(0, feed.envelopes.pixel(view.start));
    const last = Math.min(feed.envelopes.width, feed.envelopes.pixel(view.end) + 1);
    const { start, end } = feed.envelopes.window;
    const step = (end - start) / feed.envelopes.width;
    const height = (value) => scale(value) * room;
    const zero = base - height(0);
    for (const [values, alpha] of [[envelope.high, 0.25], [envelope.low, 0.55]]) {
      surface.context.globalAlpha = alpha;
      surface.context.fillStyle = theme.accent;
      for (let i = first; i < last; ) {
        let next = i + 1;
        while (next < last && values[next] === values[i]) next++;
        if (!Number.isNaN(values[i])) {
          const x = surface.sharp(surface.x(start + i * step));
          const top = base - height(values[i]);
          const width = surface.sharp(surface.x(start + next * step)) - x;
          surface.context.fillRect(x, Math.min(top, zero), width, Math.max(Math.abs(zero - top), 1));
        }
        i = next;
      }
    }
    surface.context.globalAlpha = 1;
    surface.fill(theme.line, surface.gutter, base, surface.plotWidth, 1);
  }

  /** The share of the height at which a value is drawn: from the smaller of 0 and the lowest to the highest. */
  function counterScale({ low, high }) {
    const bottom = Math.min(0, low ?? 0);
    const top = Math.max(0, high ?? 0);
    return (value) => (top > bottom ? (value - bottom) / (top - bottom) : 0);
  }

  np.drawTracks = drawTracks;
})((window.npTimeline ??= {}));
