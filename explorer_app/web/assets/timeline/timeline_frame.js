/** Draws what stays in place around the tracks: overview, ruler, step markers, and the names of the tracks. */
(function (np) {
  "use strict";

  const TICK_ROOM = 120;
  const NAME_ROOM = 36;
  const OFFSETS_FROM = 400;
  const FIND = 2;
  const FIND_HEIGHT = 5;

  /** The moments at which the ruler has ticks: round ones, at least `TICK_ROOM` pixels apart. */
  function rulerTicks(surface) {
    const { view } = surface;
    const least = (view.length / surface.plotWidth) * TICK_ROOM;
    const unit = np.format.longUnit(view.end, least);  // round in minutes or hours where those are shown
    const power = 10 ** Math.floor(Math.log10(least / unit)) * unit;
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((size) => size >= least));
    const ticks = [];
    for (let i = Math.ceil(view.start / step); i * step <= view.end; i++) ticks.push(i * step);
    return { ticks, step, inLongUnits: unit > 1 };
  }

  /** Behind the tracks: a line at each tick of the ruler and at the start of each step, and lines between the tracks. */
  function drawGrid(timeline) {
    const { surface, theme, rows, scroll } = timeline;
    const { top, height, width } = surface;
    for (const tick of rulerTicks(surface).ticks) {
      surface.fill(theme.grid, surface.sharp(surface.x(tick)), top, 1, height - top);
    }
    surface.context.globalAlpha = 0.5;
    drawSteps(timeline);
    surface.context.globalAlpha = 1;
    for (const row of rows.between(scroll, scroll + height - top)) {
      const y = surface.sharp(row.y + row.height - 1 + top - scroll);
      surface.fill(theme.grid, 0, y, width, 1);
    }
  }

  /** A line at the start of each step: over everything where one rank marks steps, else over the tracks of its rank. */
  function drawSteps({ surface, theme, rows, scroll, meta, view }) {
    const { top, height } = surface;
    const draw = (starts, y, high) => {
      for (const start of starts) {
        if (start >= view.start && start <= view.end) surface.fill(theme.accent, surface.sharp(surface.x(start)), y, 1, high);
      }
    };
    const [only] = meta.step_starts;
    const isOfAll = meta.step_starts.length === 1 && meta.processes.every(({ rank }) => rank < 0 || rank === only.rank);
    if (isOfAll) return draw(only.starts, top, height - top);
    const ofRank = new Map(meta.step_starts.map(({ rank, starts }) => [rank, starts]));
    for (const { y, height: high, process } of rows.between(scroll, scroll + height - top)) {
      draw(ofRank.get(process.rank) ?? [], y + top - scroll, high);
    }
  }

  /**
   * The ruler. Where ticks are much closer together than they are far from the start, the first one says where it is
   * and the others how much later they are: "64.907160 s", "+20.0 µs".
   */
  function drawRuler(timeline) {
    const { surface, theme, view } = timeline;
    const { gutter, plotWidth, overview, ruler } = surface;
    const middle = overview + ruler / 2;
    surface.fill(theme.bg, 0, overview, surface.width, ruler);
    surface.fill(theme.line, 0, overview + ruler - 1, surface.width, 1);
    surface.text(np.format.duration(view.length), 12, middle, gutter - 20, { font: theme.bold });
    const { ticks, step, inLongUnits } = rulerTicks(surface);
    const relative = ticks.length > 1 && ticks[0] > step * OFFSETS_FROM;
    const labels = relative ? relativeLabels(ticks, step, inLongUnits) : np.format.moments(ticks, step, inLongUnits);
    surface.within(gutter, overview, plotWidth, ruler, () => {
      ticks.forEach((tick, index) => {
        const x = surface.sharp(surface.x(tick));
        surface.fill(theme.dim, x, overview + ruler - 7, 1, 6);
        const color = relative && index === 0 ? theme.text : theme.dim;
        const fits = x + 5 + surface.textWidth(labels[index], theme.font) <= surface.width;
        if (fits) surface.text(labels[index], x + 5, middle, TICK_ROOM - 8, { color });
      });
    });
  }

  function relativeLabels([first, ...others], step, inLongUnits) {
    const later = np.format.moments(others.map((tick) => tick - first), step, inLongUnits);
    return [...np.format.moments([first], step, inLongUnits), ...later.map((label) => `+${label}`)];
  }

  /** How busy the whole trace is, and which part of it is shown. */
  function drawOverview(timeline) {
    const { surface, theme, view, meta } = timeline;
    const { gutter, plotWidth, overview } = surface;
    const { label, ratio } = meta.busy;
    surface.fill(theme.bg, 0, 0, surface.width, overview);
    const step = plotWidth / Math.max(1, ratio.length);
    surface.context.globalAlpha = 0.55;
    surface.context.fillStyle = theme.accent;
    ratio.forEach((share, i) => {
      const [left, right] = [surface.sharp(gutter + i * step), surface.sharp(gutter + (i + 1) * step)];
      const height = share * (overview - 8);
      if (share > 0) surface.context.fillRect(left, overview - 3 - height, right - left, height);
    });
    surface.context.globalAlpha = 1;
    drawFinds(timeline);
    const [x0, x1] = [view.start, view.end].map((moment) => surface.sharp(gutter + (moment / view.spanNs) * plotWidth));
    surface.context.globalAlpha = 0.55;
    surface.fill(theme.bg, gutter, 0, x0 - gutter, overview - 1);
    surface.fill(theme.bg, x1, 0, surface.width - x1, overview - 1);
    surface.context.globalAlpha = 1;
    surface.context.strokeStyle = theme.accent;
    surface.context.lineWidth = 1;
    surface.context.strokeRect(x0 + 0.5, 0.5, Math.max(x1 - x0 - 1, 2), overview - 2);
    surface.fill(theme.line, 0, overview - 1, surface.width, 1);
    if (label) {
      // the gutter beside it is taken by the field that filters the tracks
      const room = surface.textWidth(label, theme.font) + 8;
      surface.context.globalAlpha = 0.7;
      surface.fill(theme.bg, gutter + 4, 4, room, 14);
      surface.context.globalAlpha = 1;
      surface.text(label, gutter + 8, 11, room, { color: theme.dim });
    }
  }

  /** Where in the whole trace there is what is looked for. */
  function drawFinds({ surface, theme, search }) {
    if (!search.found) return;
    const { strip, strip_pixels: pixels } = search.found;
    const step = surface.plotWidth / pixels;
    for (const [from, to] of strip) {
      const x = surface.sharp(surface.gutter + from * step);
      surface.fill(theme.found, x, 1, Math.max((to - from) * step, FIND), FIND_HEIGHT);
    }
  }

  /** The names of processes and tracks: of those that scroll, then over them of those that stay on top. */
  function drawGutter(timeline) {
    const { surface, theme, rows, scroll } = timeline;
    const { gutter, top, height } = surface;
    const below = top + rows.pinnedHeight;
    const shown = rows.between(scroll, scroll + height - top);
    for (const [pinned, from, to] of [[false, below, height], [true, top, below]]) {
      surface.within(0, from, surface.width, to - from, () => {
        surface.fill(theme.panel, 0, from, gutter - 1, to - from);
        surface.fill(theme.line, gutter - 1, from, 1, to - from);
        for (const row of shown) {
          if (row.pinned !== pinned) continue;
          const y = row.y + top - scroll;
          if (row.kind === "process") drawProcess(timeline, row, y);
          // the name stays in sight while any of the track is
          else drawTrackName(timeline, row, Math.max(y, Math.min(from, y + row.height - NAME_ROOM)));
          surface.fill(theme.grid, 0, surface.sharp(y + row.height - 1), gutter, 1);
        }
      });
    }
    if (rows.pinnedHeight) surface.fill(theme.dim, 0, below - 1, surface.width, 1);
    np.drawDragged(timeline);
  }

  function drawProcess({ surface, theme }, row, y) {
    surface.fill(theme.bg, 0, y, surface.width, row.height - 1);
    const left = row.process.level * np.sizes.INDENT;
    drawChevron(surface, left + 14, y + row.height / 2, row.folded);
    const middle = y + row.height / 2 + 0.5;
    const { name, note } = row.process;
    surface.text(name, left + 26, middle, surface.width - 200, { font: theme.heading });
    const after = left + 26 + Math.min(surface.textWidth(name, theme.heading), surface.width - 200) + 12;
    surface.text(note, after, middle, surface.width - after - 12, { color: theme.dim });
  }

  function drawTrackName(timeline, row, y) {
    const { surface, theme } = timeline;
    const { track } = row;
    const left = row.pinned ? 0 : row.process.level * np.sizes.INDENT;
    const room = surface.gutter - left - 48;
    const middle = y + Math.min(12, row.height / 2);
    if (row.foldable) drawChevron(surface, left + 14, middle, row.folded);
    np.drawPin(timeline, row, y);
    const name = track.simulated ? `sim. ${track.name.replace(/ \(simulated\)$/, "")}` : track.name;
    surface.text(name, left + 26, middle, room);
    if (row.height >= 36) {
      const unit = track.counter?.high != null ? `up to ${np.format.value(track.counter.high, track.counter.unit)}` : "";
      const note = row.pinned ? row.process.name : unit || track.note;
      surface.text(note, left + 26, y + 28, room, { color: theme.dim });
    }
  }

  function drawChevron(surface, x, y, folded) {
    const c = surface.context;
    c.strokeStyle = surface.theme.dim;
    c.lineWidth = 1.5;
    c.beginPath();
    for (const [dx, dy] of folded ? [[-2, -4], [2, 0], [-2, 4]] : [[-4, -2], [0, 2], [4, -2]]) c.lineTo(x + dx, y + dy);
    c.stroke();
  }

  /** How far down the tracks are scrolled. */
  function drawScrollbar({ surface, theme, rows, scroll }) {
    const seen = surface.height - surface.top;
    if (rows.height <= seen) return;
    const height = Math.max(24, (seen / rows.height) * seen);
    const y = surface.top + (scroll / (rows.height - seen)) * (seen - height);
    surface.context.globalAlpha = 0.5;
    surface.fill(theme.dim, surface.width - 6, y, 4, height);
    surface.context.globalAlpha = 1;
  }

  Object.assign(np, { drawGrid, drawGutter, drawOverview, drawRuler, drawScrollbar });
})((window.npTimeline ??= {}));
