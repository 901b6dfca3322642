/** Draws what lies on the tracks: blocks, ticks, counters. */
(function (np) {
  "use strict";

  const LABEL_ROOM = 26;
  // What is looked for has a line under it, in the gap between the lanes.
  const FIND = 2;
  const LEAST_HEIGHT = 0.25;
  const FADED = 0.22;
  const LAST = 2;
  const FADED_LABEL = 0.55;
  // From about so many bars on, an image of them is drawn faster.
  const MANY = 4000;

  /** Draw all tracks that are in sight. */
  function drawTracks(timeline) {
    const { surface, rows, scroll } = timeline;
    const { gutter, top, plotWidth, height } = surface;
    const below = top + rows.pinnedHeight;
    const inSight = rows.between(scroll, scroll + height - top).filter((row) => row.kind === "track");
    // those that stay on top are drawn apart: what scrolls goes under them
    for (const [pinned, from, to] of [[false, below, height], [true, top, below]]) {
      const shown = inSight.filter((row) => row.pinned === pinned);
      if (shown.length) surface.within(gutter, from, plotWidth, to - from, () => drawRows(timeline, shown));
    }
  }

  function drawRows(timeline, shown) {
    const { surface, scroll, feed } = timeline;
    const offset = surface.top - scroll;
    if (feed.blocks) drawLanes(timeline, shown.flatMap((row) => lanesInSight(timeline, row.track, offset)));
    for (const row of shown) {
      if (row.ticksY !== undefined && feed.ticks) drawTicks(timeline, row.track, row.ticksY + offset);
      if (row.counterY !== undefined && feed.envelopes) drawCounter(timeline, row.track, row.counterY + offset);
    }
  }

  /**
   * The lanes of a track that are in sight: `{y, from, to, outlined}`, where they lie, which blocks are on them, and
   * whether those are but the outline of slices.
   */
  function lanesInSight({ surface, rows, view, feed }, track, offset) {
    const found = [];
    for (let lane = track.lane; lane < track.lane + track.depths; lane++) {
      const y = rows.laneTop[lane] + offset;
      if (rows.laneTop[lane] < 0 || y >= surface.height || y + np.sizes.LANE <= surface.top) continue;
      const [from, to] = feed.blocks.range(lane, view.start, view.end);
      found.push({ y, from, to, outlined: track.outlined });
    }
    return found;
  }

  /** The bars, then what is written on them: changing colour and font back and forth is what costs. */
  function drawLanes(timeline, lanes) {
    const { surface } = timeline;
    const c = surface.context;
    const asImage = lanes.reduce((sum, { from, to }) => sum + to - from, 0) > MANY;
    const on = asImage ? surface.pixels : surface;
    if (asImage) surface.pixels.begin(surface);
    const labels = [];
    const openEnds = [];
    const finds = [];
    for (const lane of lanes) drawBars(timeline, lane, { on, labels, openEnds, finds });
    if (asImage) surface.pixels.draw(surface);
    c.globalAlpha = 1;
    for (const [left, y, width] of finds) surface.fill(timeline.theme.found, left, y + np.sizes.BAR, width, FIND);
    for (const [left, y, width] of openEnds) drawOpenEnd(surface, left, y, width);
    for (const [i, left, width, y] of labels) drawLabel(timeline, i, left, width, y);
    c.globalAlpha = 1;
  }

  /** Draw the bars of a lane on a surface or an image, and take down those that get a label or an open end. */
  function drawBars(timeline, { y, from, to, outlined }, { on, labels, openEnds, finds }) {
    const { surface, theme, search, colors, view, feed } = timeline;
    const { BAR } = np.sizes;
    const blocks = feed.blocks;
    const right = surface.gutter + surface.plotWidth + 1;
    // a block's place in its window as a place on the canvas: origin + place * pixels
    const { start, end } = blocks.window;
    const scale = surface.plotWidth / view.length;
    const pixels = (end - start) * scale;
    const origin = surface.gutter + (start - view.start) * scale;
    let painted = -Infinity;
    for (let i = from; i < to; i++) {
      const x1 = Math.min(origin + blocks.x1[i] * pixels, right);
      const isFind = search.marks(blocks, i);
      if (x1 <= painted && !isFind) continue;
      const x0 = Math.max(origin + blocks.x0[i] * pixels, surface.gutter - 1);
      const [left, width] = barExtent(surface, x0, x1);
      if (isFind) finds.push([left, y, Math.max(width, FIND)]);
      painted = Math.max(painted, left + width);
      const height = blocks.slices[i] > 1 ? BAR * Math.max(LEAST_HEIGHT, blocks.busy[i] / 255) : BAR;
      const alpha = outlined || search.fades(blocks, i) ? FADED : 1;
      on.bar(colors.of(blocks, i, theme), alpha, left, y + BAR - height, width, height);
      if (outlined) continue;
      if (blocks.unfinished(i)) openEnds.push([left, y, width]);
      if (width >= LABEL_ROOM) labels.push([i, left, width, y]);
    }
  }

  /** Left edge and width of a bar: at least a pixel wide, and a pixel apart from the next where there is room. */
  function barExtent(surface, x0, x1) {
    const left = surface.sharp(x0);
    const width = surface.sharp(x1) - left;
    const shown = width > 3 ? width - 1 : Math.max(width, 1 / surface.ratio);
    // what lies at the very end of what is shown is not pushed out of it
    const edge = surface.gutter + surface.plotWidth;
    return left + LAST > edge && x0 <= edge ? [edge - LAST, LAST] : [left, shown];
  }

  function drawLabel(timeline, i, left, width, y) {
    const { surface, theme, feed } = timeline;
    const text = timeline.names.get(feed.blocks.name[i]);
    if (text === null) return;
    const faded = timeline.search.fades(feed.blocks, i);
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
      surface.context.globalAlpha = timeline.search.fadesInstant(feed.ticks.name[i]) ? FADED : 1;
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
