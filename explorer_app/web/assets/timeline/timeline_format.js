/** Numbers as people read them on the canvas. What other pages show too comes from np_format.js. */
(function (np) {
  "use strict";

  const KINDS = { bytes: "size", B: "size", "bytes/s": "bandwidth", "B/s": "bandwidth", ratio: "ratio" };
  const TIME_UNITS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
  const LONG_UNITS = [[60e9, "min"], [3600e9, "h"]];
  const LONG_FROM = 300e9; // as np_format.js
  const SECOND = 1e9;

  /** A duration in nanoseconds, "–" for null. */
  const duration = (ns) => window.np.format(ns === null ? null : Math.round(ns), "duration");
  const count = (n) => window.np.format(n, "count");
  const ratio = (share) => window.np.format(share, "ratio");

  const separated = (number, digits) =>
    number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  /** A counter's value in its unit: "1.84 GB", "716 GB/s", "41.7 %". */
  function value(number, unit) {
    if (number === null || Number.isNaN(number)) return "–";
    if (unit in KINDS) return window.np.format(number, KINDS[unit]);
    return `${number.toLocaleString("en-US", { maximumSignificantDigits: 4 })} ${unit}`.trimEnd();
  }

  /** Where moments up to `largestNs`, `stepNs` apart, are shown in minutes or hours: that unit in ns. Else 1. */
  function longUnit(largestNs, stepNs) {
    return largestNs >= LONG_FROM && stepNs >= SECOND ? LONG_UNITS.findLast(([size]) => largestNs >= size)[0] : 1;
  }

  /** "1 slice", "1,234 slices". */
  const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

  /**
   * Moments for a ruler, all in the unit of the largest, with as many decimals as ticks `stepNs` apart need to differ.
   * @param {number[]} moments ns from the start of the trace, ascending
   * @param {boolean} inLongUnits in minutes or hours, not in seconds or less (see `longUnit`)
   */
  function moments(moments, stepNs, inLongUnits = false) {
    const largest = Math.abs(moments.at(-1) ?? 0);
    const units = inLongUnits ? LONG_UNITS : TIME_UNITS;
    const [factor, unit] = units.findLast(([size]) => largest >= size) ?? units[0];
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(stepNs / factor) - 1e-9)));
    return moments.map((ns) => `${separated(ns / factor, decimals)} ${unit}`);
  }

  np.format = { count, counted, duration, longUnit, moments, ratio, value };
})((window.npTimeline ??= {}));
