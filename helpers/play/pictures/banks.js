function draw({strides, offsets, counts}, place) {
  let bytes = 4, stride = 1, offset = 0;
  const banks = $("div", {id: "banks"}), sectors = $("div", {id: "sectors"});
  const drawBanks = (taken) => {
    const words = bytes / 4, group = 32 / words;  // lanes that are served together
    const stacks = range(32).map(() => new Map());  // bank: {word: the lanes that want it}
    for (const lane of range(32)) for (const part of range(words)) {
      const word = (lane * stride + offset) * words + part;
      const wanted = stacks[word % 32], key = `${Math.floor(lane / group)}:${word}`;
      wanted.set(key, [...(wanted.get(key) ?? []), lane]);
    }
    show(banks, $("h1", {}, "Shared memory: 32 banks of 4 bytes"), $("p", {id: "wavefronts"},
      count(taken, "wavefront"), taken > words ? `, ${words} without conflicts` : ""),
    $("div", {class: "wide"}, $("div", {class: "cells row"}, ...stacks.map((wanted, bank) => $("div", {"data-bank": bank},
      $("div", {class: "soft lane"}, bank), ...[...wanted].slice(0, 8).map(([key, lanes]) => {
        const [turn, word] = key.split(":");
        const same = [...wanted.keys()].filter((k) => k.startsWith(`${turn}:`)).length;
        return $("div", {class: `cell ${same > 1 ? "bad" : "on"}`,
          title: `bank ${bank}, word ${word}: ${lanes.length > 1 ? "lanes" : "lane"} ${stretch(lanes)}`},
          lanes.length > 1 ? "*" : lanes[0]);
      }), wanted.size > 8 ? $("div", {class: "soft lane"}, `+${wanted.size - 8}`) : null)))),
    $("p", {class: "soft"}, "Each column is a bank, with its number on top; below it, the lanes that want a word of it. " + (!stride
      ? "A star: all lanes want the same word, which is read once."
      : words > 1 ? `${bytes} bytes a lane: ${group} lanes at a time, so at least ${words} wavefronts.` : "")));
  };
  const drawSectors = (taken) => {
    const used = new Map();
    for (const lane of range(32)) for (const byte of range(bytes)) {
      const at = (lane * stride + offset) * bytes + byte, sector = Math.floor(at / 32);
      used.set(sector, (used.get(sector) ?? new Set()).add(at));
    }
    const wanted = [...used.values()].reduce((sum, set) => sum + set.size, 0);
    show(sectors, $("h1", {}, "Global memory: sectors of 32 bytes"), $("p", {id: "count"},
      `${count(taken, "sector")}: ${taken * 32} bytes move for ${wanted} that are wanted, ${Math.round(100 * wanted / taken / 32)} %`),
    $("div", {class: "cells"}, ...[...used].slice(0, 64).map(([sector, set]) => $("div", {
      class: `cell ${set.size === 32 ? "good" : "write"}`, "data-sector": sector,
      title: `bytes ${32 * sector} to ${32 * sector + 31}`}, `${set.size}`))),
    $("p", {class: "soft"}, "Each cell is a sector that moves, with how many of its 32 bytes the warp wants."));
  };
  const update = () => {
    const [wavefronts, all] = counts[bytes][strides.indexOf(stride)];
    drawBanks(wavefronts);
    drawSectors(all[offsets.indexOf(offset)]);
    code.textContent = `lane accesses element lane * ${stride} + ${offset}, of ${bytes} bytes`;
  };
  const code = $("code", {id: "code"});
  place.append($("div", {class: "bar"},
    choice("bytes a lane", [4, 8, 16], 0, (value) => { bytes = value; update(); }),
    slider("stride", strides, strides.indexOf(1), (value) => { stride = value; update(); }),
    slider("offset", offsets, 0, (value) => { offset = value; update(); })),
  $("p", {}, code), banks, legend(["on", "alone in its bank"], ["bad", "conflict: one after the other"]), sectors,
  legend(["good", "all 32 bytes wanted"], ["write", "some not"]));
  update();
}
