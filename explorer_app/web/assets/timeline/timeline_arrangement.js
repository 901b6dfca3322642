/**
 * How the reader arranged the tracks: which are on top, in what order the others stand, which are left out by the
 * filter, how high they are. The address has it all.
 */
(function (np) {
  "use strict";

  /** Height of a lane, and of the bars in it, in pixels; what is looked for has its mark in the gap. */
  const HEIGHTS = {
    compact: { LANE: 14, BAR: 12, HEADING: 20, COUNTER: 30, PADDING: 1 },
    normal: { LANE: 18, BAR: 16, HEADING: 26, COUNTER: 46, PADDING: 3 },
    tall: { LANE: 28, BAR: 26, HEADING: 30, COUNTER: 84, PADDING: 5 },
  };
  const NAMES = Object.keys(HEIGHTS);
  const MOST_PINNED = 12;
  const LONGEST_FILTER = 200;

  class Arrangement {
    constructor() {
      /** Tracks by id that stay on top, in order. */
      this.pinned = [];
      /** The order in which the reader put the items of a list, by the name of the list (see `listOf`). */
      this.orders = new Map();
      this.filter = "";
      this.height = "normal";
    }

    get sizes() {
      return HEIGHTS[this.height];
    }

    /** Go on to the next height. */
    nextHeight() {
      this.height = NAMES[(NAMES.indexOf(this.height) + 1) % NAMES.length];
    }

    isPinned(track) {
      return this.pinned.includes(track);
    }

    /** Keep a track on top, or put it back. @returns {boolean} whether that was done: there is room for some only */
    togglePin(track) {
      const at = this.pinned.indexOf(track);
      if (at >= 0) this.pinned.splice(at, 1);
      else if (this.pinned.length >= MOST_PINNED) return false;
      else this.pinned.push(track);
      return true;
    }

    /** Items with an id in the order that the reader gave to their list; those that were never moved keep their place. */
    ordered(list, items) {
      const order = this.orders.get(list);
      if (!order) return items;
      const byId = new Map(items.map((item) => [item.id, item]));
      const moved = order.filter((id) => byId.has(id)).map((id) => byId.get(id));
      const ids = new Set(order);
      let next = 0;
      return items.map((item) => (ids.has(item.id) ? moved[next++] : item));
    }

    /** Put the item `id` at a place among the items of a list, given in the order in which they stand. */
    move(list, ids, id, place) {
      const others = ids.filter((other) => other !== id);
      others.splice(Math.min(Math.max(place, 0), others.length), 0, id);
      if (list === "pinned") this.pinned = others;
      else this.orders.set(list, others);
    }

    /** Whether the filter lets a text through. */
    passes(...texts) {
      const wanted = this.filter.trim().toLowerCase();
      return !wanted || texts.some((text) => text.toLowerCase().includes(wanted));
    }
  }

  /** "t12:3.5.4~p:1.0" for the orders of lists; a list is "p" with the group it is in, or "t" with its process. */
  const ORDERS = /^[pt]\d*:\d{1,9}(\.\d{1,9})*(~[pt]\d*:\d{1,9}(\.\d{1,9})*)*$/;
  const IDS = /^\d{1,9}(\.\d{1,9})*$/;
  const numbers = (text) => text.split(".").map(Number);

  np.address.register(
    ["pin", "order", "tracks", "rows"],
    (timeline, pin, order, tracks, rows) => {
      const { arrangement } = timeline.rows;
      const before = texts(arrangement).join("\n");
      arrangement.pinned = IDS.test(pin ?? "") ? [...new Set(numbers(pin))].slice(0, MOST_PINNED) : [];
      arrangement.orders = new Map(
        ORDERS.test(order ?? "")
          ? order.split("~").map((part) => part.split(":")).map(([list, ids]) => [list, [...new Set(numbers(ids))]])
          : [],
      );
      arrangement.filter = (tracks ?? "").slice(0, LONGEST_FILTER);
      arrangement.height = Object.hasOwn(HEIGHTS, rows ?? "") ? rows : "normal";
      if (texts(arrangement).join("\n") !== before) timeline.arranged();
    },
    ({ rows }) => texts(rows.arrangement).map((text) => text || null),
  );

  function texts({ pinned, orders, filter, height }) {
    const lists = [...orders].map(([list, ids]) => `${list}:${ids.join(".")}`);
    return [pinned.join("."), lists.join("~"), filter, height === "normal" ? "" : height];
  }

  np.Arrangement = Arrangement;
  np.LONGEST_FILTER = LONGEST_FILTER;
})((window.npTimeline ??= {}));
