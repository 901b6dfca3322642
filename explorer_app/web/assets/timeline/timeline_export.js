/** Writes what is seen to a file: the slices of the measured range, else of the visible one, on the tracks that are open. */
(function (np) {
  "use strict";

  class Export {
    /** @param {HTMLElement} host for the button @param {object} timeline @param {string} key of the trace */
    constructor(host, timeline, key) {
      this.timeline = timeline;
      this.key = key;
      this.button = document.createElement("button");
      Object.assign(this.button, {
        type: "button", className: "np-button", textContent: "CSV",
        title: "Save the slices of the measured range, else of what is visible, on all tracks that are not folded away",
      });
      this.button.setAttribute("aria-label", "Save the visible slices as CSV");
      this.button.addEventListener("click", () => this.save());
      host.append(this.button);
    }

    get query() {
      const { range, view, rows } = this.timeline;
      const { start, end } = range ?? view;
      const from = Math.floor(start);
      const tracks = rows.rows.filter(({ kind }) => kind === "track").map(({ track }) => track.id);
      const inOrder = [...new Set(tracks)].sort((a, b) => a - b);
      return inOrder.length ? `t0=${from}&t1=${Math.max(Math.ceil(end), from + 1)}&tracks=${np.inRanges(inOrder)}` : null;
    }

    async save() {
      const { timeline, query } = this;
      if (!query) return timeline.say("All tracks are folded away: open those that you want to save.", { isError: true });
      try {
        const { rows, most } = await (await timeline.get(`csv/size?${query}`, timeline.listening.signal)).json();
        if (!rows) return timeline.say("No slice lies in this range: there is nothing to save.", { isError: true });
        const { count, counted } = np.format;
        if (rows > most) {
          const words = `${counted(rows, "slice")} lie in this range. The first ${count(most)} in order of time are saved.`;
          timeline.say(words, { isError: true });
        } else timeline.say(`${counted(rows, "slice")} saved`);
        const link = document.createElement("a");
        Object.assign(link, { href: `/_trace/${this.key}/csv?${query}`, download: "slices.csv" });
        link.click();
      } catch (error) {
        if (error.name !== "AbortError") timeline.failed(error);
      }
    }
  }

  np.Export = Export;
})((window.npTimeline ??= {}));
