/** What is folded away, in the address: the processes ("3") and tracks ("t12") that are not as they begin. */
(function (np) {
  "use strict";

  const FOLDS = /^(t?\d{1,9})(,t?\d{1,9})*$/;

  function toggled({ rows }) {
    const processes = rows.processes.filter(({ id, folded }) => rows.foldedProcesses.has(id) !== Boolean(folded));
    const tracks = [...rows.tracks.keys()].filter((id) => rows.foldedTracks.has(id) !== rows.beginFolded.has(id));
    return [...processes.map(({ id }) => `${id}`), ...tracks.map((id) => `t${id}`)];
  }

  np.address.register(
    "folds",
    (timeline, text) => {
      const { rows } = timeline;
      const given = new Set(FOLDS.test(text ?? "") ? text.split(",") : []);
      const now = toggled(timeline);
      if (now.length === given.size && now.every((id) => given.has(id))) return;
      const folded = rows.processes.filter(({ id, folded }) => Boolean(folded) !== given.has(`${id}`));
      rows.foldedProcesses.clear();
      for (const { id } of folded) rows.foldedProcesses.add(id);
      const tracks = [...rows.tracks.keys()].filter((id) => rows.beginFolded.has(id) !== given.has(`t${id}`));
      rows.foldedTracks.clear();
      for (const id of tracks) rows.foldedTracks.add(id);
      rows.layOut();
      timeline.arranging.tell();
      timeline.scrollTo(timeline.scroll);
    },
    (timeline) => toggled(timeline).join(",") || null,
  );
})((window.npTimeline ??= {}));
