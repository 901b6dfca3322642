// Charts on the time axis of the trace: a range dragged in one is the range everywhere, a double click clears it.
// A figure says in layout.meta what its axis means (explorer_app/web/time_axis.py).
(function () {
  'use strict';
  const NEAR = 1e-6;  // as a share of what is shown: a range no further from it is the same

  function dragged(change) {
    if (!change) return null;
    const range = change['xaxis.range'] ?? [change['xaxis.range[0]'], change['xaxis.range[1]']];
    return range.every(Number.isFinite) ? range : null;
  }

  /** The range that a change of the axis asks for, in ns since the start of the trace; null for none, undefined for no change. */
  function spanOf(change, meta) {
    if (change?.['xaxis.autorange']) return null;
    const range = dragged(change);
    if (!range) return undefined;
    const [first, last] = meta.np_shown;
    const near = (last - first) * NEAR;
    // plotly answers a double click with the range that it was given at first
    if (Math.abs(range[0] - first) <= near && Math.abs(range[1] - last) <= near) return null;
    const [start, end] = range.map((moment) => meta.np_before_ns + moment * meta.np_unit_ns);
    return { start: Math.floor(start), end: Math.max(Math.ceil(end), Math.floor(start) + 1) };
  }

  function choose(_changes, figures) {
    const { triggered, inputs_list: listed } = window.dash_clientside.callback_context;
    for (const { prop_id: source } of triggered) {
      const at = listed[0].findIndex(({ id }) => source.includes(`"chart":"${id.chart}"`));
      const meta = figures[at]?.layout?.meta;
      const span = meta?.np_shown && spanOf(listed[0][at].value, meta);
      if (span !== undefined) window.np.setSpan(span);
    }
  }

  // --- points that stand for something on the timeline: the second of their `customdata` is its address, or, in a heat
  // map, of whose points Dash tells no lists, all of it
  function follow(_clicks) {
    for (const { value } of window.dash_clientside.callback_context.triggered) {
      const custom = value?.points?.[0]?.customdata;
      const href = typeof custom === 'string' ? custom : custom?.[1];
      if (typeof href !== 'string' || !href.startsWith('/')) continue;
      history.pushState(history.state, '', href);
      window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));  // dcc.Location looks at the address again
    }
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, { npCharts: { choose, follow } });
})();
