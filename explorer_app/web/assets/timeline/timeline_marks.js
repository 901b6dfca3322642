/** Draws what the reader marked: the selected slice with its flows, the measured range, the place of the pointer. */
(function (np) {
  "use strict";

  const HEAD = 6;
  const FAR_ALPHA = 0.5;

  function drawMarks(timeline) {
    const { surface } = timeline;
    const { gutter, top, plotWidth, height } = surface;
    surface.within(gutter, top, plotWidth, height - top, () => {
      if (timeline.hover?.block !== undefined) outline(timeline, timeline.hover, 1);
      if (timeline.selection) {
        drawFlows(timeline, timeline.selection);
        const { lane, start, drawn_dur: length } = timeline.selection;
        outline(timeline, { lane, start, end: start + length }, 2);
      }
    });
    if (timeline.range) drawRange(timeline, timeline.range);
    drawPointer(timeline);
  }

  /** A frame around a slice. */
  function outline({ surface, theme, rows, scroll }, { lane, start, end }, width) {
    const y = rows.laneTop[lane] - scroll;
    // what scrolls goes under the tracks that stay on top
    if (rows.laneTop[lane] < 0 || (y < rows.pinnedHeight && !rows.isLanePinned(lane))) return;
    const c = surface.context;
    const x0 = surface.sharp(surface.x(start));
    const x1 = Math.max(surface.sharp(surface.x(end)), x0 + 3);
    c.strokeStyle = theme.text;
    c.lineWidth = width;
    c.strokeRect(x0 - 0.5, y + surface.top - 0.5, x1 - x0, np.sizes.BAR + 1);
  }

  /** An arrow for each link of the chain, from the end of the cause to the start of the effect; fainter the farther. */
  function drawFlows(timeline, slice) {
    const { upstream, downstream } = slice.chain;
    const direct = new Set();
    const key = (cause, effect) => `${cause.id} ${effect.id}`;
    for (const cause of slice.flows_in) direct.add(key(cause, slice));
    for (const effect of slice.flows_out) direct.add(key(slice, effect));
    for (const { from, to, distance } of [...upstream, ...downstream].reverse()) {
      if (!direct.has(key(from, to))) drawArrow(timeline, from, to, distance > 1 ? FAR_ALPHA : 1);
    }
    for (const cause of slice.flows_in) drawArrow(timeline, cause, slice);
    for (const effect of slice.flows_out) drawArrow(timeline, slice, effect);
  }

  function drawArrow({ surface, theme, rows, scroll }, cause, effect, alpha = 1) {
    const c = surface.context;
    if (rows.laneMiddle[cause.lane] < 0 || rows.laneMiddle[effect.lane] < 0) return;  // left out by the filter
    c.globalAlpha = alpha;
    const y = (slice) => rows.laneMiddle[slice.lane] + surface.top - scroll;
    // a cause that has not ended when its effect begins points from where the effect begins
    const [x0, y0] = [surface.x(Math.min(cause.start + cause.drawn_dur, Math.max(effect.start, cause.start))), y(cause)];
    const [x1, y1] = [surface.x(effect.start), y(effect)];
    const bend = Math.min(60, Math.max(16, Math.abs(x1 - x0) / 2));
    for (const [color, width] of [[theme.panel, 4], [theme.text, 1.5]]) {
      c.strokeStyle = c.fillStyle = color;
      c.lineWidth = width;
      c.beginPath();
      c.moveTo(x0, y0);
      c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - HEAD, y1);
      c.stroke();
    }
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x1 - HEAD - 1, y1 - HEAD / 2 - 1);
    c.lineTo(x1 - HEAD - 1, y1 + HEAD / 2 + 1);
    c.fill();
    c.globalAlpha = 1;
  }

  /** The measured range, with its length on the ruler. */
  function drawRange({ surface, theme }, { start, end }) {
    const { overview, ruler, gutter, plotWidth, height } = surface;
    surface.within(gutter, overview, plotWidth, height - overview, (c) => {
      const [x0, x1] = [surface.sharp(surface.x(start)), surface.sharp(surface.x(end))];
      c.globalAlpha = 0.14;
      surface.fill(theme.accent, x0, overview, x1 - x0, height);
      c.globalAlpha = 1;
      surface.fill(theme.accent, x0, overview, 1, height);
      surface.fill(theme.accent, x1 - 1, overview, 1, height);
      const label = np.format.duration(end - start);
      const room = surface.textWidth(label, theme.bold) + 12;
      const middle = (Math.max(x0, gutter) + Math.min(x1, gutter + plotWidth)) / 2;
      const left = Math.min(Math.max(middle - room / 2, gutter), gutter + plotWidth - room);
      surface.fill(theme.accent, left, overview + 3, room, ruler - 6);
      surface.text(label, left + 6, overview + ruler / 2 + 0.5, room, { color: theme.panel, font: theme.bold });
    });
  }

  /** A hair line at the pointer, and the moment it points at where the ruler has room. */
  function drawPointer({ surface, theme, pointer, range }) {
    if (!pointer || pointer.x < surface.gutter || pointer.y < surface.overview) return;
    const x = surface.sharp(pointer.x);
    surface.context.globalAlpha = 0.5;
    surface.fill(theme.dim, x, surface.overview, 1, surface.height - surface.overview);
    surface.context.globalAlpha = 1;
    if (range) return;
    const [moment, step] = [surface.moment(pointer.x), surface.view.length / surface.plotWidth];
    const [label] = np.format.moments([moment], step, np.format.longUnit(surface.view.end, step) > 1);
    const room = surface.textWidth(label, theme.font) + 10;
    const left = Math.min(x + 1, surface.width - room);
    surface.fill(theme.text, left, surface.overview + 3, room, surface.ruler - 6);
    surface.text(label, left + 5, surface.overview + surface.ruler / 2 + 0.5, room, { color: theme.panel });
  }

  np.drawMarks = drawMarks;
})((window.npTimeline ??= {}));
