"""An append to pages of a cache, by a table."""

import numpy as np

from helpers.exercises.for_judges import *

PAGE, WIDE = 16, 64


def launch(rng, size):
    texts, most = size
    pages = min(texts * most, 600)
    x, cache = numbers(rng, texts, WIDE), numbers(rng, pages, PAGE, WIDE, dtype=np.float16)
    table = np.full((texts, most), -1, np.int32)  # of pages that a text does not have yet
    free = iter(rng.permutation(pages))
    positions = rng.integers(0, most * PAGE, texts).astype(np.int32)
    positions[-1] = most * PAGE - 1
    after = cache.copy()
    for text, position in enumerate(positions):
        page, slot = divmod(int(position), PAGE)
        table[text, page] = next(free)
        if page:
            table[text, 0] = rng.integers(pages)  # an earlier page, which stays as it is
        with np.errstate(over="ignore"):
            after[table[text, page], slot] = x[text]
    out = Out(after, dtype=np.float16, initial=cache)
    arguments = [In(x), In(positions), In(table), np.int32(most), out]
    what = f"{several(texts, 'text')} of at most {several(most, 'page')}"
    return Launch(arguments, texts, WIDE, what=what)


def far(rng):
    pages = 4_300_000
    x = numbers(rng, 2, WIDE)
    positions, table = np.array([PAGE + 3, 5], np.int32), np.array([[7, pages - 1], [9, -1]], "i4")
    places = ((pages - 1) * PAGE + 3) * WIDE, (9 * PAGE + 5) * WIDE
    cache = Far(pages * PAGE * WIDE, "f2", {}, dict(zip(places, x.astype("f2"))))
    arguments = [In(x), In(positions), In(table), np.int32(2), cache]
    return Launch(arguments, 2, WIDE, what=f"a cache of {pages:,} pages", blocks=[range(2)])


def explain(launch, out, got):
    x, positions, table = (a.values for a in launch.arguments[:3])
    got, before = got.reshape(-1, WIDE), out.initial.reshape(-1, WIDE)
    texts, rows = np.arange(len(x)), len(before)
    page, slot = positions // PAGE, positions % PAGE
    mine = table[texts, page] * PAGE
    for places, words in (
        (positions, "The text's page is not the cache's page: look it up in the table."),
        (table[0, page] * PAGE + slot, "Each text has its own row of the table, at text · most."),
        (mine + slot + 1, "Row `position` of a text goes into slot position % PAGE, not the next."),
        (mine + slot - 1, "Row `position` of a text goes into slot position % PAGE, not the last."),
        (table[texts, page] + slot, "A page has PAGE rows: multiply the page by PAGE."),
    ):
        if ((0 <= places) & (places < rows)).all():
            made = before.copy()
            made[places] = x
            if np.array_equal(made, got, equal_nan=True):
                return words
    row = mine[0] + slot[0]
    for column in np.flatnonzero(got[row] != x[0].astype(np.float16)):
        found = np.argwhere((got == np.float16(x[0, column])) & (got != before))
        if len(found) == 1:
            at = [*divmod(int(found[0][0]), PAGE), int(found[0][1])]
            right = [*divmod(int(row), PAGE), int(column)]
            return f"x[0, {column}] lies at cache{at}: it belongs at cache{right}."
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (2, 3), (5, 4), (33, 2)),
    drawn=lambda rng: [(int(rng.integers(11, 40)), int(rng.integers(2, 9))) for _ in range(2)],
    large=((2, 33_000),),
    far=far,
    counted=(64, 4),
    budget={"st.sectors": 256},
    explain=explain,
)
