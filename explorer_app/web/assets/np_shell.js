// What surrounds the pages in the browser: navigation marks, colour scheme, keys, charts' colours.
(function () {
  'use strict';
  const root = document.documentElement;
  const scheme = () => (root.getAttribute('data-mantine-color-scheme') === 'dark' ? 'dark' : 'light');

  // --- colour scheme: Mantine sets the attribute, everything else follows it
  function follow() {
    if (document.body) document.body.dataset.agThemeMode = scheme();
    if (window.dash_clientside && window.dash_clientside.set_props) {
      window.dash_clientside.set_props('np-scheme', { data: scheme() });
    }
  }
  new MutationObserver(follow).observe(root, { attributes: true, attributeFilter: ['data-mantine-color-scheme'] });

  // --- charts: figures name the theme's colours ("var(--np-accent)", "var(--np-accent) 20%"), here they get their values
  const FEW = 4;  // longer lists of values are data and name no colours, unless they begin with one
  const NAMED = /^var\((--np-[\w-]+)\)(?: (\d+)%)?$/;

  function colored(value, styles) {
    if (typeof value === 'string') {
      const found = NAMED.exec(value);
      if (!found) return value;
      const color = styles.getPropertyValue(found[1]).trim();
      return found[2] ? color + Math.round(found[2] * 2.55).toString(16).padStart(2, '0') : color;
    }
    if (Array.isArray(value)) {
      return value.length > FEW && typeof value[0] !== 'object' && !String(value[0]).startsWith('var(')
        ? value : value.map((item) => colored(item, styles));
    }
    if (value && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, colored(item, styles)]));
    }
    return value;
  }

  function paint(graph, known) {
    if (!known) return window.dash_clientside.no_update;  // the scheme comes in a moment
    const figure = colored(graph.props.figure, getComputedStyle(root));
    return { ...graph, props: { ...graph.props, figure } };
  }

  // --- navigation
  let pages = [];
  const address = (path) => (path && path.length > 1 ? path.replace(/\/$/, '') : '/');

  let waiting = null;

  // Scrolls to the element that the address names, as soon as its page is there.
  function reveal(hash) {
    if (waiting) waiting.disconnect();
    waiting = null;
    if (!hash || hash.length < 2) return;
    const show = () => {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)));
      if (target) target.scrollIntoView();
      return Boolean(target);
    };
    if (show()) return;
    waiting = new MutationObserver(() => { if (show()) reveal(''); });
    waiting.observe(document.body, { childList: true, subtree: true });
  }

  function arrive(pathname, hash, about) {
    pages = about.pages;
    follow();
    const here = pages.find((page) => page.path === address(pathname));
    for (const link of document.querySelectorAll('.np-nav-link')) {
      if (here && link.getAttribute('href') === here.path) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    reveal(hash);
    document.title = `${here ? here.name : 'Not found'} – ${about.title}`;
    return [`Working out ${here ? here.name : 'the page'}…`, about.range];
  }

  // By what the hotspots are grouped: the address says so.
  function grouping(search, pathname) {
    if (address(pathname) !== '/hotspots') return window.dash_clientside.no_update;  // the page is being left
    return new URLSearchParams(search || '').get('by') ?? 'name';
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    np: { arrive, grouping, paint },
  });

  // --- keys
  const typing = (target) => target.closest && target.closest('input, textarea, select, [contenteditable=true]');

  function toggleKeys() {
    const dialog = document.getElementById('np-keys');
    if (!dialog) return;
    if (dialog.open) {
      dialog.close();
      return;
    }
    for (const group of dialog.querySelectorAll('section')) {
      group.hidden = group.dataset.page !== '' && group.dataset.page !== address(location.pathname);
    }
    dialog.showModal();
  }

  document.addEventListener('click', (event) => {
    if (event.target.closest('#np-keys-open, #np-keys-close') || event.target.id === 'np-keys') toggleKeys();
  });
  document.addEventListener('keydown', (event) => {
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '?') {
      toggleKeys();
      event.preventDefault();
    } else if (/^[1-9]$/.test(event.key) && pages[event.key - 1]) {
      document.querySelector(`.np-nav-link[href="${pages[event.key - 1].path}"]`).click();
    }
  });
})();
