/**
 * Between Dash and the canvas. Dash puts the page into the document and takes it out again; the canvas lives as long
 * as its element. What the reader decides goes to one `dcc.Store` for each kind of event: results of a callback are
 * lost when two kinds share one.
 */
(function (np) {
  "use strict";

  const STORES = { slice: "np-timeline-slice", range: "np-timeline-range", view: "np-timeline-view" };
  const ASK_AGAIN_MS = 150;
  const NOT_YET = 204;
  let current = null;

  /** The timeline on the page, or null; for tests and for the console. */
  np.current = () => current;

  /**
   * Begin a timeline in an element, whose `data-trace` is the key of its trace; null where that failed or the element is
   * gone by then. It ends with its element. @param {object} page what `Timeline` is given beyond the trace itself
   */
  np.begin = async (host, page) => {
    host.textContent = "Laying out the slices…";
    const get = np.source(host.dataset.trace);
    let meta;
    try {
      meta = await (await get("meta")).json();
    } catch (error) {
      host.textContent = `The timeline could not be loaded. ${error.message}`;
      return null;
    }
    if (!host.isConnected) return null;
    const timeline = new np.Timeline(host, meta, { get, key: host.dataset.trace, ...page });
    stopWithElement(timeline);
    host.dataset.mounted = "true";
    if (!meta.is_whole) complete(timeline);
    return timeline;
  };

  /** Begin the timeline of the page in the element with this id, in place of the one before. */
  async function mount(id) {
    const host = document.getElementById(id);
    if (!host) return;
    current?.stop();
    current = null;
    const page = host.closest(".np-timeline");
    const timeline = await np.begin(host, {
      parts: {
        search: page.querySelector(".np-timeline-search"),
        tools: page.querySelector(".np-timeline-tools"),
        legend: page.querySelector(".np-timeline-legend"),
        warnings: page.querySelector(".np-timeline-warnings"),
        notes: page.querySelector(".np-timeline-notes"),
      },
      told: (event, data) => {
        if (event in STORES) window.dash_clientside.set_props(STORES[event], { data });
        if (event === "range") window.np.setSpan(data, timeline.meta.start_ns);
        else if (event === "jump") np.address.jump(timeline);
        else np.address.write(timeline);
      },
    });
    if (!timeline) return;
    current = timeline;
    // who came by the navigation has its link in focus, where keys are not for the canvas
    if (document.activeElement?.matches(".np-nav-link")) host.focus({ preventScroll: true });
    page.addEventListener("click", (event) => clicked(timeline, event), { signal: timeline.listening.signal });
    // back, forward, and what the chip or a page did to the range
    for (const moved of ["popstate", "_dashprivate_pushstate"]) {
      window.addEventListener(moved, () => readRange(timeline), { signal: timeline.listening.signal });
    }
    window.addEventListener("popstate", () => np.address.read(timeline), { signal: timeline.listening.signal });
    readRange(timeline);
    np.address.read(timeline);
  }

  /** Wait until the whole trace is laid out, and show it. */
  async function complete(timeline) {
    const { signal } = timeline.listening;
    try {
      let response;
      do {
        await new Promise((done) => setTimeout(done, ASK_AGAIN_MS));
        response = await timeline.get("meta?stage=whole", signal);
      } while (response.status === NOT_YET);
      await timeline.complete(await response.json());
    } catch (error) {
      if (error.name !== "AbortError") timeline.failed(error);
    }
  }

  /** Stop a timeline when its element has left the document. */
  function stopWithElement(timeline) {
    const observer = new MutationObserver(() => {
      if (timeline.host.isConnected) return;
      observer.disconnect();
      timeline.stop();
      if (current === timeline) current = null;
    });
    observer.observe(document.body, { childList: true, subtree: true });
  }

  /** Elements of the page with `data-slice` lead to that slice. */
  function clicked(timeline, event) {
    const target = event.target.closest("[data-slice]");
    if (target) timeline.goTo(Number(target.dataset.slice));
  }

  /** The measured range is the one that the address has: the whole explorer looks at it. */
  function readRange(timeline) {
    const chosen = window.np.span(timeline.meta.start_ns);
    const shown = timeline.range;
    if (chosen?.start === shown?.start && chosen?.end === shown?.end) return;
    timeline.range = chosen;
    window.dash_clientside.set_props(STORES.range, { data: chosen });
    timeline.invalidate();
  }

  window.dash_clientside ??= {};
  window.dash_clientside.npTimeline = {
    mount(id) {
      mount(id);
      return window.dash_clientside.no_update;
    },

    /** Show on the canvas where the operation of a selected row of a table is. */
    find(rows) {
      if (rows?.length) current?.search.exactly(rows[0].name);
      return window.dash_clientside.no_update;
    },

    /** Go to a slice that a callback chose. */
    go(slice) {
      if (slice) current?.goTo(slice.id);
      return window.dash_clientside.no_update;
    },
  };
})((window.npTimeline ??= {}));
