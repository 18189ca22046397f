// A paged cache, cache[pages, heads, PAGE, ...]: a text's table names the pages of its slots, in order.
#pragma once

// The row of the cache that one head has for a position of the text.
template <int PAGE>
__device__ long long slot_of(const int *table, long long position, long long head, long long heads)
{ return (table[position / PAGE] * heads + head) * PAGE + position % PAGE; }
