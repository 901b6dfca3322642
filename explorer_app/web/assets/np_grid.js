// What the grids need in the browser: formats, cells with bars and marks, copying.
(function () {
  'use strict';
  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  functions.npFormat = window.np.format;
  functions.npExact = window.np.exact;
  functions.npParse = window.np.parse;
  functions.npNamed = (text) => window.np.named(text);
  functions.npNameTooltip = (text) => window.np.nameTooltip(text);
  functions.npLeaveToBrowser = () => false;

  const cells = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const element = (...args) => window.React.createElement(...args);
  const color = (category) => `var(--np-cat-${category})`;

  cells.NpShare = function (props) {
    const known = Number.isFinite(props.value);
    const width = known ? `${Math.min(Math.max(props.value, 0), 1) * 100}%` : '0';
    const background = props.data.category ? color(props.data.category) : 'var(--np-accent)';
    return element('span', { className: 'np-share' },
      element('span', { className: 'np-bar' }, element('span', { style: { width, background } })),
      element('span', { className: 'np-bar-number' }, window.np.format(props.value, 'ratio')));
  };

  cells.NpCategory = function (props) {
    return element('span', { className: 'np-category' },
      element('span', { className: 'np-swatch', style: { background: color(props.value) } }),
      String(props.value).replaceAll('_', ' '));
  };

  cells.NpEstimated = function (props) {
    const isEstimate = props.data.estimated_ratio > 0;
    const exact = window.np.exact(props.value, props.unit);
    return element('span', { title: isEstimate ? `${exact}\n${props.why}` : exact },
      props.valueFormatted, isEstimate ? element('span', { className: 'np-est' }, ' est.') : null);
  };

  // Esc backs out one level: here, from the chosen row.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
    for (const grid of document.querySelectorAll('.np-grid[id]')) {
      const api = window.dash_ag_grid.getApi(grid.id);
      if (!api?.getSelectedNodes().length) continue;
      api.deselectAll();
      event.preventDefault();
    }
  });

  // Tabs and line ends inside a value would break the table; everything else is copied as it is.
  const field = (value) => (value === null || value === undefined ? '' : String(value).replace(/[\t\r\n]+/g, ' '));

  function tsv(api) {
    const columns = api.getAllDisplayedColumns();
    const lines = [columns.map((column) => column.getColDef().headerName)];
    api.forEachNodeAfterFilterAndSort((node) => lines.push(columns.map((column) => node.data[column.getColId()])));
    return lines.map((line) => line.map(field).join('\t')).join('\n') + '\n';
  }

  document.addEventListener('click', async (event) => {
    const button = event.target.closest('.np-copy');
    if (!button) return;
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(tsv(window.dash_ag_grid.getApi(button.dataset.grid)));
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'The browser does not allow copying here';
    }
    setTimeout(() => { button.textContent = said; }, 1500);
  });
})();
