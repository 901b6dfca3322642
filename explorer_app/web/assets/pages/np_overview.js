// The Overview in the browser: a click on a step looks at it alone, on every page.
(function () {
  'use strict';

  document.addEventListener('pointerdown', (event) => {
    const graph = event.target.closest?.('#np-breakdown-steps .js-plotly-plot');
    if (!graph?.on) return;
    graph.removeAllListeners('plotly_click');
    graph.on('plotly_click', ({ points: [point] }) => {
      const [, start, end] = point.customdata;
      window.np.setSpan({ start, end });
    });
  }, true);
})();
