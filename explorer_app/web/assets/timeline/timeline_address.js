/**
 * The address holds what is shown: a copied link opens exactly that, and the browser's back button undoes jumps.
 *
 * Each part of what is shown registers here under the names of its parameters. Jumps make a new entry of the browser's
 * history (`jump`, before anything changes); all else changes the entry at hand (`write`).
 */
(function (np) {
  "use strict";

  const LONGEST = 2000;

  /** @type {{names: string[], read: Function, write: Function}[]} in the order in which they are read */
  const parts = [];
  let reading = false;
  /** The address that the last jump left behind, as long as nothing has changed since; "" otherwise. */
  let left = "";

  /**
   * @param {string | string[]} names of the parameters
   * @param {(timeline: object, ...texts: (string | null)[], given: URLSearchParams) => void} read shows what the texts
   *   say, null being the default; `given` is all that the address has
   * @param {(timeline: object) => (string | null) | (string | null)[]} write the texts, null for the default
   */
  function register(names, read, write) {
    parts.push({ names: [names].flat(), read, write });
  }

  /** Show what the address says. */
  function read(timeline) {
    if (!isHere(timeline)) return;
    const given = new URLSearchParams(location.search);
    reading = true;
    for (const part of parts) part.read(timeline, ...part.names.map((name) => given.get(name)), given);
    reading = false;
    left = "";
  }

  /** Have the address say what is shown. */
  function write(timeline) {
    if (reading || !isHere(timeline)) return;
    const address = new URL(location.href);
    for (const part of parts) {
      const texts = [part.write(timeline)].flat();
      part.names.forEach((name, index) => {
        const text = texts[index];
        if (text === null || text === "" || text.length > LONGEST) address.searchParams.delete(name);
        else address.searchParams.set(name, text);
      });
    }
    if (address.href === location.href) return;
    history.replaceState(history.state, "", address);
    left = "";
  }

  /** Leave what is shown behind in the history: what changes from now on is a new entry. */
  function jump(timeline) {
    if (reading || !isHere(timeline)) return;
    write(timeline);
    if (location.href === left) return; // the entry at hand is new already
    history.pushState(history.state, "", location.href);
    left = location.href;
  }

  /** The history may already be at another page while this one is still in the document. */
  const isHere = (timeline) => location.pathname === timeline.path;

  // Absolute times in nanoseconds: more digits than a double holds.
  register(
    ["t0", "t1"],
    (timeline, t0, t1) => {
      const { view, meta } = timeline;
      const origin = BigInt(meta.start_ns);
      const texts = [t0, t1];
      const known = texts.every((text) => /^-?\d{1,19}$/.test(text ?? ""));
      const [start, end] = known ? texts.map((text) => Number(BigInt(text) - origin)) : [0, view.spanNs];
      if (start < end && (start !== view.start || end !== view.end)) view.set(start, end);
    },
    ({ view, meta }) => {
      const { start, end } = view.goal ?? view;
      if (start === 0 && end === view.spanNs) return [null, null];
      return [start, end].map((moment) => String(BigInt(meta.start_ns) + BigInt(Math.round(moment))));
    },
  );
  register(
    "slice",
    (timeline, text, given) => {
      if (!/^\d{1,15}$/.test(text ?? "")) return timeline.deselect();
      if (timeline.selection?.id === Number(text)) return;
      // where the address says what is in sight, the slice may be out of it
      const itsLane = !given.has("y");
      timeline.goTo(Number(text), { jump: false, itsLane, itsTime: itsLane && !given.has("t0") });
    },
    ({ selection }) => (selection ? String(selection.id) : null),
  );

  np.address = { jump, read, register, write };
})((window.npTimeline ??= {}));
