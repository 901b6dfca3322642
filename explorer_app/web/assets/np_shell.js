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
  let about = {};
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

  // --- what is being looked at: the address has the key of the trace and a range of time on its clock
  const PARTS = ['trace', 'from', 'to'];
  const none = () => window.dash_clientside.no_update;

  function look(search, seen, links) {
    const given = new URLSearchParams(search || '');
    const view = Object.fromEntries(PARTS.map((part) => [part, given.get(part)]));
    if (seen && PARTS.every((part) => seen[part] === view[part])) return [none(), none(), none(), links.map(none)];
    const carried = new URLSearchParams(Object.entries(view).filter(([, value]) => value !== null)).toString();
    const hrefs = links.map(({ path }) => (carried ? `${path}?${carried}` : path));
    const changed = (...parts) => !seen || parts.some((part) => seen[part] !== view[part]);
    return [
      view,
      changed('trace') ? view.trace ?? '' : none(),
      changed('from', 'to') ? { from: view.from, to: view.to } : none(),
      hrefs,
    ];
  }

  /** Look at [start, end), in ns since `origin`, the start of the trace; null for the whole trace. Every page follows. */
  function setSpan(span, origin = about.start) {
    const next = new URL(location.href);
    if (span && origin) {
      next.searchParams.set('from', String(BigInt(origin) + BigInt(Math.round(span.start))));
      next.searchParams.set('to', String(BigInt(origin) + BigInt(Math.round(span.end))));
    } else {
      next.searchParams.delete('from');
      next.searchParams.delete('to');
    }
    if (next.href === location.href) return;
    history.pushState(history.state, '', next);
    window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));  // dcc.Location looks at the address again
  }

  /** The chosen range as {start, end} in ns since the start of the trace; null for none. */
  function span(origin = about.start) {
    const given = new URLSearchParams(location.search);
    const asked = ['from', 'to'].map((part) => given.get(part) ?? '');
    if (!origin || !asked.every((moment) => /^-?\d{1,19}$/.test(moment))) return null;
    const [start, end] = asked.map((moment) => Number(BigInt(moment) - BigInt(origin)));
    return start < end ? { start, end } : null;
  }

  function tellSpan(_pathname, _span, told) {
    about = told ?? {};
    const chosen = span();
    const duration = (ns) => window.np.format(ns, 'duration');
    const given = new URLSearchParams(location.search);
    if (!chosen && (given.has('from') || given.has('to'))) {
      return [`${about.range ?? ''} – the address names no range: "from" must lie before "to"`, false];
    }
    const words = chosen && `${duration(chosen.end - chosen.start)} from ${duration(chosen.start)}`;
    return [words ?? about.range ?? '', !chosen];
  }

  function arrive(pathname, hash, told, listed) {
    pages = listed;
    about = told ?? {};
    follow();
    const here = pages.find((page) => page.path === address(pathname));
    for (const link of document.querySelectorAll('.np-nav-link')) {
      if (here && address(new URL(link.href).pathname) === here.path) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    reveal(hash);
    document.title = `${here ? here.name : 'Not found'} – ${about.title ?? 'Neuron Explorer'}`;
    return `Working out ${here ? here.name : 'the page'}…`;
  }

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    np: { arrive, look, paint, tellSpan },
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
    if (event.target.closest('#np-range-clear')) setSpan(null);
  });
  // the timeline backs out level by level itself, a dialog closes
  const busy = () => window.npTimeline?.current() || document.querySelector('dialog[open]');

  document.addEventListener('keydown', (event) => {
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '?') {
      toggleKeys();
      event.preventDefault();
    } else if (/^[1-9]$/.test(event.key) && pages[event.key - 1]) {
      document.querySelectorAll('.np-nav-link')[event.key - 1].click();
    } else if (event.key === 'Escape' && !event.defaultPrevented && !busy()) {
      setSpan(null);
    }
  });

  Object.assign((window.np ??= {}), { setSpan, span });
})();
