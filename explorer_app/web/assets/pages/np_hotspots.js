// The Hotspots page in the browser: what its address asks for, and clicks on the areas of its tree.
(function () {
  'use strict';
  const PATH = '/hotspots';
  const BESIDE = window.matchMedia('(min-width: 1800px)');  // room for the icicle beside the grid
  const here = (pathname) => (pathname ?? '').replace(/\/$/, '') === PATH;

  function asked(search, pathname, by, shape) {
    const none = window.dash_clientside.no_update;
    if (!here(pathname)) return [none, none];  // the page is being left
    const given = new URLSearchParams(search ?? '');
    const nextBy = given.get('by') ?? 'name';
    const next = {
      show: given.get('show'), tree: given.get('tree'), size: given.get('size'), wide: BESIDE.matches,
    };
    const same = shape && Object.keys(next).every((part) => shape[part] === next[part]);
    return [nextBy === by ? none : nextBy, same ? none : next];
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, { npHotspots: { asked } });

  // A click selects an area, a double click goes into it, a click on the path goes back: at once, without a movement.
  function choose(graph, happened) {
    const [point] = happened.points;
    const event = happened.event;
    const onPath = event.target.closest('.pathbar');
    if (event.detail > 1 || onPath) {
      if (happened.nextLevel !== undefined) window.Plotly.restyle(graph, { level: [happened.nextLevel] });
    } else if (point.id !== 'all') {
      window.dash_clientside.set_props('np-hotspots-node', { data: { id: point.id, at: event.timeStamp } });
    }
    return false;
  }

  document.addEventListener('pointerdown', (event) => {
    const graph = event.target.closest?.('#np-hotspots-tree .js-plotly-plot');
    if (!graph?.on) return;
    for (const kind of ['plotly_icicleclick', 'plotly_treemapclick']) {
      graph.removeAllListeners(kind);
      graph.on(kind, (happened) => choose(graph, happened));
    }
  }, true);
})();
