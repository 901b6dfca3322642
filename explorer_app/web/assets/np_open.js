// The dialog that opens another trace, or goes to one that is open. What comes from the server is put in as text.
(function () {
  'use strict';
  const ASK_MS = 250;
  const make = (tag, props = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), props);
    element.append(...children);
    return element;
  };

  async function ask(path, options) {
    const response = await fetch(`/_open/${path}`, options);
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  }
  const post = (path, body) => ask(path, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}),
  });

  let asBase = false;  // what is opened is to be compared with, not looked at

  /** Look at an open trace, whole, on the page that is shown; or compare what is looked at with it. */
  function goTo(key, first) {
    const next = asBase ? new URL(location.href) : new URL(location.pathname, location.origin);
    if (asBase) next.searchParams.set('base', key);
    else if (key !== first) next.searchParams.set('trace', key);
    document.getElementById('np-open').close();
    history.pushState(null, '', next);
    window.dispatchEvent(new CustomEvent('_dashprivate_pushstate'));
  }

  function show(found, said = '') {
    const body = document.getElementById('np-open-body');
    const button = (text, act, hint = '') => make('button', { className: 'np-open-row', type: 'button', onclick: act },
      make('span', { textContent: text }), make('span', { className: 'np-note', textContent: hint }));
    const opened = found.opened.map(({ key, title }) => button(title, () => goTo(key, found.first), 'open'));
    const list = [];
    if (found.folder === null) list.push(...found.roots.map((root) => button(root, () => browse(root))));
    else {
      list.push(make('p', { className: 'np-dim np-open-folder', textContent: found.folder }));
      list.push(button('Open this folder as one job', () => begin(found.folder, found)));
      if (found.parent !== null) list.push(button('..', () => browse(found.parent)));
      else if (found.roots.length > 1) list.push(button('..', () => browse('')));
      for (const entry of found.entries) {
        list.push(entry.is_folder
          ? button(`${entry.name}/`, () => browse(entry.path))
          : button(entry.name, () => begin(entry.path, found), window.np.format(entry.size_bytes, 'size')));
      }
      if (found.more) list.push(make('p', { className: 'np-dim', textContent: `and ${found.more} more, which are not listed` }));
    }
    body.replaceChildren(
      make('p', { className: 'np-open-said', role: 'status', textContent: said }),
      make('h3', { textContent: 'Open now' }), ...opened,
      make('h3', { textContent: 'Open another' }), make('div', { className: 'np-open-list' }, ...list),
    );
  }

  async function browse(folder, said) {
    try {
      show(await ask(`list?folder=${encodeURIComponent(folder)}`), said);
    } catch (error) {
      document.querySelector('.np-open-said')?.replaceChildren(error.message);
    }
  }

  /** Open a path, telling how far it is, until it is there, failed, or is not wanted any more. */
  async function begin(path, found) {
    const body = document.getElementById('np-open-body');
    const bar = make('progress', { max: 1 });
    bar.setAttribute('aria-label', 'How much of the file is read');
    const said = make('p', { role: 'status', textContent: 'Opening…' });
    const back = (words) => browse(found.folder ?? '', words);
    try {
      const { job } = await post('start', { path });
      const cancel = make('button', {
        className: 'np-button', type: 'button', textContent: 'Cancel', onclick: () => post(`cancel/${job}`),
      });
      body.replaceChildren(said, bar, cancel);
      for (;;) {
        const told = await ask(`job/${job}`);
        const { done_bytes: done, total_bytes: total } = told;
        if (told.ended) {
          if (told.key) goTo(told.key, found.first);
          else await back(told.error);
          return;
        }
        said.textContent = `Opening ${told.title}…`;
        if (total) {
          bar.value = done / total;
          said.textContent += ` ${window.np.format(done, 'size')} of ${window.np.format(total, 'size')} read`;
        }
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      }
    } catch (error) {
      await back(error.message);
    }
  }

  document.addEventListener('click', (event) => {
    const dialog = document.getElementById('np-open');
    const button = event.target.closest('#np-open-button, [data-open-as]');
    if (button) {
      asBase = button.dataset.openAs === 'base';
      dialog.showModal();
      browse('');
    } else if (event.target.closest('#np-open-close') || event.target === dialog) dialog.close();
  });
})();
