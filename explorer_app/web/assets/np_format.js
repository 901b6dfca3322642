// Numbers for people, as explorer_app/format.py writes them; tests/web/test_format_js.py holds the two together.
(function () {
  'use strict';
  const UNKNOWN = '–';
  const MINUTE = 60e9;
  const TIME = [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];
  const LONG_TIME = [[MINUTE, 'min'], [60 * MINUTE, 'h']];
  const decimal = (unit) => ['', 'k', 'M', 'G', 'T', 'P', 'E'].map((prefix, power) => [1000 ** power, prefix + unit]);

  const isKnown = (value) => typeof value === 'number' && Number.isFinite(value) && value !== -1;
  const separated = (value, digits) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

  function threeDigits(value) {
    if (value === 0) return '0';
    const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toExponential(2)))));
    return value.toFixed(Math.max(0, 2 - magnitude));
  }

  function scaled(value, units) {
    let [factor, unit] = units[0];
    for (const [larger, name] of units.slice(1)) {
      if (Math.abs(value) < larger * 0.9995) break;
      [factor, unit] = [larger, name];
    }
    const shown = value / factor;
    if (factor === 1 && Number.isInteger(value)) return `${separated(value, 0)} ${unit}`;
    return `${Math.abs(shown) >= 999.5 ? separated(shown, 0) : threeDigits(shown)} ${unit}`;
  }

  const formats = {
    duration: (ns) => scaled(ns, Math.abs(ns) >= 5 * MINUTE ? LONG_TIME : TIME),
    size: (bytes) => scaled(bytes, decimal('B')),
    bandwidth: (rate) => scaled(rate, decimal('B/s')),
    count: (n) => (n > 0 && n < 0.5 ? '< 1' : separated(Math.round(n), 0)),
    ratio(value) {
      if (value !== 0 && Math.abs(value) < 1e-5) return value > 0 ? '< 0.001 %' : '> -0.001 %';
      const percent = value * 100;
      return `${Math.abs(percent) < 999.5 ? threeDigits(percent) : separated(percent, 0)} %`;
    },
  };

  // What a filter is typed in: "1.5 ms", "2 MB", "5 %", or a bare number: nanoseconds, bytes, per cent.
  const PREFIXES = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  const TIMES = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, min: MINUTE, h: 60 * MINUTE };

  function parse(text, kind) {
    const found = /^\s*([\d.,]+)\s*(\S*)\s*$/.exec(text || '');
    if (!found) return null;
    const number = Number(found[1].replaceAll(',', ''));
    const unit = found[2];
    if (unit === '%' || (unit === '' && kind === 'ratio')) return number / 100;
    if (unit === '') return number;
    if (unit in TIMES) return number * TIMES[unit];
    const size = /^([kMGTPE]?)(B|B\/s)?$/.exec(unit);
    return size ? number * (PREFIXES[size[1]] || 1) : null;
  }

  window.np = Object.assign(window.np || {}, {
    parse,
    format: (value, kind) => ((kind === 'ratio' ? Number.isFinite(value) : isKnown(value)) ? formats[kind](value) : UNKNOWN),
    exact(value, unit) {
      if (!isKnown(value)) return UNKNOWN;
      // a ratio of two measured times is known to no more digits than these
      const digits = Math.abs(value) < 1 ? { maximumSignificantDigits: 6 } : { maximumFractionDigits: 6 };
      const text = value.toLocaleString('en-US', digits);
      return unit ? `${text} ${unit}` : text;
    },
  });
})();
