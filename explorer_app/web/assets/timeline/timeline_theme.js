/** The colours and fonts of the canvas, read from the CSS custom properties of the page's theme. */
(function (np) {
  "use strict";

  const SCHEME_ATTRIBUTE = "data-mantine-color-scheme";

  // Slices of one category differ in shade by their name, so that neighbours can be told apart. Only towards white:
  // the dark labels stay readable.
  const SHADES = [0, 0.16, 0.32];

  /** A "#rrggbb" colour mixed with white; any other notation comes back as it is. */
  function towardsWhite(color, share) {
    if (!/^#[0-9a-f]{6}$/i.test(color)) return color;
    const channels = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
    return `rgb(${channels.map((channel) => Math.round(channel + (255 - channel) * share)).join(",")})`;
  }

  /** The colours "name-0", "name-1" and so on, as many as there are. */
  function numbered(name, color) {
    const found = [];
    for (let value = color(`${name}-0`); value; value = color(`${name}-${found.length}`)) found.push(value);
    return found;
  }

  /**
   * @param {string[]} categories names of the categories by id
   * @returns the colours that are in force now
   */
  function readTheme(categories) {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--np-${name}`).trim();
    const sans = color("font") || "system-ui, sans-serif";
    return {
      panel: color("panel"),
      bg: color("bg"),
      line: color("line"),
      grid: color("grid"),
      text: color("text"),
      dim: color("dim"),
      accent: color("accent"),
      onCategory: color("on-cat"),
      warn: color("warn"),
      error: color("error"),
      smallDma: color("cat-dma"),
      compile: color("cat-compile"),
      found: color("found"),
      note: color("note"),
      /** The shades of each category; a name has the shade of its id. */
      shades: categories.map((name) => SHADES.map((share) => towardsWhite(color(`cat-${name}`), share))),
      /** For names and modules, by number; for shares, from little to much; for what has none of these. */
      hues: numbered("hue", color),
      shares: numbered("share", color),
      noColor: color("cat-other"),
      font: `11px ${sans}`,
      bold: `600 11px ${sans}`,
      heading: `600 12px ${sans}`,
    };
  }

  /** Call `changed` whenever the colour scheme changes. @returns a function that ends it */
  function watchTheme(changed) {
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: [SCHEME_ATTRIBUTE] });
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", changed);
    return () => {
      observer.disconnect();
      system.removeEventListener("change", changed);
    };
  }

  np.readTheme = readTheme;
  np.watchTheme = watchTheme;
})((window.npTimeline ??= {}));
