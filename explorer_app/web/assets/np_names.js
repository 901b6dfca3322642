// Names from a trace as explorer_app/web/names.py shows them; tests/web/test_names.py holds the two together.
(function () {
  'use strict';
  const NO_NAME = '(no name)';
  const LONGEST_LABEL = 400;
  const LONGEST_TOOLTIP = 2000;
  // The characters of explorer_app/reporters/visible.py.
  const UNSAFE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu;
  const SHOWS = /[^ \xa0\u3000]/;
  const SHORT = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

  function escaped(character) {
    const code = character.charCodeAt(0);
    return SHORT[character] || (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`);
  }

  function named(text, longest = LONGEST_LABEL) {
    if (text === null || text === undefined) return '–';
    // the server counts characters, not their halves
    const characters = text.length > longest ? Array.from(text.slice(0, 2 * longest + 2)) : [];
    const cut = characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text;
    return SHOWS.test(cut) ? cut.replace(UNSAFE, escaped) : NO_NAME;
  }

  window.np = Object.assign(window.np || {}, { named, nameTooltip: (text) => named(text, LONGEST_TOOLTIP) });
})();
