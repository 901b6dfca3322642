// What a reader is told when the server does not answer a page's request: why, and what to do. The timeline, the notes
// and the dialog tell it themselves, where they stand.
(function () {
  'use strict';
  const PART_OF_A_PAGE = '/_dash-update-component';
  const GONE = 'The explorer does not answer any more: start it again in the terminal and open the address that it prints.';
  const ask = window.fetch;

  function tell(words) {
    const said = document.getElementById('np-lost');
    if (!said) return;
    said.hidden = !words;
    said.querySelector('p').textContent = words;
    if (words) window.dash_clientside.set_props('np-busy', { hidden: true });  // Dash leaves it for an answer that never comes
  }

  window.fetch = async function (resource, options) {
    const address = new URL(resource instanceof Request ? resource.url : resource, location.href);
    if (address.pathname !== PART_OF_A_PAGE) return ask.call(window, resource, options);
    let answer;
    try {
      answer = await ask.call(window, resource, options);
    } catch (error) {
      if (error.name !== 'AbortError') tell(GONE);
      throw error;
    }
    tell(answer.ok ? '' : `A part of this page is missing: ${(await answer.clone().text()).trim()}.`);
    return answer;
  };
})();
