/**
 * Between Dash and the canvas. Dash puts the page into the document and takes it out again; the canvas lives as long
 * as its element. What the reader decides goes to one `dcc.Store` for each kind of event: results of a callback are
 * lost when two kinds share one.
 */
(function (np) {
  "use strict";

  const STORES = { slice: "np-timeline-slice", range: "np-timeline-range", view: "np-timeline-view" };
  let current = null;

  /** The timeline on the page, or null; for tests and for the console. */
  np.current = () => current;

  /** Begin a timeline in the element with this id, in place of the one before. */
  async function mount(id) {
    const host = document.getElementById(id);
    if (!host) return;
    current?.stop();
    current = null;
    host.textContent = "Laying out the slices…";
    let meta;
    try {
      meta = await (await np.get("meta")).json();
    } catch (error) {
      host.textContent = `The timeline could not be loaded. ${error.message}`;
      return;
    }
    if (!host.isConnected) return;
    const page = host.closest(".np-timeline");
    const timeline = new np.Timeline(host, meta, {
      searchHost: page.querySelector(".np-timeline-search"),
      told: (event, data) => {
        window.dash_clientside.set_props(STORES[event], { data });
        if (event !== "range") writeAddress(timeline);
        if (event === "view") tellRange(timeline);
      },
    });
    current = timeline;
    page.addEventListener("click", (event) => clicked(timeline, event), { signal: timeline.listening.signal });
    window.addEventListener("popstate", () => readAddress(timeline), { signal: timeline.listening.signal });
    stopWithElement(timeline);
    readAddress(timeline);
    host.dataset.mounted = "true";
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

  // The address has absolute times, t0 and t1, in nanoseconds: more digits than a double holds.

  function readAddress(timeline) {
    const given = new URL(window.location.href).searchParams;
    const origin = BigInt(timeline.meta.start_ns);
    const moment = (name) => (/^-?\d{1,19}$/.test(given.get(name) ?? "") ? Number(BigInt(given.get(name)) - origin) : null);
    const [start, end] = [moment("t0"), moment("t1")];
    if (start !== null && end !== null && start < end) timeline.view.set(start, end);
    if (/^\d{1,15}$/.test(given.get("slice") ?? "")) timeline.goTo(Number(given.get("slice")));
  }

  function writeAddress({ meta, view, selection }) {
    const address = new URL(window.location.href);
    const absolute = (moment) => String(BigInt(meta.start_ns) + BigInt(Math.round(moment)));
    address.searchParams.set("t0", absolute(view.start));
    address.searchParams.set("t1", absolute(view.end));
    if (selection) address.searchParams.set("slice", selection.id);
    else address.searchParams.delete("slice");
    history.replaceState(history.state, "", address);
  }

  /** The chip at the top says which part of the trace is seen. */
  function tellRange({ view }) {
    const [seen, whole] = [view.length, view.spanNs].map(np.format.duration);
    const children = view.length < view.spanNs ? `${seen} of ${whole}` : `whole trace, ${whole}`;
    window.dash_clientside.set_props("np-range", { children });
  }

  window.dash_clientside ??= {};
  window.dash_clientside.npTimeline = {
    mount(id) {
      mount(id);
      return window.dash_clientside.no_update;
    },

    /** Show on the canvas where the operation of a selected row of a table is. */
    find(rows) {
      if (rows?.length) current?.search.set(rows[0].name);
      return window.dash_clientside.no_update;
    },

    /** Go to a slice that a callback chose. */
    go(slice) {
      if (slice) current?.goTo(slice.id);
      return window.dash_clientside.no_update;
    },
  };
})((window.npTimeline ??= {}));
