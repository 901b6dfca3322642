// Chooses the colour scheme before anything is painted. Mantine keeps the user's choice under this key.
(function () {
  'use strict';
  let chosen = null;
  try { chosen = localStorage.getItem('mantine-color-scheme-value'); } catch { /* storage is off: follow the system */ }
  if (chosen !== 'light' && chosen !== 'dark') {
    chosen = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }
  document.documentElement.setAttribute('data-mantine-color-scheme', chosen);
})();
