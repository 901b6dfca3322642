// Two timelines that move together, aligned on a step of each (explorer_app/web/pages/compare/timelines.py).
(function () {
  'use strict';
  const MARGIN = 0.15;
  let pair = [];

  /** Show in `other` the moments that `moved` shows, in time since the step on which both are aligned. */
  function follow(moved, other) {
    const { start, end } = moved.view;
    const by = other.aligned - moved.aligned;
    if (Math.abs(other.view.start - start - by) < 0.5 && Math.abs(other.view.end - end - by) < 0.5) return;
    other.following = true;
    other.view.set(start + by, end + by);
    other.following = false;
  }

  function link(timelines) {
    const before = Math.min(...timelines.map(({ aligned }) => -aligned));
    const after = Math.max(...timelines.map(({ aligned, view }) => view.spanNs - aligned));
    for (const timeline of timelines) {
      const { view, aligned } = timeline;
      [view.first, view.last] = [aligned + before, aligned + after];
      const redraw = view.changed;
      view.changed = () => {
        redraw();
        if (timeline.following) return;
        for (const other of timelines) if (other !== timeline) follow(timeline, other);
      };
    }
  }

  /** Say beside the canvas which slice is selected, and lead to it. */
  function tell(timeline) {
    const line = timeline.host.parentElement.querySelector('.np-compare-selected');
    const { selection } = timeline;
    if (!selection) {
      line.replaceChildren();
      return;
    }
    const href = new URL(timeline.host.dataset.timeline, location.origin);
    href.searchParams.set('slice', selection.id);
    const name = Object.assign(document.createElement('a'), { href, textContent: selection.name });
    line.replaceChildren(name, ` ${window.np.format(selection.dur, 'duration')}`);
  }

  const isNew = ({ host }) => host.dataset.side === 'new';
  const keysOf = (hosts) => hosts.map(({ dataset }) => dataset.trace).join();

  /** A range of the new trace is that of the whole explorer; one of the base is only measured. */
  function choose(timeline, range) {
    if (isNew(timeline)) {
      window.np.setSpan(range, timeline.meta.start_ns);
      return;
    }
    tell(timeline);
    if (!range) return;
    const line = timeline.host.parentElement.querySelector('.np-compare-selected');
    const length = window.np.format(range.end - range.start, 'duration');
    line.textContent = `${length} measured here only: the range of all pages is chosen on the new trace`;
  }

  /** The new trace shows the range that the address has. */
  function readRange(timeline) {
    if (!isNew(timeline)) return;
    timeline.range = window.np.span(timeline.meta.start_ns);
    timeline.invalidate();
  }

  async function mount(id) {
    const before = pair.length ? { keys: keysOf(pair.map(({ host }) => host)), ...pair[0].view } : null;
    for (const timeline of pair) timeline.stop();
    pair = [];
    const hosts = [...(document.getElementById(id)?.querySelectorAll('.np-timeline-canvas') ?? [])];
    let pointed = hosts[0];
    const begun = await Promise.all(hosts.map(async (host) => {
      const aside = () => document.createElement('div');
      const search = host.parentElement.querySelector('.np-timeline-search');
      search.replaceChildren();
      const timeline = await window.npTimeline.begin(host, {
        parts: { search, tools: aside(), legend: aside(), notes: aside() },
        told: (event, data) => {
          if (event === 'slice') tell(timeline);
          else if (event === 'range') choose(timeline, data);
        },
        hears: () => host === pointed,
      });
      for (const event of ['pointerenter', 'focusin']) host.addEventListener(event, () => { pointed = host; });
      if (timeline) Object.assign(timeline, { aligned: Number(host.dataset.aligned), following: false });
      return timeline;
    }));
    if (begun.length !== 2 || !begun.every((timeline) => timeline?.host.isConnected)) return;
    pair = begun;
    link(pair);
    const longest = Math.max(...hosts.map(({ dataset }) => Number(dataset.step)));
    const [first] = pair;
    for (const timeline of pair) readRange(timeline);
    // the page is made anew when the range changes: the reader goes on looking at the same moments
    if (before?.keys === keysOf(hosts)) first.view.set(before.start, before.end);
    else first.view.set(first.aligned - longest * MARGIN, first.aligned + longest * (1 + MARGIN));
  }

  /** The two timelines of the page; for tests and for the console. */
  (window.np ??= {}).compared = () => pair;

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    npCompare: {
      mount(id) {
        mount(id);
        return window.dash_clientside.no_update;
      },
    },
  });
})();
