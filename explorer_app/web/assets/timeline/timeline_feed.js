/**
 * Fetches what the canvas shows. What is there is drawn, stretched, until what fits better arrives: first the window
 * that is seen, then, when the reader rests, its surroundings.
 */
(function (np) {
  "use strict";

  const REST_MS = 150;
  const WIDEST_PX = 8192;
  const MOST_NAMES = 500;
  const MOST_NAMES_KEPT = 50_000;

  /** @typedef {{lanes: number[], ticks: number[], counters: number[]}} Needed */

  /** "0-3,7" for [0, 1, 2, 3, 7]. */
  function inRanges(numbers) {
    const parts = [];
    for (let i = 0; i < numbers.length; ) {
      let j = i;
      while (numbers[j + 1] === numbers[j] + 1) j++;
      parts.push(i === j ? `${numbers[i]}` : `${numbers[i]}-${numbers[j]}`);
      i = j + 1;
    }
    return parts.join(",");
  }

  /**
   * The function that gets a resource of an open trace, by the key of the trace. It throws an Error whose message is a
   * sentence: what happened, what to do.
   * Only the server's own plain line is repeated, never a body that anything on the way may have written.
   */
  const source = (key) => async (path, signal) => {
    let response;
    try {
      response = await fetch(`/_trace/${key}/${path}`, { signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The explorer does not answer. Start it again, then reload the page.");
    }
    if (response.ok) return response;
    const said = response.headers.get("Content-Type")?.startsWith("text/plain") ? (await response.text()).trim() : "";
    if (response.status < 500) {
      const error = new Error(`The explorer refused (${response.status}): ${said || "no reason was given"}.`);
      throw Object.assign(error, { status: response.status, said });
    }
    throw new Error(
      `The explorer failed (${response.status}): what happened is in the log of the terminal that serves it. ` +
        "Reload the page; if it fails again, report it with that log.",
    );
  };

  class Feed {
    /**
     * @param {(path: string, signal: AbortSignal) => Promise<Response>} get gets a resource of the trace
     * @param {"sketch" | "whole"} stage of the trace
     * @param {() => void} arrived called when there is something new to draw
     * @param {(error: Error) => void} failed
     */
    constructor(get, stage, arrived, failed) {
      this.get = get;
      this.arrived = arrived;
      this.failed = failed;
      this.blocks = null;
      this.ticks = null;
      this.envelopes = null;
      /** What the data at hand covers, and what is under way: `{start, end, level, needed}` or null. */
      this.have = null;
      this.coming = null;
      this.abort = null;
      this.restTimer = 0;
      /** Which stage of the trace the lanes are those of, and whether the next one is being fetched. */
      this.stage = stage;
      this.renewing = false;
      /** Columns that are wanted of each block of the whole trace beyond the usual: `{find?: query, color?: by what}`. */
      this.asked = {};
    }

    stop() {
      clearTimeout(this.restTimer);
      this.abort?.abort();
      this.abort = this.coming = null;
    }

    /**
     * Say what is being looked at; fetches only what is not at hand.
     * @param {{start: number, end: number, width: number, spanNs: number}} seen
     * @param {Needed} needed what is seen @param {() => Needed} around what lies within half a screen of it
     */
    look(seen, needed, around) {
      if (this.renewing) return;
      const wanted = this.wanted(seen, needed);
      clearTimeout(this.restTimer);
      if (this.covers(this.have, wanted)) this.restTimer = setTimeout(() => this.lookAround(wanted, seen, around()), REST_MS);
      else if (!this.covers(this.coming, wanted)) this.load(wanted);
    }

    wanted({ start, end, width }, needed, stage = this.stage) {
      const level = Math.max(0, Math.round(Math.log2((end - start) / width)));
      return { start, end, level, needed, asked: stage === "whole" ? this.asked : {} };
    }

    /**
     * Go on with another stage of the trace. What is seen of it is fetched before `change` is called, which puts its
     * lanes in place: nothing is blank in between.
     */
    async renew(stage, seen, needed, change) {
      this.stop();
      const abort = (this.abort = new AbortController());
      this.renewing = true;
      const have = this.wanted(seen, needed, stage);
      let found = { blocks: null, ticks: null, envelopes: null, have: null };
      try {
        found = { ...(await this.fetch(have, stage, abort.signal)), have };
      } catch (error) {
        if (error.name === "AbortError") return;
        this.failed(error);
      }
      this.renewing = false;
      Object.assign(this, found, { stage });
      change();
      this.arrived();
    }

    /** Fetch a window twice as long as what is seen, on half a screen more of lanes above and below. */
    lookAround(wanted, seen, needed) {
      const length = wanted.end - wanted.start;
      const most = Math.min(length / 2, (2 ** wanted.level * WIDEST_PX - length) / 2);
      const wider = (margin) => ({
        start: Math.min(Math.max(wanted.start - margin, 0), wanted.start),
        end: Math.max(Math.min(wanted.end + margin, seen.spanNs), wanted.end),
        level: wanted.level,
        needed,
        asked: wanted.asked,
      });
      // half the margin is enough: not every small movement is worth a request
      if (!this.covers(this.have, wider(most / 2)) && !this.covers(this.coming, wider(most / 2))) this.load(wider(most));
    }

    /** Whether a window with its lanes holds everything that another asks for. */
    covers(held, wanted) {
      if (!held || held.level !== wanted.level || held.start > wanted.start || held.end < wanted.end) return false;
      if (held.asked.find !== wanted.asked.find || held.asked.color !== wanted.asked.color) return false;
      const holds = (kind) => {
        const there = new Set(held.needed[kind]);
        return wanted.needed[kind].every((id) => there.has(id));
      };
      return holds("lanes") && holds("ticks") && holds("counters");
    }

    async load(wanted) {
      this.abort?.abort();
      const abort = (this.abort = new AbortController());
      this.coming = wanted;
      try {
        const found = await this.fetch(wanted, this.stage, abort.signal);
        if (this.abort !== abort) return;
        Object.assign(this, found, { have: wanted, coming: null });
        this.arrived();
      } catch (error) {
        if (this.abort !== abort || error.name === "AbortError") return;
        this.coming = null;
        this.failed(error);
      }
    }

    /** What a window holds. @returns {Promise<{blocks: object, ticks: object, envelopes: object}>} null where not needed */
    async fetch({ start: from, end: to, level, needed, asked }, stage, signal) {
      const start = Math.floor(from);
      const window = { start, end: Math.max(Math.ceil(to), start + 1) };
      const width = Math.min(WIDEST_PX, Math.max(1, Math.round((window.end - window.start) / 2 ** level)));
      const where = `t0=${window.start}&t1=${window.end}&w=${width}`;
      const ask = async (kind, name, ids, Decoded) => {
        if (!ids.length) return null;
        const response = await this.get(`${kind}?${where}&${name}=${inRanges(ids)}`, signal);
        return new Decoded(await response.arrayBuffer(), window, ids, asked);
      };
      const columns = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(value)}&`).join("");
      const [blocks, ticks, envelopes] = await Promise.all([
        ask("slices", `${columns}stage=${stage}&lanes`, needed.lanes, np.Blocks),
        ask("instants", "tracks", needed.ticks, np.Ticks),
        ask("counters", "tracks", needed.counters, np.Envelopes),
      ]);
      return { blocks, ticks, envelopes };
    }
  }

  /** The texts of name ids, fetched when they are first needed. */
  class Names {
    constructor(get, arrived, failed) {
      this.fetch = get;
      this.arrived = arrived;
      this.failed = failed;
      this.texts = new Map();
      this.missing = new Set();
      this.abort = new AbortController();
      this.timer = 0;
    }

    stop() {
      clearTimeout(this.timer);
      this.abort.abort();
    }

    /** The text of a name, or null while it is on its way. */
    get(id) {
      const text = this.texts.get(id);
      if (text !== undefined) return text;
      this.missing.add(id);
      this.timer ||= setTimeout(() => this.load(), 0);
      return null;
    }

    async load() {
      const ids = [...this.missing].slice(0, MOST_NAMES).sort((a, b) => a - b);
      try {
        const texts = await (await this.fetch(`names?ids=${inRanges(ids)}`, this.abort.signal)).json();
        if (this.texts.size > MOST_NAMES_KEPT) this.texts.clear();
        for (const [id, text] of Object.entries(texts)) this.texts.set(Number(id), text);
        this.arrived();
      } catch (error) {
        if (error.name !== "AbortError") this.failed(error);
      } finally {
        this.missing.clear();
        this.timer = 0;
      }
    }
  }

  np.Feed = Feed;
  np.inRanges = inRanges;
  np.Names = Names;
  np.source = source;
})((window.npTimeline ??= {}));
