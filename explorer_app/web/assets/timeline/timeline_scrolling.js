/** How far down the tracks are scrolled, in the address: always where a slice is selected, which may be out of sight. */
(function (np) {
  "use strict";

  np.address.register(
    "y",
    (timeline, text) => {
      const wanted = /^\d{1,7}$/.test(text ?? "") ? Number(text) : 0;
      timeline.scrollTo(wanted);
      // the sketch of a large trace may be less high than the whole
      const there = timeline.scroll;
      if (there < wanted) timeline.whole.then(() => timeline.scroll === there && timeline.scrollTo(wanted));
    },
    ({ scroll, selection }) => (scroll || selection ? String(scroll) : null),
  );
})((window.npTimeline ??= {}));
