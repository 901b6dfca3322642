/** Numbers as people read them on the canvas. What other pages show too comes from np_format.js. */
(function (np) {
  "use strict";

  const KINDS = { bytes: "size", B: "size", "bytes/s": "bandwidth", "B/s": "bandwidth" };
  const TIME_UNITS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];

  /** A duration in nanoseconds, "–" for null. */
  const duration = (ns) => window.np.format(ns === null ? null : Math.round(ns), "duration");
  const count = (n) => window.np.format(n, "count");
  const ratio = (share) => window.np.format(share, "ratio");

  /** A counter's value in its unit: "1.84 GB", "716 GB/s", "41.7 %". */
  function value(number, unit) {
    if (number === null || Number.isNaN(number)) return "–";
    if (unit in KINDS) return window.np.format(number, KINDS[unit]);
    return `${number.toLocaleString("en-US", { maximumSignificantDigits: 4 })} ${unit}`.trimEnd();
  }

  /**
   * Moments for a ruler, all in the unit of the largest, with as many decimals as ticks `stepNs` apart need to differ.
   * @param {number[]} moments ns from the start of the trace, ascending
   */
  function moments(moments, stepNs) {
    const largest = Math.abs(moments.at(-1) ?? 0);
    const [factor, unit] = TIME_UNITS.findLast(([size]) => largest >= size) ?? TIME_UNITS[0];
    const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(stepNs / factor) - 1e-9)));
    return moments.map((ns) => `${(ns / factor).toFixed(decimals)} ${unit}`);
  }

  np.format = { count, duration, moments, ratio, value };
})((window.npTimeline ??= {}));
