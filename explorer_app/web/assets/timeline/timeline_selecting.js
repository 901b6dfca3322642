/** Selecting a slice, going to it, and walking from one to its neighbours: a part of the timeline (see timeline.js). */
(function (np) {
  "use strict";

  const LEAST_PX = 2;
  const CONTEXT = 20;

  Object.assign(np.Timeline.prototype, {
    selectBlock(block) {
      return this.select(this.feed.blocks.slice[block], { merged: this.feed.blocks.slices[block] });
    },

    /**
     * Select a slice by its row. `merged`: how many slices the block stood for through which it was selected. `jump`:
     * whether the browser's back button leads back.
     */
    select(slice, { merged = 1, jump = false } = {}) {
      if (slice >= this.meta.slice_count) return this.miss(slice);
      this.arriving = this.fetchSelection(slice, merged, jump);
      return this.arriving;
    },

    async fetchSelection(slice, merged, jump) {
      const turn = ++this.selecting;
      try {
        await this.whole;
        const details = await (await this.get(`slice/${slice}`, this.listening.signal)).json();
        if (turn !== this.selecting) return;
        if (jump && this.selection?.id !== slice) this.told("jump");
        this.selection = details;
        this.search.tell();
        this.say(`${details.name}, ${np.format.duration(details.dur)}, on ${details.track.name}`);
        this.told("slice", { id: slice, merged });
        this.invalidate();
      } catch (error) {
        if (error.name !== "AbortError") this.failed(error);
      }
    },

    /** Say that a slice is not there, in place of the selected one. */
    miss(slice) {
      this.selecting++;
      this.selection = null;
      this.painted.then(() => this.say(`Slice ${slice} is not in this trace: it has ${np.format.counted(this.meta.slice_count, "slice")}.`, { isError: true }));
      this.told("slice", { id: slice });
      this.invalidate();
      return Promise.resolve();
    },

    deselect() {
      this.selecting++;
      if (!this.selection) return;
      this.selection = null;
      this.search.tell();
      this.told("slice", null);
      this.invalidate();
    },

    /** Select a slice and bring it into sight: its lane, and its time, as far as each is wanted. */
    async goTo(slice, { jump = true, itsLane = true, itsTime = true } = {}) {
      await this.select(slice, { jump });
      if (this.selection?.id !== slice) return;
      if (itsLane) this.revealLane(this.selection.lane);
      if (itsTime) this.revealTime(this.selection);
    },

    revealLane(lane) {
      if (this.rows.reveal(lane)) {
        this.arranging.tell();
        this.told("state");
        this.invalidate();
      }
      const [top, first] = [this.rows.laneTop[lane], this.scroll + this.rows.pinnedHeight];
      const isOut = top < first || top + np.sizes.LANE > this.scroll + this.seen;
      if (isOut && !this.rows.isLanePinned(lane)) this.scrollTo(top - this.seen / 2);
    },

    revealTime({ start, drawn_dur: length }) {
      const { start: from, end: to } = this.view.goal ?? this.view;
      const tooSmall = length > 0 && length < ((to - from) / this.surface.plotWidth) * LEAST_PX;
      if (start + length <= from || start >= to || tooSmall) {
        const span = tooSmall ? length * CONTEXT : to - from;
        const middle = start + Math.min(length, span) / 2;
        this.view.moveTo(middle - span / 2, middle + span / 2);
      }
    },

    /** Select a neighbour of the selected slice; the slice nearest the middle where none is selected. */
    walk(where) {
      // keys may come faster than answers: each step starts from where the one before it led
      this.walking = this.walking.then(() => this.arriving).then(() => {
        const slice = this.selection;
        if (!slice) return this.selectMiddle();
        const target = where === "parent" ? slice.parents[0]?.id : slice[where];
        if (target != null) return this.goTo(target, { jump: false });
        this.say(`no ${where} slice on this track`);
      });
    },

    /** Select the slice nearest in time to the selected one on the track above (-1) or below (1) that has any. */
    walkTracks(by) {
      this.walking = this.walking.then(() => this.arriving).then(async () => {
        const slice = this.selection;
        if (!slice) return this.selectMiddle();
        const tracks = this.rows.rows.filter(({ track }) => track?.depths > 0);
        const at = tracks.findIndex(({ track }) => track.id === slice.track.id);
        const to = at < 0 ? undefined : tracks[at + by];
        if (!to) return this.say(`no track ${by < 0 ? "above" : "below"}`);
        try {
          const asked = `near?track=${to.track.id}&at=${Math.round(slice.start)}`;
          const { slice: found } = await (await this.get(asked, this.listening.signal)).json();
          await this.goTo(found, { jump: false });
        } catch (error) {
          if (error.name !== "AbortError") this.failed(error);
        }
      });
      return this.walking;
    },

    selectMiddle() {
      const { rows, surface, scroll, view, feed } = this;
      for (const lane of rows.needed(scroll, scroll + surface.height - surface.top).lanes) {
        const block = feed.blocks?.at(lane, view.center, view.length) ?? -1;
        if (block >= 0) return this.selectBlock(block);
      }
    },
  });
})((window.npTimeline ??= {}));
