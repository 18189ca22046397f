// A cache in pages of PAGE slots, which its texts' tables name in order: pages[page, heads, PAGE].
#pragma once

// The place of a position's slot.
template <int PAGE>
__device__ long long slot_of(const int *table, long long position, long long head, long long heads)
{ return (table[position / PAGE] * heads + head) * PAGE + position % PAGE; }
